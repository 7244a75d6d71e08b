import { awaitSounds } from './awaited-sounds.ts'
import type { StoppedPart } from './caller-speech.ts'
import type { SessionState, Step } from './state.ts'

/** The agent does not go on with what it was stopped in. Should it be about to put the call through, that waits for what stopped it. */
export function dropStopped(step: Step): void {
  const { stopped } = step.state
  if (stopped === null) return
  step.set({ stopped: null })
  step.do({ type: 'disarm', timer: 'resume' }, { type: 'drop_aside' })
  awaitSounds(step, stopped.itemIds)
}

/** The same, unless it is going on already. */
export function dropIfSilent(step: Step): void {
  if (step.state.stopped?.phase === 'silent') dropStopped(step)
}

/** Whoever goes on is heard out, and nothing follows that: neither what was not made of it, nor words that may yet come. */
export function hearOutStopped(step: Step): void {
  const { stopped } = step.state
  if (stopped?.phase !== 'on') return dropStopped(step)
  step.set({ stopped: { ...stopped, itemIds: [], earlierIds: [], rest: null } })
}

/** What had become of an utterance before the agent went on with it; undefined for one that it says for the first time. */
export function goneOnWith({ stopped }: SessionState, itemId: string): StoppedPart | undefined {
  return stopped?.phase === 'on' ? stopped.parts.find((part) => part.itemId === itemId) : undefined
}

/** What was being made is done otherwise: it is not asked for again. */
export function forgetRest(step: Step): void {
  const { stopped } = step.state
  if (stopped) step.set({ stopped: { ...stopped, rest: null } })
}
