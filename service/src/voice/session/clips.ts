import type { Heard } from '../playback.ts'
import { askFirst } from './asking.ts'
import { clipId, isClip } from './clip-id.ts'
import { cutDisclosure, disclosureOf, sayAgain } from './disclosing.ts'
import { drainAgain } from './ending.ts'
import { appendEntry } from './keeping.ts'
import { greetingOf } from './picking-up.ts'
import type { Plan, PlannedClip } from './plan.ts'
import type { PastTurn } from './resumption.ts'
import { isOutOfHands, type SessionState, type Step } from './state.ts'
import { find, newEntry } from './transcript.ts'
import { letters } from './word-ends.ts'

const AGAIN = 'The line was interrupted, and the caller hears your first words again from their beginning'
const HEARD_NOTHING = 'Your first words were cut short: the caller has heard nothing of'
const HEARD_PART = 'Your first words were cut short. The caller has heard only this of them'

/**
 * The agent's first words sound from the stream's start, whatever the model's handshake takes: a model that is opened after this is
 * told them as what was said so far. What the clips do not say is asked of it as soon as it is ready.
 */
export function beginWithClips(step: Step): void {
  const { plan } = step.state
  const { due, isBegun } = dueAtStart(step.state)
  const isGreetingDue = !plan.clips.some(({ kind }) => kind === 'greeting')
  if (due.length === 0 && !(isBegun && isGreetingDue)) return
  step.set({ phase: 'talking', greetingAtMs: step.nowMs })
  step.do({ type: 'note', note: { type: 'state', state: 'talking' } })
  play(step, due)
  if (isGreetingDue) askFirst(step, greetingOf(plan))
}

/**
 * All of them, or, where an earlier session of the call has begun with them and nothing else was said, those from the first on that
 * was not heard to its end. `isBegun`: there was such a session.
 */
function dueAtStart({ plan, resumption }: SessionState): { due: number[]; isBegun: boolean } {
  const clips = firstWords(plan)
  const turns = resumption?.turns ?? []
  const isClipOnly = turns.every(
    (turn) => turn.role === 'agent' && clips.some(({ text }) => wholeOf(turn) === letters(text)),
  )
  if (!isClipOnly) return { due: [], isBegun: false }
  const heard = turns.filter(({ unheard }) => unheard === '').map(wholeOf)
  const first = clips.findIndex(({ text }) => !heard.includes(letters(text)))
  return { due: fromIndex(clips, first), isBegun: turns.length > 0 }
}

/** The others stand behind them. */
function firstWords({ clips }: Plan): PlannedClip[] {
  return clips.filter(({ kind }) => kind === 'disclosure' || kind === 'greeting')
}

function indicesOf({ clips }: Plan, kind: PlannedClip['kind']): number[] {
  return [...clips.keys()].filter((index) => clips[index]?.kind === kind)
}

function wholeOf({ text, unheard }: PastTurn): string {
  return letters(text + unheard)
}

function fromIndex(clips: readonly PlannedClip[], first: number): number[] {
  return first === -1 ? [] : [...clips.keys()].slice(first)
}

function play(step: Step, indices: readonly number[]): void {
  for (const index of indices) {
    const itemId = playOne(step, index)
    const { clips } = step.state
    step.set({ clips: { ...clips, played: [...clips.played, { itemId, index }] } })
  }
}

function playOne(step: Step, index: number): string {
  const { transcript, plan } = step.state
  const text = plan.clips[index]?.text ?? ''
  const notes = transcript.notes + 1
  const itemId = clipId(notes)
  step.set({ transcript: { ...transcript, notes } })
  appendEntry(step, { ...newEntry(itemId, 'agent', step.atMs), unheard: text, isOffChain: true, isPlaced: true })
  step.do(
    { type: 'play_clip', id: itemId, index },
    { type: 'note', note: { type: 'turn_delta', itemId, role: 'agent', text } },
  )
  return itemId
}

/** Words that bridge a wait, each time others, and are no answer: nothing is cancelled for them. False where there are none. */
export function playFiller(step: Step): boolean {
  const { plan, clips } = step.state
  const fillers = indicesOf(plan, 'filler')
  const index = fillers[clips.fillers % fillers.length]
  if (index === undefined) return false
  step.set({ clips: { ...clips, fillers: clips.fillers + 1 } })
  playOne(step, index)
  return true
}

