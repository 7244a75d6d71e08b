import { StatusBadge, type Tone } from '../../components/status-badge.tsx'
import { phoneText, words } from '../../components/text.ts'
import { hasEnded, type LiveCall } from './live-queries.ts'

const TONES: Record<string, Tone> = {
  talking: 'good',
  waiting: 'wait',
  detached: 'bad',
  draining: 'quiet',
  ended: 'quiet',
}
const NAMES: Record<string, string> = { detached: 'Line lost', draining: 'Ending' }

/** How a live call is, and what was done to it. Once it is over nobody speaks in it, nor is silent. */
export function LiveState({
  call,
}: {
  call: Pick<LiveCall, 'state' | 'muted' | 'taken_over' | 'taken_over_by' | 'escalated'>
}) {
  const { state, muted, taken_over: isTakenOver, taken_over_by: whom, escalated } = call
  const goesOn = !hasEnded(call)
  return (
    <>
      <StatusBadge tone={TONES[state] ?? 'busy'}>{NAMES[state] ?? words(state)}</StatusBadge>
      {goesOn && isTakenOver && (
        <>
          <StatusBadge tone="busy">A person speaks</StatusBadge>
          {whom !== undefined && <bdi>{whom}</bdi>}
        </>
      )}
      {goesOn && muted && <StatusBadge tone="wait">Agent muted</StatusBadge>}
      {escalated && <StatusBadge tone="bad">Escalated</StatusBadge>}
    </>
  )
}

/** Who is on the line. */
export function whoIn({ call_type, customer_phone }: Pick<LiveCall, 'call_type' | 'customer_phone'>): string {
  return call_type === 'browser' ? 'Browser' : phoneText(customer_phone)
}
