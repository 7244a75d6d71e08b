import type { SessionEvent } from '../../src/voice/session/events.ts'
import type { Sent } from './carrier.ts'
import { BACK_MS, type Cut } from './cut.ts'
import type { CutRun } from './cut-run.ts'
import { GOLDEN_SCRIPT } from './golden-call.ts'
import { SWAP_WITHIN_MS } from './wire.ts'
import type { World } from './world.ts'

/** How far what a turn says was heard may be from what was. */
const HEARD_WITHIN_MS = 50
/** After its model was lost the agent speaks again within this, when it owes anything. */
const SPEAKS_WITHIN_MS = 2_500
/** A caller who waits is spoken to after 10 s. */
const MAX_SILENCE_MS = 11_500
/** A model that is asked then, in vain, is replaced after 12 s more. */
const MAX_SILENCE_IN_HOLE_MS = 24_000

/** What is wrong with a run; empty when nothing is. */
export function faultsOf(run: CutRun): string[] {
  const { world, cut } = run
  return [
    ...faultsOfEnd(world),
    ...faultsOfAudio(world),
    ...faultsOfRecord(world, cut),
    ...(cut.startsWith('model') ? faultsOfRecovery(run) : []),
    ...(cut === 'carrier-blink' || cut === 'carrier-back' ? faultsOfReturnedStream(run) : faultsOfLostStream(run)),
    ...faultsAfterEnd(world),
  ]
}

function unless(isRight: boolean, fault: string): string[] {
  return isRight ? [] : [fault]
}

/** One end, and nothing left of the session. */
export function faultsOfEnd(world: World): string[] {
  const { ends, hangUps, apologies, errors, sessionClock, model, carriers } = world
  return [
    ...unless(ends.length === 1, `ended ${ends.length} times`),
    ...unless(hangUps + apologies <= 1, `hung up ${hangUps} times, apologised ${apologies} times`),
    ...errors.map((error) => `failed: ${error}`),
    ...unless(sessionClock.pendingTimers === 0, `${sessionClock.pendingTimers} timers left`),
    ...unless(model.openSessions === 0, `${model.openSessions} model sessions left`),
    ...carriers.flatMap(({ closes }) => unless(closes === 1, `a carrier's socket was closed ${closes} times`)),
  ]
}

/**
 * Nothing of an answer that was silenced follows the `clear` or the cancel that silenced it, unless the agent goes on with it.
 *
 * @param isMeant whether this was to be heard all the same.
 */
export function faultsOfAudio(
  { carriers, model, resumedAtMs }: World,
  isMeant: (sent: { answer: number; atMs: number }) => boolean = () => false,
): string[] {
  const sent = carriers.flatMap((carrier) => carrier.sent)
  const late = sent.filter((one) => {
    if (one.type !== 'media' || resumedAtMs.includes(one.atMs)) return false
    const cancelledAtMs = model.answers[one.answer]?.cancelledAtMs ?? Number.POSITIVE_INFINITY
    return one.atMs > cancelledAtMs && !isMeant(one)
  })
  return [
    ...unless(late.length === 0, 'audio of a cancelled answer was sent'),
    ...unless(!speaksAfterClear(sent, resumedAtMs), 'audio of a silenced answer was sent after the clear'),
    ...unless(
      areApart(carriers.map(answersOn)),
      'audio of an answer that was cut off with its stream was sent on the next',
    ),
  ]
}

function answersOn({ sent }: { sent: readonly Sent[] }): Set<number> {
  return new Set(sent.flatMap((one) => (one.type === 'media' ? [one.answer] : [])))
}

function areApart(sets: readonly Set<number>[]): boolean {
  return sets.every((set, index) => sets.slice(index + 1).every((other) => set.isDisjointFrom(other)))
}

function speaksAfterClear(sent: readonly Sent[], resumedAtMs: readonly number[]): boolean {
  const before = new Set<number>()
  const silenced = new Set<number>()
  return sent.some((one) => {
    if (one.type === 'clear') for (const answer of before) silenced.add(answer)
    if (one.type !== 'media') return false
    before.add(one.answer)
    return silenced.has(one.answer) && !resumedAtMs.includes(one.atMs)
  })
}