/** Words for a call of which no model can be had. False where there are none. */
export function playApology(step: Step): boolean {
  const [index] = indicesOf(step.state.plan, 'apology')
  if (index !== undefined) playOne(step, index)
  return index !== undefined
}

/**
 * A piece of a clip has left for the caller: a call that ends with it waits for its end, and an answer that is late is waited for anew
 * from there. Of the first words, the caller's silence is counted from there, too, and they sound; a filler ends no silence of the caller's.
 */
export function clipSent(step: Step, itemId: string): void {
  const { nowMs } = step
  drainAgain(step)
  const { greetedAtMs, latency, startedAtMs, clips } = step.state
  const isFirst = clips.played.some((one) => one.itemId === itemId)
  step.set({ deadAirArmed: false, ...(isFirst && { idleArmed: false }) })
  if (greetedAtMs !== null || !isFirst) return
  const greetingMs = latency.greetingMs ?? Math.round(nowMs - startedAtMs)
  step.set({ greetedAtMs: nowMs, latency: { ...latency, greetingMs } })
}

/**
 * The stream was lost in a clip: it is played again when the call is back, unless the conversation has gone on since. To be called
 * before the utterances are closed.
 */
export function keepClipsFor(step: Step, utterances: readonly Heard[]): void {
  const { clips, plan, transcript, resumption } = step.state
  const isCut = (id: string) => utterances.some(({ itemId, sentMs, heardMs }) => itemId === id && heardMs < sentMs)
  const index = clips.played.find(({ itemId }) => isCut(itemId))?.index ?? -1
  const hadSpoken = resumption?.turns.some(({ role }) => role === 'caller') ?? false
  const hasSpoken = hadSpoken || transcript.entries.some(({ role, isKept }) => role === 'caller' && isKept)
  step.set({ clips: { ...clips, due: hasSpoken ? [] : fromIndex(firstWords(plan), index) } })
}

/** The call is back: what was lost of the clips is heard from its beginning. False when nothing was. */
export function replayClips(step: Step): boolean {
  const { clips, plan, ending, isMuted, answers } = step.state
  const { due } = clips
  step.set({ clips: { ...clips, due: [] } })
  const isParting = ending !== null || answers.queue.some(({ thenEnd }) => thenEnd !== null)
  if (due.length === 0) return false
  if (isParting || isMuted || isOutOfHands(step)) {
    for (const index of due) tellHeard(step, clips.played.findLast((one) => one.index === index)?.itemId ?? '')
    return false
  }
  const words = due.map((index) => plan.clips[index]?.text ?? '').join(' ')
  step.command({ type: 'system_message', text: `${AGAIN}: ${words}` })
  play(step, due)
  return true
}

/** A model that was cut short in its disclosure, or while it said that again, is to say it again. To be called behind the closing of its words. */
export function tellCutDisclosure(step: Step, { itemId }: Heard): void {
  const heard = find(step.state.transcript, itemId)?.text ?? ''
  const first = isClip(itemId) ? null : disclosureOf(step.state, itemId)
  const disclosure = first ?? (isClip(itemId) || heard === '' ? null : cutDisclosure(step.state))
  if (disclosure === null || heard.length >= disclosure.length) return
  step.command({ type: 'system_message', text: sayAgain(disclosure) })
}

/** What was left of an answer is not said: where that was of what the law wants said, the model is to say that again. */
export function tellUnsaidDisclosure(step: Step, isLeft = false): void {
  const disclosure = cutDisclosure(step.state, isLeft)
  if (disclosure !== null) step.command({ type: 'system_message', text: sayAgain(disclosure) })
}

/** First words were cut short for good: the model, which was told all of it, is told what was heard. To be called behind its closing. */
export function tellCutClip(step: Step, { itemId, heardMs, sentMs }: Heard): void {
  const isFirst = step.state.clips.played.some((one) => one.itemId === itemId)
  if (isFirst && heardMs < sentMs) tellHeard(step, itemId)
}

function tellHeard(step: Step, itemId: string): void {
  const entry = find(step.state.transcript, itemId)
  if (!entry) return
  const heard = entry.text === '' ? `${HEARD_NOTHING}: ${entry.unheard}` : `${HEARD_PART}: ${entry.text}`
  const disclosure = disclosureOf(step.state, itemId)
  const again = disclosure === null ? '' : `\n${sayAgain(disclosure)}`
  step.command({ type: 'system_message', text: `${heard}${again}` })
}
