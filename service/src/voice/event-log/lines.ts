import type { ModelEvent } from '../../platform/realtime/port.ts'
import { keysIn, pressed } from '../../records/pressed-keys.ts'
import { isBackchannel } from '../session/backchannel.ts'
import type { SessionEvent } from '../session/events.ts'
import { isAboutPerson } from '../session/lost-person.ts'
import { isNotThrough, targetIn, throughTo } from '../session/not-through.ts'
import type { Plan } from '../session/plan.ts'
import type { PastTurn, Resumption } from '../session/resumption.ts'
import { masked, withoutWords } from './without-words.ts'

type FromModel = Extract<SessionEvent, { type: 'model' }>
/** Whose words came last. */
type Words = { epoch: number; responseId: string; itemId: string }

/**
 * What a log begins with: what its session was made of, and when, in monotonic µs. `waitedMs`: how long its stream had been there by then;
 * an older log does not say so, and counts from when its session was made.
 */
export type LogHead = {
  v: 1
  version: string
  startUs: number
  waitedMs?: number
  plan: Plan
  resumption: Resumption | null
}

/** What happened to a session: the instant in monotonic µs, and a sketch of what followed. */
export type LoggedStep = { atUs: number; event: SessionEvent; sketch: string }

/** A log as it was read. `isWhole`: it ends where its session did. */
export type EventLog = { head: LogHead; steps: LoggedStep[]; isWhole: boolean }

/** The most frequent of those from a model that hold no words. */
const WORDLESS = new Set<ModelEvent['type']>([
  ...(['speech_started', 'speech_stopped', 'committed', 'item_added'] as const),
  ...(['response_started', 'audio_done', 'response_done'] as const),
])

/** What marks of ours are called; a carrier may echo any other, and lines in it. */
const OWN_MARK = /^[\w:.-]+$/

/** The line behind the last one, and that of a log which had become too long. */
export const END = 'end'
export const CUT = 'cut'

/** The first line of a log. */
export function headLine(head: LogHead): string {
  const { resumption } = head
  if (!resumption) return JSON.stringify(withoutWords(head, masked))
  const { turns, answered } = resumption
  // A conversation of hours: once.
  const shown = withoutWords({ ...head, resumption: { ...resumption, turns: [] } }, masked) as LogHead
  const shownTurns = turns.map((turn) => {
    const { seq, role, unheard } = turn
    return { seq, role, text: keptText(turn), unheard: masked(unheard) }
  })
  const more = { turns: shownTurns, ...(answered && { answered }) }
  return JSON.stringify({ ...shown, resumption: { ...shown.resumption, ...more } })
}

/** A session acts by what it has noted itself of who has its call, and of keys, and reads that in its record. */
function keptText(turn: PastTurn): string {
  if (isAboutPerson(turn) || isNotThrough(turn)) return turn.text
  const [target, keys] = turn.role === 'system' ? [targetIn(turn.text), keysIn(turn.text)] : [null, null]
  if (target !== null) return throughTo(masked(target))
  return keys === null ? masked(turn.text) : pressed(masked(keys))
}

/**
 * Writes what happens to a session, a line each: µs since the line before, the event, a sketch of what followed. What comes with
 * every piece of audio is written by hand: it is most of a call.
 */
export class LineWriter {
  #endKey: string
  #backchannels: readonly string[]
  #lastUs: number
  #responseId = ''
  #itemId = ''
  #words: Words | null = null

  constructor({ startUs, plan }: LogHead) {
    this.#lastUs = startUs
    this.#endKey = plan.dtmf.endKey
    this.#backchannels = plan.interruption.backchannels
  }