/** The record is whole, in order, and says of each utterance what was heard of it. */
function faultsOfRecord(world: World, cut: Cut): string[] {
  const { transcript, toolRuns } = world
  const bookings = toolRuns.filter(({ name }) => name === 'book_table').length
  const isHeardKnown = !cut.startsWith('carrier') && cut !== 'both'
  return [
    ...unless(
      transcript.every(({ seq }, index) => seq === index + 1),
      `turns are numbered ${transcript.map(({ seq }) => seq)}`,
    ),
    ...unless(
      transcript.every(({ heardMs, sentMs }) => (heardMs ?? 0) <= (sentMs ?? 0)),
      'more was heard than sent',
    ),
    ...unless(new Set(toolRuns.map(({ callId }) => callId)).size === toolRuns.length, 'a tool call was run twice'),
    ...unless(bookings <= 1, `booked ${bookings} times`),
    ...unless(isInScriptOrder(world), 'the caller’s turns are out of order'),
    // An echo that was held back for a swap is as late as play-out that stood still would make it.
    ...(isHeardKnown ? faultsOfHeard(world, cut === 'swap' ? SWAP_WITHIN_MS : HEARD_WITHIN_MS) : []),
  ]
}

function isInScriptOrder({ transcript }: World): boolean {
  const script = GOLDEN_SCRIPT.flatMap((act) => ('say' in act ? [act.say] : []))
  // What a lost session had heard, and not written down, is a turn without words.
  const said = transcript.filter(({ role, text }) => role === 'caller' && text !== '')
  const places = said.map(({ text }) => script.indexOf(text))
  return places.every((place, index) => place >= (places[index - 1] ?? 0))
}

/** What was heard is known as soon as one echo has told how long the way is. */
export function faultsOfHeard(world: World, withinMs = HEARD_WITHIN_MS): string[] {
  const { transcript, model, session } = world
  if (!Number.isFinite(session.state.playback.roundTripMs)) return []
  return transcript.flatMap(({ itemId, heardMs }) => {
    const answered = model.answers.find((one) => one.itemId === itemId)
    if (!answered || heardMs === null) return []
    const offMs = Math.round(heardMs - world.heardMs(answered.answer))
    // One that went on after a noise is heard in pieces, and of each that is cut it is known as well as that.
    const cuts = world.carriers.reduce((sum, carrier) => sum + carrier.cutsOf(answered.answer), 0)
    return unless(Math.abs(offMs) <= withinMs * Math.max(1, cuts), `${itemId} is ${offMs} ms off`)
  })
}

/** The call goes on with another model session, to its own end. */
function faultsOfRecovery(run: CutRun): string[] {
  const { world, cut } = run
  const [reason] = world.ends
  const hasEnded = reason === 'agent_hangup' || reason === 'caller_hangup' || reason === 'idle_timeout'
  const silenceMs = longestSilenceMs(world)
  if (cut === 'model-fatal') return faultsOfTakeOver(world)
  if (cut === 'model-hole') {
    return [
      ...unless(hasEnded || reason === 'model_lost', `ended by ${reason}`),
      ...unless(silenceMs <= MAX_SILENCE_IN_HOLE_MS, `nobody spoke for ${silenceMs} ms`),
    ]
  }
  return [
    ...unless(hasEnded, `ended by ${reason}`),
    ...unless(silenceMs <= MAX_SILENCE_MS, `nobody spoke for ${silenceMs} ms`),
    ...unless(
      world.toolRuns.some(({ name }) => name === 'book_table'),
      'never booked',
    ),
    ...unless(
      world.transcript.some(({ text }) => text.includes('5550123')),
      'the number was not told',
    ),
    ...unless(world.model.offences.length === 0, `the model was asked for ${world.model.offences}`),
    ...faultsOfReturn(run),
  ]
}

/** From the loss of a stream to the end of a call that nobody has brought back, with all that it still waits for. */
const LOST_WITHIN_MS = 15_000 + 2_000
/** A carrier that takes nothing shows it once its buffers are full, and then for five seconds. */
const HOLE_WITHIN_MS = 60_000
const SLACK_MS = 300

/** A lost stream ends the call: not at once, and not much later. */
function faultsOfLostStream({ world, cut, cutAtMs }: CutRun): string[] {
  const isLost = cut === 'carrier-rst' || cut === 'both'
  if (!isLost && cut !== 'carrier-hole') return []
  const waitedMs = Math.round((world.endedAtMs ?? Number.POSITIVE_INFINITY) - cutAtMs)
  const maxMs = LOST_WITHIN_MS + (isLost ? 0 : HOLE_WITHIN_MS) + SLACK_MS
  return unless(waitedMs <= maxMs, `ended ${waitedMs} ms after the stream was lost`)
}

