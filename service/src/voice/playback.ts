/** G.711 µ-law, 8 kHz, mono: one byte a sample. */
export const BYTES_PER_MS = 8

/** How much of one utterance was sent and heard, in whole ms of audio; `heardMs` never exceeds `sentMs`. */
export type Heard = { itemId: string; responseId: string; sentMs: number; heardMs: number }

type Utterance = { itemId: string; responseId: string; startMs: number; sentMs: number }
/** `earliestMs` is that of the line when the mark was sent: what was sent later says nothing of what comes before it. */
type Mark = { name: string; positionMs: number; earliestMs: number }

/**
 * What is known of the carrier's play-out buffer.
 *
 * Audio is sent faster than it plays, so "sent" is not "heard". All audio since the last `clear` lies on one line, its
 * position in ms; the carrier plays along it in real time and echoes a mark once it has passed that mark's position. What
 * has to be known is the line's origin: the instant at which it would have begun, had it played without a pause.
 *
 * No byte plays before it was sent, so each byte's instant of sending less its position is a lower bound of the origin,
 * and the greatest of them is exact as long as the carrier never stands still. An echo says more: it comes one round trip
 * after its position was passed. The quickest round trip, measured against the lower bound, is never too short; what an
 * echo is late beyond it is play-out that stood still, or jitter, which the next echo puts right. (Play-out that stands still
 * before the first echo of a call cannot be told from a longer way.) The way to the carrier
 * does not count as delay at all, because a `clear` that leaves now takes the same way as the audio did.
 *
 * A value: every function here returns a new one, and none reads a clock.
 */
export type Playback = {
  readonly utterances: readonly Utterance[]
  readonly marks: readonly Mark[]
  readonly sentMs: number
  /** How far along the line an echo has told. */
  readonly confirmedMs: number
  /** The line's origin is not before this instant. */
  readonly earliestMs: number
  /** The line's origin as the last echo has it. */
  readonly echoedMs: number
  /** The quickest way there and back that was seen; infinite before the first echo. */
  readonly roundTripMs: number
}

/** Nothing was sent yet. */
export const SILENT: Playback = {
  utterances: [],
  marks: [],
  sentMs: 0,
  confirmedMs: 0,
  earliestMs: Number.NEGATIVE_INFINITY,
  echoedMs: Number.NEGATIVE_INFINITY,
  roundTripMs: Number.POSITIVE_INFINITY,
}

/** Ten minutes of audio, the carrier's own bound, at one mark per half second: beyond it the oldest is forgotten. */
const MAX_MARKS = 1_200
/** A mark that is overdue by this much is taken for lost, and the clock alone is believed. */
const LOST_AFTER_MS = 5_000

/** Audio of `ms` left at `nowMs` for an item, and `mark` right behind it where it is not null. */
export function sent(
  playback: Playback,
  audio: { itemId: string; responseId: string; ms: number; mark: string | null },
  nowMs: number,
): Playback {
  const { marks, confirmedMs, echoedMs, roundTripMs } = playback
  const sentMs = playback.sentMs + audio.ms
  const earliestMs = Math.max(playback.earliestMs, nowMs - playback.sentMs)
  const utterances = lengthened(playback, audio)
  // Written out, as below: this is done for every piece of audio, and a copy made of an object whose numbers were now whole, now
  // not, is made slowly for as long as the process lives.
  const longer = { utterances, marks, sentMs, confirmedMs, earliestMs, echoedMs, roundTripMs }
  return audio.mark === null ? longer : marked(longer, audio.mark)
}

function lengthened({ utterances, sentMs }: Playback, audio: { itemId: string; responseId: string; ms: number }) {
  const last = utterances.at(-1)
  const { itemId, responseId, ms } = audio
  if (last?.itemId !== itemId) return [...utterances, { itemId, responseId, startMs: sentMs, sentMs: ms }]
  const longer = { itemId, responseId: last.responseId, startMs: last.startMs, sentMs: last.sentMs + ms }
  return utterances.length === 1 ? [longer] : [...utterances.slice(0, -1), longer]
}

/** A mark left behind all audio so far. */
export function marked(playback: Playback, name: string): Playback {
  const { utterances, sentMs, confirmedMs, earliestMs, echoedMs, roundTripMs } = playback
  const longer = [...playback.marks, { name, positionMs: sentMs, earliestMs }]
  const marks = longer.length > MAX_MARKS ? longer.slice(1) : longer
  return { utterances, marks, sentMs, confirmedMs, earliestMs, echoedMs, roundTripMs }
}

/** Whether audio was sent behind the last mark, so that its end would never be told. */
export function hasOpenEnd({ marks, sentMs, confirmedMs }: Playback): boolean {
  return (marks.at(-1)?.positionMs ?? confirmedMs) < sentMs
}

/**
 * A mark came back. Unknown names change nothing: after a `clear` the carrier echoes marks that it never played.
 *
 * An echo that overtook others confirms them too: it says that all audio before it has played.
 */
export function echoed(playback: Playback, name: string, nowMs: number): Playback {
  const index = playback.marks.findIndex((mark) => mark.name === name)
  const mark = playback.marks[index]
  if (!mark) return playback
  const passedMs = nowMs - mark.positionMs
  const roundTripMs = Math.max(0, Math.min(playback.roundTripMs, passedMs - mark.earliestMs))
  const { utterances, sentMs, earliestMs } = playback
  const marks = playback.marks.slice(index + 1)
  const echoedMs = passedMs - roundTripMs
  return { utterances, marks, sentMs, confirmedMs: mark.positionMs, earliestMs, echoedMs, roundTripMs }
}

