import { Link } from '@tanstack/react-router'
import { useMay } from '../api/session.ts'

/** The nearest way to a first call, and the words behind it; nothing for whoever may not talk from the browser. */
export function TalkLink({ tenantId, after }: { tenantId: string; after: string }) {
  const mayTalk = useMay('admin')
  if (!mayTalk) return null
  return (
    <>
      <Link to="/t/$tenantId/talk" params={{ tenantId }}>
        talk to an agent from this browser
      </Link>
      {after}
    </>
  )
}