/** The conversation goes on by another stream, with the model session that it had, to its own end. */
function faultsOfReturnedStream({ world, cutAtMs }: CutRun): string[] {
  const [reason] = world.ends
  const hasEnded = reason === 'agent_hangup' || reason === 'caller_hangup' || reason === 'idle_timeout'
  const wasEnding = (world.endedAtMs ?? 0) <= cutAtMs + BACK_MS
  const silenceMs = longestSilenceMs(world)
  return [
    ...unless(hasEnded || wasEnding, `ended by ${reason}`),
    ...unless(wasEnding || world.carriers.length === 2, `${world.carriers.length} streams`),
    ...unless(silenceMs <= MAX_SILENCE_MS + BACK_MS, `nobody spoke for ${silenceMs} ms`),
    ...unless(world.model.offences.length === 0, `the model was asked for ${world.model.offences}`),
    ...unless(world.model.sessions.length === 1, `${world.model.sessions.length} model sessions`),
  ]
}

/** The carrier has the call now, unless that was over but for its last words; nobody hangs up on it. */
function faultsOfTakeOver({ ends, apologies, hangUps }: World): string[] {
  const [reason] = ends
  const isTaken = reason === 'model_lost' && apologies === 1 && hangUps === 0
  return unless(isTaken || reason === 'agent_hangup' || reason === 'caller_hangup', `ended by ${reason}`)
}

/** Counts from the cut, or from where the caller stopped to speak if that was later. */
function faultsOfReturn({ world, cutAtMs, wasOwed }: CutRun): string[] {
  if (!wasOwed || (world.endedAtMs ?? 0) < cutAtMs + SPEAKS_WITHIN_MS) return []
  const spoken = world.caller.utterances.filter(({ startMs, endMs }) => startMs <= cutAtMs && cutAtMs < endMs)
  const fromMs = Math.max(cutAtMs, ...spoken.map(({ endMs }) => endMs))
  const next = world.carrier.sent.find((one) => one.type === 'media' && one.atMs > cutAtMs)
  const isHalfSaid = world.caller.utterances.some(
    ({ startMs }) => startMs > cutAtMs && startMs <= fromMs + SPEAKS_WITHIN_MS,
  )
  const waitedMs = (next?.atMs ?? Number.POSITIVE_INFINITY) - fromMs
  return unless(waitedMs <= SPEAKS_WITHIN_MS || isHalfSaid, `spoke again after ${Math.round(waitedMs)} ms`)
}

function longestSilenceMs({ carriers, caller, endedAtMs }: World): number {
  const sounds = [
    ...carriers.flatMap(({ heard }) => heard).map(({ startMs, endMs }) => ({ startMs, endMs })),
    ...caller.utterances.map(({ startMs, endMs }) => ({ startMs, endMs })),
    { startMs: endedAtMs ?? 0, endMs: endedAtMs ?? 0 },
  ].sort((a, b) => a.startMs - b.startMs)
  let quietSinceMs = 0
  let longestMs = 0
  for (const { startMs, endMs } of sounds) {
    longestMs = Math.max(longestMs, startMs - quietSinceMs)
    quietSinceMs = Math.max(quietSinceMs, endMs)
  }
  return Math.round(longestMs)
}

const LATE_EVENTS: readonly SessionEvent[] = [
  { type: 'hung_up' },
  { type: 'stream_lost' },
  { type: 'dtmf', digit: '1' },
  { type: 'mark', name: 'm1' },
  { type: 'say', text: 'Hello?' },
  { type: 'end', reason: 'supervisor' },
  { type: 'fired', timer: 'stall' },
  { type: 'model', epoch: 1, event: { type: 'ready' } },
]

/** An ended session absorbs whatever comes. */
function faultsAfterEnd(world: World): string[] {
  const traceOf = () => [
    world.hangUps,
    world.apologies,
    world.ends.length,
    world.notes.length,
    world.carrier.sent.length,
  ]
  const before = String(traceOf())
  for (const event of LATE_EVENTS) world.session.dispatch(event)
  return unless(String(traceOf()) === before && world.sessionClock.pendingTimers === 0, 'it lived on after its end')
}
