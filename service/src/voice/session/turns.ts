import type { ModelEvent } from '../../platform/realtime/port.ts'
import { ask, isSpeaking } from './asking.ts'
import { releaseTransfer } from './awaited-sounds.ts'
import { isBackchannel, mayBeBackchannel } from './backchannel.ts'
import type { CallerSpeech, Undecided } from './caller-speech.ts'
import { callOffTransfer, holdTransfer, meantOf, tellCalledOff } from './calling-off.ts'
import { wasNoWords, watchForWords, wereWords } from './going-on.ts'
import { keptSinceMs } from './hearing.ts'
import { isEndDue, keepCall } from './held-end.ts'
import { interrupt } from './interrupting.ts'
import { appendEntry, forgetEntry, keepEntry, keepTurn, placeEntry } from './keeping.ts'
import { isAwaited } from './party.ts'
import { isMeant, speechOver } from './speech.ts'
import { TIMER_SLACK_MS } from './stall-clock.ts'
import { isOutOfHands, type Step } from './state.ts'
import { turnEnded } from './timeline.ts'
import { endRow } from './tools-in-row.ts'
import { change, find, newEntry } from './transcript.ts'
import { awaitMissedWords } from './unsaid.ts'

type Committed = Extract<ModelEvent, { type: 'committed' }>

/** So long after speech that may only say "go on" it is taken for more, whatever its words are. */
const WORDS_MS = 1_500
/** So long after a short sound into silence it is taken for a word: a cough is waited for a little longer. */
const SHORT_WORDS_MS = 2_000
/** Short sounds that wait for their words: more of them at once are noise, and the oldest is taken for that. */
const MAX_UNDECIDED = 8
const BEFORE_GREETING = 'The caller spoke before your greeting. Answer that now, without greeting them again.'

/**
 * The caller's turn is an item of the conversation: it is answered, or it did not count and is taken out again. Short
 * speech into silence is neither yet: "no" is a word and a cough is not, so its words decide when they arrive.
 */
export function committed(step: Step, { itemId, previousItemId }: Committed): void {
  const { speech } = step.state
  const ofItem = speech?.itemId === itemId ? speech : null
  const times = timesOf(step, ofItem)
  const counts = ofItem === null || (ofItem.counts ?? isMeant(step, ofItem))
  placeEntry(step, newEntry(itemId, 'caller', times.startMs), previousItemId)
  keepTurn(step, itemId, times)
  if (!counts) putOff(step, ofItem)
  else if (ofItem && isToldByWords(step, ofItem)) listenTo(step, itemId)
  else answerCounted(step, itemId, ofItem?.untilMs ?? step.nowMs)
  if (ofItem) speechOver(step)
  watchForWords(step)
}

/** When it was said. What was kept for a session is told all at once, and was said before that. */
function timesOf(step: Step, speech: CallerSpeech | null): { startMs: number; endMs: number } {
  if (!speech) return { startMs: step.atMs, endMs: step.atMs }
  const { startedAtMs } = step.state
  const keptMs = keptSinceMs(step, speech)
  const fromMs = keptMs ?? speech.startedAtMs
  const toldMs = keptMs === null ? step.nowMs : (speech.endedAtMs ?? step.nowMs)
  // The model waits for silence before it says that a turn is over; what was measured tells when it really was.
  const untilMs = speech.measuredLoudMs > 0 ? speech.lastLoudAtMs : toldMs
  return { startMs: Math.round(fromMs - startedAtMs), endMs: Math.round(Math.max(fromMs, untilMs) - startedAtMs) }
}

/** What is long enough for speech is taken for words, also where nobody will know them. */
function answerCounted(step: Step, itemId: string, endedAtMs: number): void {
  takeForWords(step, itemId)
  const { callerTranscripts } = step.state.plan.capabilities
  if (!callerTranscripts && callOffTransfer(step, itemId, false)) answerCalledOff(step, endedAtMs)
  else answerTurn(step, endedAtMs)
}

