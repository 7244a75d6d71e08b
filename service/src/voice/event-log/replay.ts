import type { EndReason, SessionEffect } from '../session/events.ts'
import { reduce } from '../session/reduce.ts'
import { newSession, type SessionState } from '../session/state.ts'
import type { EventLog, LoggedStep } from './lines.ts'
import { FAILED, sketchOf } from './sketch.ts'

/** Where a run differs from the one that was logged: at the `index`th event, what followed then and now. */
export type Difference = { index: number; step: LoggedStep; now: string }

/**
 * What came of a run: how many events were the same, the first difference, the state behind the last, and by what the session has
 * ended, be it that others have its call; null while it has not.
 */
export type Replay = { steps: number; difference: Difference | null; state: SessionState; endedBy: EndReason | null }

/**
 * Runs a session again from its log, through the reducer as it is now, and stops where other effects follow than then. They
 * are all that a session does: what is kept of the conversation and how it ends are among them.
 */
export function replay({ head, steps }: EventLog): Replay {
  let state = newSession(head.plan, head.startUs / 1_000, head)
  let endedBy: EndReason | null = null
  for (const [index, step] of steps.entries()) {
    const [next, effects] = reduced(state, step)
    const now = effects === null ? FAILED : sketchOf(effects)
    if (now !== step.sketch) return { steps: index, difference: { index, step, now }, state: next, endedBy }
    state = next
    endedBy = effects?.find((effect) => effect.type === 'finish')?.reason ?? endedBy
  }
  return { steps: steps.length, difference: null, state, endedBy }
}

function reduced(state: SessionState, { event, atUs }: LoggedStep): [SessionState, SessionEffect[] | null] {
  try {
    return reduce(state, event, atUs / 1_000)
  } catch {
    return [state, null]
  }
}
