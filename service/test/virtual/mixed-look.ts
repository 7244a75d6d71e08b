import { isCallerWaiting } from '../../src/voice/session/owing.ts'
import type { World } from './world.ts'

/** How often a call is looked at while it runs. */
export const LOOK_MS = 200

/**
 * What a call is like at an instant. `isTheirs`: the agent and the caller have it for themselves · `isOwed`: and the caller waits for words ·
 * `hold`: the transfer in which they hear music · `person`: which takeover it is in · `sent`: how much went to its stream.
 * `timeUp`: whose time was up by then, as long as the call could go on; undefined where it could not.
 * `isSpent`: whether its money was, or nearly. `changes`: how often it has changed hands, or been muted, or something was noted of it, by then.
 */
export type Look = {
  atMs: number
  isTheirs: boolean
  isOwed: boolean
  hold: string | null
  person: number | null
  sent: number
  timeUp: 'day' | 'call' | null | undefined
  changes: number
  isSpent: boolean
}

/** Whether the agent and the caller have the call for themselves all the while, and it is not to end. */
export function areTheirs(looks: readonly Look[], { fromMs, untilMs }: { fromMs: number; untilMs: number }): boolean {
  const meanwhile = looks.filter(({ atMs }) => fromMs < atMs && atMs <= untilMs)
  const isLookedAt = (looks.at(-1)?.atMs ?? 0) >= untilMs
  return isLookedAt && meanwhile.every(({ isTheirs, timeUp, isSpent }) => isTheirs && timeUp === null && !isSpent)
}

const CHANGES: readonly string[] = ['state', 'taken_over', 'muted']

export function lookAt({ session, clock, carrier, notes }: World): Look {
  const { state } = session
  const { phase, isMuted, takeover, transfer, speech, digits, ending, takeovers, party } = state
  // A mailbox that plays its greeting, and an assistant that asks the person behind it, are left to it.
  const isWaitedFor = party?.phase === 'beep' || party?.phase === 'screening'
  const isTheirs = phase === 'talking' && !isMuted && !takeover && !transfer && !ending && !isWaitedFor
  return {
    ...{ atMs: clock.monotonicMs(), isTheirs },
    isOwed: isTheirs && !speech && digits === '' && isCallerWaiting(state),
    hold: transfer?.phase === 'holding' ? transfer.id : null,
    person: takeover ? takeovers : null,
    sent: carrier.sent.length,
    isSpent: state.budget !== 'open',
    timeUp: ending || phase === 'ended' ? undefined : state.timeUp,
    changes: notes.filter(({ type }) => CHANGES.includes(type)).length + state.transcript.notes,
  }
}