/** How far along the line play-out would be by the clock alone. */
function clockMs({ earliestMs, echoedMs }: Playback, nowMs: number): number {
  return nowMs - Math.max(earliestMs, echoedMs)
}

/** Where play-out cannot have passed yet, because the next mark's echo would be back; infinite when that one is lost. */
function furthestMs({ marks, roundTripMs }: Playback, byClockMs: number): number {
  const [next] = marks
  if (!next || byClockMs - next.positionMs > LOST_AFTER_MS + (Number.isFinite(roundTripMs) ? roundTripMs : 0)) {
    return Number.POSITIVE_INFINITY
  }
  return next.positionMs + roundTripMs
}

/** How far along the line the caller has heard at `nowMs`: as far as it is known, and beyond that by the clock. */
export function lineHeardMs(playback: Playback, nowMs: number): number {
  const byClockMs = clockMs(playback, nowMs)
  const likelyMs = Math.min(byClockMs, furthestMs(playback, byClockMs))
  return Math.min(playback.sentMs, Math.max(playback.confirmedMs, likelyMs))
}

/** How far along the line the caller has surely heard at `nowMs`: what was echoed, or is long overdue. */
function surelyHeardMs(playback: Playback, nowMs: number): number {
  return Math.min(playback.sentMs, Math.max(playback.confirmedMs, clockMs(playback, nowMs) - LOST_AFTER_MS))
}

/** How long the carrier still plays what it has, in ms. */
export function leftMs(playback: Playback, nowMs: number): number {
  return playback.sentMs - lineHeardMs(playback, nowMs)
}

/** How long ago, by the clock, all that was sent and is not settled had played; negative while it is still to be heard. Infinite where there is nothing. */
export function silentMs(playback: Playback, nowMs: number): number {
  if (playback.utterances.length === 0) return Number.POSITIVE_INFINITY
  return clockMs(playback, nowMs) - playback.sentMs
}

/** Whether all that was sent has surely been played. */
export function isDrained(playback: Playback, nowMs: number): boolean {
  return surelyHeardMs(playback, nowMs) >= playback.sentMs
}

/** What had been heard when the carrier sent what arrives at `nowMs`: it has come one way, and the audio went the other. */
export function heardWhenSent(playback: Playback, nowMs: number): Heard[] {
  return heard(playback, nowMs - (Number.isFinite(playback.roundTripMs) ? playback.roundTripMs : 0))
}

/**
 * What was sent and heard of each item that is not settled, oldest first, if the buffer is cleared at `nowMs`. One that something
 * else was played in the middle of, as a word that bridges a wait, is still one.
 */
export function heard(playback: Playback, nowMs: number): Heard[] {
  return heardUntil(playback.utterances, lineHeardMs(playback, nowMs))
}

function heardUntil(utterances: readonly Utterance[], lineMs: number): Heard[] {
  const items = new Map<string, Heard>()
  for (const { itemId, responseId, startMs, sentMs } of utterances) {
    const before = items.get(itemId) ?? { sentMs: 0, heardMs: 0 }
    const heardMs = before.heardMs + Math.min(sentMs, Math.max(0, lineMs - startMs))
    items.set(itemId, { itemId, responseId, sentMs: before.sentMs + sentMs, heardMs })
  }
  return [...items.values()].map((one) => whole(one))
}

function whole({ itemId, responseId, sentMs, heardMs }: Heard): Heard {
  return { itemId, responseId, sentMs: Math.floor(sentMs), heardMs: Math.floor(heardMs) }
}

/** How much of an item was sent, of what is not settled. */
export function sentOf({ utterances }: Playback, itemId: string): number {
  return utterances.reduce((ms, one) => (one.itemId === itemId ? ms + one.sentMs : ms), 0)
}

/**
 * Takes out the utterances that were surely heard whole: bounds memory on long calls. Those of the active response stay,
 * because more of them may follow.
 */
export function settle(
  playback: Playback,
  activeResponseId: string | null,
  nowMs: number,
): { playback: Playback; settled: Heard[] } {
  const [oldest] = playback.utterances
  if (!oldest || oldest.responseId === activeResponseId) return { playback, settled: [] }
  const surelyMs = surelyHeardMs(playback, nowMs)
  const isHeard = (u: Utterance) => u.responseId !== activeResponseId && u.startMs + u.sentMs <= surelyMs
  if (!playback.utterances.some(isHeard)) return { playback, settled: [] }
  const open = new Set(playback.utterances.filter((u) => !isHeard(u)).map(({ itemId }) => itemId))
  const over = playback.utterances.filter(({ itemId }) => !open.has(itemId))
  const utterances = playback.utterances.filter(({ itemId }) => open.has(itemId))
  return { playback: { ...playback, utterances }, settled: heardUntil(over, surelyMs) }
}

/** The carrier's buffer is being cleared: a new line begins, with what was learned of the way there and back. */
export function cleared(playback: Playback): Playback {
  return { ...SILENT, roundTripMs: playback.roundTripMs }
}