function putOff(step: Step, { itemId, overlaps, aloneLoudMs }: CallerSpeech): void {
  const { capabilities, interruption } = step.state.plan
  // Whom the guard kept from stopping the greeting, and who spoke on behind it, waits for an answer.
  const isOverOnly = overlaps && (aloneLoudMs === 0 || aloneLoudMs < interruption.minSpeechMs)
  if (isOverOnly || !capabilities.callerTranscripts) return forget(step, itemId)
  awaitWords(step, itemId, false)
}

/** Whether only its words tell what speech is: over the agent it may say "go on", and where the call is about to end a cough keeps nobody. */
function isToldByWords(step: Step, speech: CallerSpeech): boolean {
  if (mayBeBackchannel(step, speech) && isSpeaking(step)) return true
  return step.state.plan.capabilities.callerTranscripts && isEndDue(step.state) && !isOutOfHands(step)
}

/** The agent speaks on, or the call is left to end, until it is known what the caller said meanwhile. */
function listenTo(step: Step, itemId: string): void {
  awaitWords(step, itemId, true)
}

/** It is a turn, whether its words will be written down or not. */
function takeForWords(step: Step, itemId: string): void {
  const { transcript } = step.state
  if (find(transcript, itemId)?.isFinal === false)
    step.set({ transcript: change(transcript, itemId, { isUnwritten: true }) })
}

/** How long the words of a sound may take yet. */
function wordsLeftMs({ nowMs }: Step, { isMeant, sinceMs }: Undecided): number {
  return sinceMs + (isMeant ? WORDS_MS : SHORT_WORDS_MS) - nowMs
}

/** The same for the first of what is undecided, if anything is. */
function armWords(step: Step): void {
  const { undecided } = step.state
  if (undecided.length === 0) return
  step.do({ type: 'arm', timer: 'words', ms: Math.min(...undecided.map((one) => wordsLeftMs(step, one))) })
}

function awaitWords(step: Step, itemId: string, isMeant: boolean): void {
  const undecided = [...step.state.undecided, { itemId, isMeant, sinceMs: step.nowMs }]
  const [oldest] = undecided
  if (oldest && undecided.length > MAX_UNDECIDED) forget(step, oldest.itemId)
  step.set({ undecided: undecided.slice(-MAX_UNDECIDED) })
  armWords(step)
}

/** It was no words: who was cut off before it has not gone on. */
function forget(step: Step, itemId: string): void {
  awaitMissedWords(step)
  forgetEntry(step, itemId)
  releaseTransfer(step, itemId)
  wasNoWords(step, itemId)
}

/** Nobody is asked to repeat short sounds whose words will not come, where what follows them is said anyway. */
export function forgetShortSounds(step: Step): void {
  const { undecided } = step.state
  step.set({ undecided: undecided.filter(({ isMeant }) => isMeant) })
  for (const { itemId, isMeant } of undecided) if (!isMeant) forget(step, itemId)
}

/**
 * Words do not come that may be more than "go on", or may be none: the sound is taken for words, as a caller who has said "no" waits for
 * an answer. It is the answer to all that is undecided by then, which are one turn, but for what may yet turn out to be "go on". Words
 * that come later are kept, and not answered again.
 */
export function wordsOverdue(step: Step): void {
  const { undecided } = step.state
  const isDue = (one: Undecided) => wordsLeftMs(step, one) <= TIMER_SLACK_MS
  // Else another one was waited for, or nobody could be heard meanwhile.
  const waiting = undecided.some(isDue) ? undecided.filter((one) => one.isMeant && !isDue(one)) : undecided
  const answered = undecided.filter((one) => !waiting.includes(one))
  step.set({ undecided: waiting })
  armWords(step)
  for (const { itemId } of answered) takeForWords(step, itemId)
  const last = answered.at(-1)
  if (!last) return
  // What is short stops nobody who speaks by now.
  const meant = meantOf(answered)
  if (meant.length > 0) interrupt(step)
  // These words are waited for all the same.
  holdTransfer(step, meant)
  if (answered.some((one) => !wasAnswered(step, one))) answerTurn(step, endOf(step, last.itemId))
}

/** Whether what the agent says, or has said, knows a sound: that of a tool whose result came before its words. What stops the agent is answered anew. */
function wasAnswered({ state }: Step, { isMeant, isAnswered }: Undecided): boolean {
  return isAnswered === true && !isMeant && !isEndDue(state)
}

