import type { StoppedPart } from './caller-speech.ts'
import { disclosureOf } from './disclosing.ts'
import type { Turn } from './events.ts'
import { withPast } from './history.ts'
import { spokenUntil } from './spoken-words.ts'
import type { Step } from './state.ts'
import { goneOnWith } from './stopped.ts'
import { settleSounding } from './timeline.ts'
import {
  append,
  change,
  type Entry,
  find,
  newEntry,
  place,
  putUnheardBehind,
  releaseAll,
  type Transcript,
} from './transcript.ts'
import { joined, letters, wordEnd } from './word-ends.ts'

/** Older entries do not change any more: they are only counted, and remembered as text. */
const MAX_ENTRIES = 100
/** The same behind words of the agent's that are still to be heard, or just are: a model may be far ahead of what is. */
const MAX_AHEAD = 400
/** What is lost by rounding, however often an utterance is stopped and gone on with: no word is as short. */
const ROUNDING_MS = 20
const WENT_ON = 'What had stopped you were no words, so you went on. The caller has heard this of it, too'
const NOT_AGAIN = 'The sentence that you were to say again was heard by that: do not say it again.'

/** An item takes its place in the conversation, where the model has it. */
export function placeEntry(step: Step, entry: Entry, previousItemId: string | null): void {
  const before = step.state.transcript
  step.set({ transcript: place(before, saidBy(step, entry), previousItemId) })
  if (step.state.transcript !== before) tidy(step)
}

/** An item whose place is not known yet stands at the end. */
export function appendEntry(step: Step, entry: Entry): void {
  step.set({ transcript: append(step.state.transcript, saidBy(step, entry)) })
  tidy(step)
}

/** What an agent says stays its own when the call is another one's. */
function saidBy({ state: { plan } }: Step, entry: Entry): Entry {
  return entry.role === 'agent' ? { ...entry, agentName: plan.agentName ?? null } : entry
}

/** Changes what is known of an item, and keeps it once nothing more is expected of it. */
export function keepEntry(step: Step, itemId: string, facts: Partial<Entry>): void {
  step.set({ transcript: change(step.state.transcript, itemId, { ...facts, keptAs: null }) })
  tidy(step)
}

/** The same of a turn of the caller's, whose times are known now, with what it has kept from being heard behind it. */
export function keepTurn(step: Step, itemId: string, times: Pick<Entry, 'startMs' | 'endMs'>): void {
  step.set({ transcript: putUnheardBehind(change(step.state.transcript, itemId, { ...times, keptAs: null }), itemId) })
  tidy(step)
}

/** Keeps everything as far as it goes: no item waits for its place, or for more of it, any longer. */
export function keepAll(step: Step): void {
  const { entries, ...rest } = releaseAll(step.state.transcript)
  step.set({
    transcript: { ...rest, entries: entries.map((e) => (e.isFinal ? e : { ...e, isFinal: true, keptAs: null })) },
  })
  tidy(step)
}

/** The item is no part of the conversation: neither the model nor the record has it from now on. */
export function forgetEntry(step: Step, itemId: string): void {
  const wasKept = typeof find(step.state.transcript, itemId)?.keptAs === 'number'
  deleteItem(step, itemId)
  if (wasKept) step.do({ type: 'forget', itemId })
  keepEntry(step, itemId, { isKept: false, isFinal: true })
}

/** The model is to forget an item. It keeps its place in the record, where what follows in the model's chain follows it. */
export function deleteItem(step: Step, itemId: string): void {
  step.command({ type: 'delete_item', itemId })
  step.set({ transcript: change(step.state.transcript, itemId, { isOffChain: true }) })
}

/**
 * Writes down something that is no item of the model's: what was typed, a whisper, a tool's answer. `isKept`: it is a turn
 * of the record, too, and not only for a model session that was not there.
 */
export function addNote(
  step: Step,
  role: 'system' | 'supervisor',
  note: { text: string; isKept: boolean; startMs?: number; endMs?: number },
): void {
  const notes = step.state.transcript.notes + 1
  step.set({ transcript: { ...step.state.transcript, notes } })
  const entry = newEntry(`note-${notes}`, role, step.atMs)
  appendEntry(step, { ...entry, ...note, isNote: true, isOffChain: true, isPlaced: true, isFinal: true })
}

/** An utterance will not be played any further: its text is parted into what was heard and what was not. */
export function closeUtterance(step: Step, played: { itemId: string; sentMs: number; heardMs: number }): void {
  const { itemId } = played
  settleSounding(step, itemId)
  const entry = find(step.state.transcript, itemId)
  if (!entry || entry.isFinal) return
  const before = goneOnWith(step.state, itemId)
  const sentMs = before?.sentMs ?? played.sentMs
  const heardMs = before ? inBoth(before, played.heardMs) : played.heardMs
  const whole = entry.text + entry.unheard
  const cut = heardUntil(whole, entry, { sentMs, heardMs })
  const text = whole.slice(0, cut).trimEnd()
  const unheard = whole.slice(cut).trimStart()
  // What was to be heard later would have begun then.
  const startMs = Math.min(entry.startMs, step.atMs)
  keepEntry(step, itemId, {
    ...{ text, unheard, interrupted: heardMs < sentMs || (entry.voiced !== null && unheard !== ''), voiced: null },
    ...{ sentMs, heardMs, startMs, endMs: before ? step.atMs : startMs + heardMs, isFinal: true },
  })
  if (before) tellHeard(step, before, text)
}

