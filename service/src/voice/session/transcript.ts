import type { Turn, TurnTimeline } from './events.ts'

/** One item of the conversation while it is being spoken. Times are ms since the session's start. */
export type Entry = {
  readonly itemId: string
  readonly role: Turn['role']
  /** The agent that says it; null for what no agent says, or where that is not known. */
  readonly agentName: string | null
  /** The answer that it is part of; null for what the agent did not say. */
  readonly responseId: string | null
  readonly text: string
  readonly startMs: number
  readonly endMs: number
  readonly interrupted: boolean
  readonly sentMs: number | null
  readonly heardMs: number | null
  /** What was generated and never heard. */
  readonly unheard: string
  /** What is known of its sound while the secondary provider speaks it; null for all else, and once it is closed. */
  readonly voiced: Voiced | null
  /** What it cost to say, in USD; null where that is not known. */
  readonly costUsd: number | null
  /** How it came about, where it answers the caller. */
  readonly timeline: TurnTimeline | null
  /** The model has told which item it follows; until then it stands where its first word put it. */
  readonly isPlaced: boolean
  /** Our own entry, and not an item of the model's. */
  readonly isNote: boolean
  /** The model's chain of items does not have it, or no longer: what follows the item before it follows it, too. */
  readonly isOffChain: boolean
  /** The model session that there is did not say it, and was told all of it as heard, because it played on. */
  readonly isToldWhole: boolean
  /** Nothing more is expected of it. */
  readonly isFinal: boolean
  /** Words of the caller's that are not written down, or not yet: they are a turn all the same. */
  readonly isUnwritten: boolean
  /** Whether it is a turn of the record. False for what only holds a place in the chain: tool calls, coughs. */
  readonly isKept: boolean
  /** The number under which it was kept last; null when it has changed since. */
  readonly keptAs: number | null
}

/** How far the words of an entry have become sound. */
export type Voiced = {
  /** Of each of its characters but white space, in their order, the ms of its audio at which it ends. */
  readonly endsMs: readonly number[]
  /** All of its words are in its audio. */
  readonly isWhole: boolean
  /** The items of the model's that it is. */
  readonly itemIds: readonly string[]
}

type Waiting = { readonly entry: Entry; readonly previousItemId: string }

/** The conversation in its own order, which is not the order in which its words arrive. */
export type Transcript = {
  /** The newest entries. */
  readonly entries: readonly Entry[]
  /** What follows an item that is not known yet, in the order of arrival. */
  readonly waiting: readonly Waiting[]
  /** What is too old to change: how many turns, and their words as a model would be told them. */
  readonly past: { readonly turns: number; readonly text: string }
  /** How many notes of our own were made. */
  readonly notes: number
}

export const EMPTY: Transcript = { entries: [], waiting: [], past: { turns: 0, text: '' }, notes: 0 }

/** This many may wait for an item that never comes; then the first of them is let in at the end. */
const MAX_WAITING = 32

/** An item of which only the role and the time are known. */
export function newEntry(itemId: string, role: Entry['role'], atMs: number): Entry {
  return {
    itemId,
    role,
    agentName: null,
    responseId: null,
    text: '',
    startMs: atMs,
    endMs: atMs,
    interrupted: false,
    sentMs: null,
    heardMs: null,
    unheard: '',
    voiced: null,
    costUsd: null,
    timeline: null,
    isPlaced: false,
    isNote: false,
    isOffChain: false,
    isToldWhole: false,
    isFinal: false,
    isUnwritten: false,
    isKept: true,
    keptAs: null,
  }
}

/**
 * Puts an item behind `previousItemId`; null puts it at the end, because the first item of a new model session follows all
 * that was said before it. Where the one before has no place yet the item waits for it, so that any order of arrival gives
 * the same conversation. An item that has its place stays there; one that only had words so far moves to it.
 */
export function place(transcript: Transcript, entry: Entry, previousItemId: string | null): Transcript {
  const known = find(transcript, entry.itemId)
  if (known?.isPlaced) return transcript
  const placed = { ...(known ?? entry), isPlaced: true }
  const rest = known ? without(transcript, entry.itemId) : transcript
  if (previousItemId === null) return insertAt(rest, placed, rest.entries.length)
  const previous = rest.entries.findIndex((e) => e.itemId === previousItemId && e.isPlaced)
  if (previous === -1) return held(rest, { entry: placed, previousItemId })
  return insertAt(rest, placed, behindOffChain(rest.entries, previous + 1))
}

