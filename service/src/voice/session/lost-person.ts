import type { SessionEffect } from './events.ts'
import { addNote } from './keeping.ts'
import type { PastTurn } from './resumption.ts'
import type { Step } from './state.ts'

/** How long a person whose call moved to another process may take to take it over there: they have to ask for a new line. */
const MOVED_BACK_MS = 8_000

const TAKEN = 'A person has taken the call over.'
const GIVEN_BACK = 'The agent has the call again.'

/** Told to the agent of a call that somebody has. */
export const LISTEN =
  'A colleague of yours has taken the call over and speaks with the caller now. You will be told what they say. Say nothing until you have the call again.'

/** Who watches is told that a person has the call, or that the agent has it again. */
export function takenOver({ state }: Step, isOn: boolean): SessionEffect {
  return { type: 'note', note: { type: 'taken_over', state: state.phase, isOn } }
}

/** Writes down that a person has the call. */
export function noteTaken(step: Step): void {
  addNote(step, 'system', { text: TAKEN, isKept: true })
}

/** Writes down that the agent has it again. */
export function noteGivenBack(step: Step): void {
  addNote(step, 'system', { text: GIVEN_BACK, isKept: true })
}

/** Whether a person had the call by the last word of its record on that. */
export function hadPerson(turns: readonly PastTurn[]): boolean {
  return turns.findLast(isAboutPerson)?.text === TAKEN
}

/** Whether a turn is a note of ours on who has the call. */
export function isAboutPerson({ role, text }: PastTurn): boolean {
  return role === 'system' && (text === TAKEN || text === GIVEN_BACK)
}

/** The process that had the call is gone, and a person with it: the agent does not speak before they may be there again. */
export function awaitPerson(step: Step): void {
  step.set({ takeover: { phase: 'lost' } })
  step.do({ type: 'arm', timer: 'person', ms: MOVED_BACK_MS }, takenOver(step, true))
  step.command({ type: 'system_message', text: LISTEN })
}