/** How much of an utterance was heard that was gone on with. Each part of it is known in whole ms: a few that lack are none. */
function inBoth(before: StoppedPart, heardSinceMs: number): number {
  const heardMs = before.heardMs + heardSinceMs
  return before.sentMs - heardMs <= ROUNDING_MS ? before.sentMs : heardMs
}

/** The model, which was told where it was cut short, is told what of the rest was heard in the end. */
function tellHeard(step: Step, { itemId, epoch, told }: StoppedPart, text: string): void {
  const words = text.slice(told.length).trimStart()
  // A later session was told all of it as what was said so far.
  if (words === '' || epoch !== step.state.model.epoch) return
  const disclosure = disclosureOf(step.state, itemId)
  const isSaid = disclosure !== null && letters(text).length >= letters(disclosure).length
  step.command({ type: 'system_message', text: `${WENT_ON}: ${words}${isSaid ? `\n${NOT_AGAIN}` : ''}` })
}

/** An utterance that was cut short is gone on with: nothing is settled of it yet. */
export function reopenEntry(step: Step, itemId: string): void {
  const entry = find(step.state.transcript, itemId)
  if (!entry) return
  const unheard = joined(entry.text, entry.unheard)
  const open = { isFinal: false, interrupted: false, sentMs: null, heardMs: null }
  step.set({ transcript: change(step.state.transcript, itemId, { ...open, text: '', unheard }) })
}

function heardUntil(
  whole: string,
  { voiced }: Entry,
  { sentMs, heardMs }: { sentMs: number; heardMs: number },
): number {
  const isAllHeard = heardMs >= sentMs
  if (isAllHeard && (voiced === null || voiced.isWhole)) return whole.length
  const isTold = voiced !== null && (voiced.endsMs.length > 0 || !voiced.isWhole)
  return isTold ? spokenUntil(whole, voiced, heardMs) : wordEnd(whole, Math.floor(whole.length * (heardMs / sentMs)))
}

/**
 * Keeps every turn that is final and has not been kept under the number that it has now: an item that found its place late,
 * or was taken out, moves those behind it.
 */
function tidy(step: Step): void {
  const { transcript } = step.state
  const [oldest] = transcript.entries
  const isAhead = oldest?.role === 'agent' && !oldest.isFinal
  const isFull = transcript.entries.length > (isAhead ? MAX_AHEAD : MAX_ENTRIES)
  let turns = transcript.past.turns
  const entries = transcript.entries.map((entry) => {
    // Whatever was still expected of the oldest after so many others will not come.
    const isFinal = entry.isFinal || (isFull && entry === oldest)
    if (!isTurn(entry, isFinal)) return isFinal ? noTurn(step, entry) : entry
    turns += 1
    if (!isFinal || (entry.isFinal && entry.keptAs === turns)) return entry
    step.do({ type: 'keep', turn: turnOf(entry, turns) })
    return { ...entry, isFinal, keptAs: turns }
  })
  step.set({ transcript: isFull ? shortened({ ...transcript, entries }) : { ...transcript, entries } })
}

/** Words that are no turn after all, as nobody has heard them: what was billed of them is the next one's. */
function noTurn(step: Step, entry: Entry): Entry {
  if (entry.isFinal && entry.costUsd === null) return entry
  step.set({ unsaidUsd: step.state.unsaidUsd + (entry.costUsd ?? 0) })
  return { ...entry, isFinal: true, costUsd: null }
}

/** What is open may still get words or audio; what ended without either is no turn, unless the caller said it. */
function isTurn({ isKept, isUnwritten, text, sentMs }: Entry, isFinal: boolean): boolean {
  return isKept && !(isFinal && !isUnwritten && text === '' && sentMs === null)
}

function turnOf(entry: Entry, seq: number): Turn {
  const { itemId, role, text, startMs, endMs, interrupted, sentMs, heardMs, unheard } = entry
  const { agentName, costUsd, timeline } = entry
  return {
    ...{ itemId, seq, role, text, startMs, endMs, interrupted, sentMs, heardMs, unheard },
    ...(agentName !== null && { agentName }),
    ...(costUsd !== null && { costUsd }),
    ...(timeline !== null && { timeline }),
  }
}

/** The oldest entries become a part of the past, as far as they are final. */
function shortened(transcript: Transcript): Transcript {
  const [oldest, ...entries] = transcript.entries
  if (!oldest?.isFinal || entries.length < MAX_ENTRIES) return transcript
  const turns = oldest.keptAs ?? transcript.past.turns
  return shortened({ ...transcript, entries, past: { turns, text: withPast(transcript.past.text, oldest) } })
}