/**
 * What the agent was yet to say when the caller began is kept behind the caller's words where nothing of it was heard: they came instead
 * of it. What follows them in the model's chain follows it, too.
 */
export function putUnheardBehind(transcript: Transcript, itemId: string): Transcript {
  const { entries } = transcript
  const at = entries.findLastIndex((e) => e.itemId === itemId)
  const said = entries[at]
  if (!said) return transcript
  const isUnheard = (e: Entry) => e.role === 'agent' && e.isFinal && e.text === '' && e.startMs > said.startMs
  const from = entries.slice(0, at).findLastIndex((e) => e.isKept && !isUnheard(e)) + 1
  const before = entries.slice(from, at)
  const unheard = before.filter((e) => e.isKept).map((e) => ({ ...e, isOffChain: true }))
  if (unheard.length === 0) return transcript
  const others = before.filter((e) => !e.isKept)
  return {
    ...transcript,
    entries: [...entries.slice(0, from), ...others, said, ...unheard, ...entries.slice(at + 1)],
  }
}

/** Lets an item stand at the end until its place is known; a known one stays where it is. */
export function append(transcript: Transcript, entry: Entry): Transcript {
  if (find(transcript, entry.itemId)) return transcript
  return { ...transcript, entries: [...transcript.entries, entry] }
}

function behindOffChain(entries: readonly Entry[], from: number): number {
  let at = from
  while (entries[at]?.isOffChain) at += 1
  return at
}

function insertAt(transcript: Transcript, entry: Entry, at: number): Transcript {
  const { entries } = transcript
  const longer = { ...transcript, entries: [...entries.slice(0, at), entry, ...entries.slice(at)] }
  return transcript.waiting.length === 0 ? longer : released(longer, entry.itemId)
}

function held(transcript: Transcript, one: Waiting): Transcript {
  const waiting = [...transcript.waiting, one]
  const [first, ...others] = waiting
  if (!first || waiting.length <= MAX_WAITING) return { ...transcript, waiting }
  return insertAt({ ...transcript, waiting: others }, first.entry, transcript.entries.length)
}

/** Those that waited for this item follow it, each with those that waited for it. */
function released(transcript: Transcript, itemId: string): Transcript {
  const followers = transcript.waiting.filter((one) => one.previousItemId === itemId)
  const waiting = transcript.waiting.filter((one) => one.previousItemId !== itemId)
  return followers.reduce<Transcript>(
    (t, { entry }) => {
      const at = t.entries.findIndex((e) => e.itemId === itemId) + 1
      return insertAt(t, entry, behindOffChain(t.entries, at))
    },
    { ...transcript, waiting },
  )
}

/** Lets in what still waits for an item that never came: at the end, in the order in which it arrived. */
export function releaseAll(transcript: Transcript): Transcript {
  const [first, ...waiting] = transcript.waiting
  if (!first) return transcript
  return releaseAll(insertAt({ ...transcript, waiting }, first.entry, transcript.entries.length))
}

export function find({ entries, waiting }: Transcript, itemId: string): Entry | undefined {
  return entries.findLast((e) => e.itemId === itemId) ?? waiting.find(({ entry }) => entry.itemId === itemId)?.entry
}

/** Changes what is known of an item; an unknown one is left alone. */
export function change(transcript: Transcript, itemId: string, facts: Partial<Entry>): Transcript {
  const at = transcript.entries.findLastIndex((e) => e.itemId === itemId)
  const entry = transcript.entries[at]
  if (entry) return { ...transcript, entries: transcript.entries.with(at, { ...entry, ...facts }) }
  const waiting = transcript.waiting.map((one) =>
    one.entry.itemId === itemId ? { ...one, entry: { ...one.entry, ...facts } } : one,
  )
  return transcript.waiting.length === 0 ? transcript : { ...transcript, waiting }
}

function without(transcript: Transcript, itemId: string): Transcript {
  return {
    ...transcript,
    entries: transcript.entries.filter((e) => e.itemId !== itemId),
    waiting: transcript.waiting.filter(({ entry }) => entry.itemId !== itemId),
  }
}