/** When the caller ended an item, monotonic. */
function endOf({ state, atMs }: Step, itemId: string): number {
  return state.startedAtMs + (find(state.transcript, itemId)?.endMs ?? atMs)
}

/** The caller, who ended at `endedAtMs` (monotonic), is owed an answer from now on, unless others have the call. */
export function answerTurn(step: Step, endedAtMs: number): void {
  if (step.state.ending || isAwaited(step.state)) return
  endRow(step)
  keepCall(step)
  if (isOutOfHands(step)) return step.set({ idleStage: 0, hasMissedWords: false })
  oweAnswer(step, endedAtMs)
  const { queue, asked, active } = step.state.answers
  step.setAnswers({ queue: queue.filter(({ instructions }) => instructions !== BEFORE_GREETING) })
  const isBeforeGreeting = asked?.isAbandoned === false && asked.ask.why === 'greeting' && active === null
  ask(step, { why: 'turn', instructions: isBeforeGreeting ? BEFORE_GREETING : null, thenEnd: null })
}

/** A call that is not put through: the agent's tool tells that, and asks for the answer, unless it has to wait for another one. */
function answerCalledOff(step: Step, endedAtMs: number): void {
  const isBesideOthers = step.state.runningTools.filter(({ held }) => held === null).length > 1
  if (!isBesideOthers) return oweAnswer(step, endedAtMs)
  tellCalledOff(step)
  answerTurn(step, endedAtMs)
}

/** The same where somebody else asks for the answer. */
function oweAnswer(step: Step, endedAtMs: number): void {
  step.set({ owedSinceMs: step.state.owedSinceMs ?? step.nowMs, idleStage: 0, hasMissedWords: false })
  turnEnded(step, endedAtMs)
}

/** The caller's words have arrived, or never will (null). */
export function callerTranscript(step: Step, itemId: string, text: string | null): void {
  const sound = step.state.undecided.find((one) => one.itemId === itemId)
  if (sound) step.set({ undecided: step.state.undecided.filter((one) => one !== sound) })
  const isMore = isMoreThanGoOn(step, text)
  if (text !== null && !isMore) releaseTransfer(step, itemId)
  if (!isSaid(step, { itemId, sound, text })) return forget(step, itemId)
  appendEntry(step, newEntry(itemId, 'caller', step.atMs))
  const endedAtMs = endOf(step, itemId)
  keepEntry(step, itemId, { text: (text ?? '').trim(), isUnwritten: text === null, isFinal: true })
  const isCalledOff = isMore && callOffTransfer(step, itemId, sound?.isMeant === true)
  wereWords(step, itemId)
  if (sound?.isMeant) interrupt(step)
  if (isCalledOff) answerCalledOff(step, endedAtMs)
  else if (sound && !wasAnswered(step, sound)) answerTurn(step, endedAtMs)
}

type Sound = { itemId: string; sound: Undecided | undefined; text: string | null }

/** Whether the caller has said something. What has come to be a turn is one, unless the agent would go on if it were not. */
function isSaid(step: Step, { itemId, sound, text }: Sound): boolean {
  if (!sound && !step.state.stopped?.itemIds.includes(itemId)) return true
  // It was long enough for speech, and nobody knows its words.
  if (text === null) return sound?.isMeant ?? true
  if (!hasWords(text)) return false
  const isAway = isOutOfHands(step) || (sound ? !sound.isMeant || !isSpeaking(step) : false)
  return isAway || !isBackchannel(text, step.state.plan.interruption.backchannels)
}

/** Whether these are words, and more than what whoever listens says. */
function isMoreThanGoOn({ state }: Step, text: string | null): boolean {
  return text !== null && hasWords(text) && !isBackchannel(text, state.plan.interruption.backchannels)
}

/** Two letters, a digit, a sign that is a word, or a letter that is spelled: "ok", "5", "好" and "J." are answers, "h" is breath. */
function hasWords(text: string): boolean {
  return /\p{L}.*\p{L}|\p{N}|\p{Lo}|\p{Lu}/su.test(text)
}
