import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { useTenant } from '../../api/tenants.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { FailureState } from '../../components/failure-state.tsx'
import { Page } from '../../components/page.tsx'
import { useStillRows } from '../../components/still-rows.ts'
import { TalkLink } from '../../components/talk-link.tsx'
import { LiveCard } from './live-card.tsx'
import styles from './live-page.module.css'
import { type LiveCall, liveCallsQuery } from './live-queries.ts'

/** The calls that go on now, all at a glance. */
export function LivePage() {
  const tenantId = useTenant()
  const { data: calls, error, refetch } = useQuery(liveCallsQuery(tenantId))
  return (
    <Page title="Live calls" description="What is being said now. Open a call to read along and to step in.">
      {error && <FailureState error={error} onRetry={() => void refetch()} />}
      {calls?.length === 0 && !error && (
        <EmptyState title="No call is going on">
          A call stands here as soon as somebody rings. You can be the first:{' '}
          <TalkLink tenantId={tenantId} after=", or " />
          ring a number that is routed to an agent. In a rehearsal, <span className="mono">npm run call</span> in
          another terminal rings the demo number.
        </EmptyState>
      )}
      {calls === undefined && !error && <Skeleton height={150} radius="md" aria-busy="true" />}
      {calls && calls.length > 0 && <Wall tenantId={tenantId} calls={calls} />}
      {/* There before it says something: whoever waits for a call is told when one comes. */}
      <output className={styles.count}>{calls && !error && <Count calls={calls.length} />}</output>
    </Page>
  )
}

function Wall({ tenantId, calls }: { tenantId: string; calls: LiveCall[] }) {
  const wall = useRef<HTMLUListElement>(null)
  const shown = useStillRows<LiveCall, LiveCall[]>({ rows: calls, of: tenantId }, keyOf, wall)
  const goOn = new Set(calls.map(keyOf))
  return (
    <ul ref={wall} className={styles.wall} aria-label="Calls that go on">
      {shown.map((call) => (
        <LiveCard key={keyOf(call)} tenantId={tenantId} call={call} isOver={!goOn.has(keyOf(call))} />
      ))}
    </ul>
  )
}

function Count({ calls }: { calls: number }) {
  if (calls === 0) return <span className="unseen">No calls</span>
  return calls === 1 ? 'One call' : `${calls} calls`
}

function keyOf({ stream_sid: streamSid }: LiveCall): string {
  return streamSid
}
