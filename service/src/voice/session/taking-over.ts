import { assertNever } from '../../kernel/errors.ts'
import { comeBack, dropWaiting } from './coming-back.ts'
import type { SessionEvent } from './events.ts'
import { silence } from './interrupting.ts'
import { addNote } from './keeping.ts'
import { LISTEN, noteGivenBack, noteTaken, takenOver } from './lost-person.ts'
import { ownId } from './own-audio.ts'
import type { Step } from './state.ts'

/** How long a person whose line was lost may take to come back before the agent does. */
const COME_BACK_MS = 2_000
/** How long the agent waits for what a person said last to be written down. */
const LAST_WORDS_MS = 1_500

const GO_ON =
  'You have the call again. What your colleague and the caller said to each other is a part of the conversation. Say in a few words that you are back, and go on from there, without asking for anything that was said.'
const SORRY =
  'The line of your colleague was cut off, so you have the call again. What they and the caller said to each other is a part of the conversation. Say in a few words that you are sorry for that, and go on from there.'

type OnPerson = Extract<
  SessionEvent,
  { type: 'take_over' | 'release' | 'person_lost' | 'person_said' | 'person_written' }
>

/** Somebody takes the call over from the agent, speaks in it, or gives it back. */
export function onPerson(step: Step, event: OnPerson): void {
  switch (event.type) {
    case 'take_over':
      return takeOver(step)
    case 'release':
      return release(step)
    case 'person_lost':
      return personLost(step)
    case 'person_said':
      return personSaid(step, event)
    case 'person_written':
      return personWritten(step)
    default:
      assertNever(event)
  }
}

/**
 * The caller hears a person from now on. The agent is cut short as by an interruption, asked for nothing until it has the call
 * again, and goes on hearing the caller. Nobody takes over a call that another person has, that is ending, that nobody hears, or that is being put through.
 */
function takeOver(step: Step): void {
  const { phase, ending, takeover, takeovers, transfer } = step.state
  if (ending || transfer || phase === 'detached' || takeover?.phase === 'on') return
  if (takeover === null) silence(step)
  const count = takeovers + 1
  step.set({ takeover: { phase: 'on' }, takeovers: count, isPersonUnwritten: true, stall: null, owedSinceMs: null })
  dropWaiting(step)
  step.do({ type: 'disarm', timer: 'person' }, { type: 'connect_person', id: ownId('person', count) })
  if (takeover !== null) return
  begin(step)
  noteTaken(step)
  step.do({ type: 'disarm', timer: 'filler' }, takenOver(step, true))
  step.command({ type: 'system_message', text: LISTEN })
}

/** A person who is there before the greeting is who the caller hears first: the agent does not greet after them. */
function begin(step: Step): void {
  if (step.state.phase !== 'waiting') return
  step.set({ phase: 'talking', greetingAtMs: step.nowMs })
  step.do({ type: 'note', note: { type: 'state', state: 'talking' } })
}

/** The agent comes back as soon as it is known what the person said last. */
function release(step: Step): void {
  const { takeover } = step.state
  if (takeover?.phase === 'lost') return giveBack(step, GO_ON)
  if (takeover?.phase === 'on') leave(step, 'leaving', LAST_WORDS_MS)
}

function personLost(step: Step): void {
  if (step.state.takeover?.phase === 'on') leave(step, 'lost', COME_BACK_MS)
}

function leave(step: Step, phase: 'lost' | 'leaving', ms: number): void {
  step.set({ takeover: { phase } })
  step.do({ type: 'silence_person' }, { type: 'arm', timer: 'person', ms })
}

/** All is written down that a person said until they were silenced: who was waited for so comes back. */
function personWritten(step: Step): void {
  step.set({ isPersonUnwritten: false })
  if (step.state.takeover?.phase === 'leaving') giveBack(step, GO_ON)
}

/** The wait for a person, or for their last words, is over. */
export function personTimer(step: Step): void {
  const { takeover } = step.state
  if (takeover !== null) giveBack(step, takeover.phase === 'lost' ? SORRY : GO_ON)
}

/** The agent has the call again. */
function giveBack(step: Step, instructions: string): void {
  step.set({ takeover: null })
  step.do({ type: 'disarm', timer: 'person' }, takenOver(step, false))
  noteGivenBack(step)
  comeBack(step, instructions)
}

/** What a person said is a turn of the record, and the model is told it: it has only heard the caller. */
function personSaid(step: Step, { text, sinceMs, untilMs }: Extract<OnPerson, { type: 'person_said' }>): void {
  const words = text.trim()
  if (words === '') return
  const startMs = Math.max(0, Math.round(sinceMs - step.state.startedAtMs))
  // What has no length is a whisper.
  const endMs = untilMs === undefined ? step.atMs : Math.max(startMs + 1, Math.round(untilMs - step.state.startedAtMs))
  addNote(step, 'supervisor', { text: words, isKept: true, startMs, endMs })
  step.command({ type: 'system_message', text: `Your colleague said to the caller: ${words}` })
}

/** A person who has the call keeps it no longer. */
export function giveWay(step: Step): void {
  const { takeover, detached } = step.state
  if (takeover === null) return
  const isMoving = detached?.isHandedOver === true
  step.set({ takeover: null })
  step.do({ type: 'disarm', timer: 'person' }, { type: 'dismiss_person', isMoving }, takenOver(step, false))
}

/** Looked at after each event: nobody has a call that is ending, or that another node is to have. */
export function dismissIfOver(step: Step): void {
  const { ending, phase, detached } = step.state
  if (ending || phase === 'ended' || detached?.isHandedOver) giveWay(step)
}