  #follow({ dtmf, interruption }: Plan): void {
    this.#endKey = dtmf.endKey
    this.#backchannels = interruption.backchannels
  }

  line(atUs: number, event: SessionEvent, sketch: string): string {
    const sinceUs = atUs - this.#lastUs
    this.#lastUs = atUs
    // Those of the agent who has the call from here on.
    if (event.type === 'hand_off') this.#follow(event.plan)
    return `${sinceUs} ${this.#eventText(event)}\t${sketch}\n`
  }

  #eventText(event: SessionEvent): string {
    if (event.type === 'mark') return OWN_MARK.test(event.name) ? `m ${event.name}` : JSON.stringify(event)
    if (event.type === 'caller_audio') return `a ${event.ms} ${event.loudMs}`
    if (event.type === 'dtmf') return JSON.stringify({ ...event, digit: this.#maskedKey(event.digit) })
    if (event.type === 'model') return this.#modelText(event)
    if (event.type === 'fired') return JSON.stringify(event)
    if (event.type !== 'sent') return JSON.stringify(withoutWords(event, masked))
    const isSame = event.responseId === this.#responseId && event.itemId === this.#itemId
    this.#responseId = event.responseId
    this.#itemId = event.itemId
    if (!isSame || event.arrivedAtMs !== undefined) return JSON.stringify(event)
    return event.mark === null ? `s ${event.ms}` : `s ${event.ms} ${event.mark}`
  }

  #modelText({ type, epoch, event }: FromModel): string {
    if (WORDLESS.has(event.type) || this.#isBackchannel(event)) return JSON.stringify({ type, epoch, event })
    if (event.type !== 'agent_transcript') return JSON.stringify({ type, epoch, event: withoutWords(event, masked) })
    const { responseId, itemId, text, final } = event
    const last = this.#words
    this.#words = { epoch, responseId, itemId }
    const isSame = last?.epoch === epoch && last.responseId === responseId && last.itemId === itemId
    if (isSame && !final) return `w ${JSON.stringify(masked(text))}`
    return JSON.stringify({ type, epoch, event: { ...event, text: masked(text) } })
  }

  /** Words that only say "go on" are told as they are: a session acts by them, and they say nothing else. */
  #isBackchannel(event: ModelEvent): boolean {
    return event.type === 'caller_transcript' && isBackchannel(event.text, this.#backchannels)
  }

  /** Which keys were pressed is nobody's business but that of the one that ends an entry. */
  #maskedKey(digit: string): string {
    if (digit === this.#endKey || !/\d/.test(digit)) return digit
    return this.#endKey === '0' ? '1' : '0'
  }
}

/** Reads the lines of a log; what follows the last whole line is left out. @throws Error when they are not those of a log. */
export function readLines(text: string): EventLog {
  const [first, ...lines] = text.split('\n').slice(0, -1)
  if (first === undefined) throw new Error('The log is empty.')
  const head = JSON.parse(first) as LogHead
  if (head.v !== 1) throw new Error(`The log is of a form that this version does not know: ${head.v}.`)
  const reader: Reader = { atUs: head.startUs, responseId: '', itemId: '', words: null }
  const isWhole = lines.at(-1) === END
  const steps = lines.filter((line) => line !== END && line !== CUT).map((line) => readStep(reader, line))
  return { head, steps, isWhole }
}

type Reader = { atUs: number; responseId: string; itemId: string; words: Words | null }

function readStep(reader: Reader, line: string): LoggedStep {
  const space = line.indexOf(' ')
  const tab = line.lastIndexOf('\t')
  reader.atUs += Number(line.slice(0, space))
  return {
    atUs: reader.atUs,
    event: readEvent(reader, line.slice(space + 1, tab)),
    sketch: line.slice(tab + 1),
  }
}

function readEvent(reader: Reader, text: string): SessionEvent {
  if (text.startsWith('{')) return remember(reader, JSON.parse(text) as SessionEvent)
  if (text.startsWith('w')) return wordsOf(reader, JSON.parse(text.slice(2)) as string)
  const [kind, ms, more] = text.split(' ')
  const { responseId, itemId } = reader
  if (kind === 's') return { type: 'sent', responseId, itemId, ms: Number(ms), mark: more ?? null }
  if (kind === 'a') return { type: 'caller_audio', ms: Number(ms), loudMs: Number(more) }
  return { type: 'mark', name: text.slice(2) }
}

function wordsOf({ words }: Reader, text: string): SessionEvent {
  if (!words) throw new Error('The log has words that are nobody’s.')
  const { epoch, responseId, itemId } = words
  return { type: 'model', epoch, event: { type: 'agent_transcript', responseId, itemId, text, final: false } }
}

function remember(reader: Reader, event: SessionEvent): SessionEvent {
  if (event.type === 'model' && event.event.type === 'agent_transcript') {
    const { responseId, itemId } = event.event
    reader.words = { epoch: event.epoch, responseId, itemId }
  }
  if (event.type === 'sent') Object.assign(reader, { responseId: event.responseId, itemId: event.itemId })
  return event
}
