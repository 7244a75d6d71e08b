import { StatusBadge, type Tone } from '../../components/status-badge.tsx'
import { words } from '../../components/text.ts'
import type { Version } from './agent-queries.ts'

const TONES: Record<Version['status'], Tone> = { draft: 'wait', published: 'good', superseded: 'quiet' }

/** Whether calls talk to a version. */
export function VersionStatus({ status }: Pick<Version, 'status'>) {
  return <StatusBadge tone={TONES[status]}>{words(status)}</StatusBadge>
}
