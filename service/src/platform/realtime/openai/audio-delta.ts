import { base64End, DIGIT, ID, PLAIN, runEnd, standsAt } from '../../json-bytes.ts'
import { partOf } from '../../read-room.ts'
import { AUDIO_DELTA, WORDS_DELTA } from './frames.ts'
import { MAX_ID_CHARS } from './members.ts'

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const ZERO = 0x30
const OPENING = 0x7b
const CLOSING = 0x7d

/** What a delta brings, and how its event calls itself. */
type DeltaKind = { typeValue: Buffer; brings: 'base64' | 'words' }

/** The model's speech. */
export const AUDIO: DeltaKind = { typeValue: Buffer.from(`"${AUDIO_DELTA}"`), brings: 'base64' }
/** The words of it. */
export const WORDS: DeltaKind = { typeValue: Buffer.from(`"${WORDS_DELTA}"`), brings: 'words' }

type Kind = 'type' | 'id' | 'index' | 'delta'
type Member = { key: Buffer; bit: number; kind: Kind }

const RESPONSE_ID = 1
const ITEM_ID = 2
const DELTA = 4
const TYPE = 8
const NEEDED = RESPONSE_ID | ITEM_ID | DELTA | TYPE

/** The members of a delta by their first letter, which is another for each; anything else is left to the slow way. */
const MEMBERS: (Member | undefined)[] = []
add('response_id', RESPONSE_ID, 'id')
add('item_id', ITEM_ID, 'id')
add('delta', DELTA, 'delta')
add('type', TYPE, 'type')
add('event_id', 16, 'id')
add('output_index', 32, 'index')
add('content_index', 64, 'index')

function add(name: string, bit: number, kind: Kind): void {
  MEMBERS[name.charCodeAt(0)] = { key: Buffer.from(`"${name}":`), bit, kind }
}

/**
 * Takes the model's audio out of its events without parsing them, 5 kB of base64 each, and the words that come with it.
 *
 * Members may come in any order, with or without one space behind each colon and comma. A frame is taken only if it is
 * whole, each member in it is known and stands there once, ids and words hold nothing that JSON would escape, and the
 * audio is base64 in whole groups. Words that are more than ASCII are left to JSON. One reader for each connection: it remembers the ids of the delta before, so that a delta of
 * the same answer makes no string.
 */
export class DeltaReader {
  readonly #responseId = new RepeatedText()
  readonly #itemId = new RepeatedText()
  #payloadStart = 0
  #payloadEnd = 0

  /** The answer of the delta that was read last. */
  get responseId(): string {
    return this.#responseId.text
  }

  /** The item of the delta that was read last. */
  get itemId(): string {
    return this.#itemId.text
  }

  /** The base64, or the words, as a view into `frame`; null when this is something else or unusual, and JSON must decide. */
  read(frame: Buffer, wanted: DeltaKind): Buffer | null {
    if (frame[0] !== OPENING || frame[frame.length - 1] !== CLOSING) return null
    let seen = 0
    let at = 1
    while (frame[at] === QUOTE) {
      const member = MEMBERS[frame[at + 1] as number]
      if (!member || (seen & member.bit) !== 0 || !standsAt(frame, at, member.key)) return null
      seen |= member.bit
      const end = this.#valueEnd(frame, afterSpace(frame, at + member.key.length), member, wanted)
      if (end === -1) return null
      if (frame[end] === CLOSING) return end === frame.length - 1 && isWhole(seen) ? this.#payload(frame) : null
      if (frame[end] !== COMMA) return null
      at = afterSpace(frame, end + 1)
    }
    return null
  }

  #payload(frame: Buffer): Buffer {
    return partOf(frame, this.#payloadStart, this.#payloadEnd)
  }

  /** Where the value of a member ends that begins at `at`; -1 when it is not as usual. */
  #valueEnd(frame: Buffer, at: number, { kind, bit }: Member, { typeValue, brings }: DeltaKind): number {
    if (kind === 'index') return indexEnd(frame, at)
    if (kind === 'type') return standsAt(frame, at, typeValue) ? at + typeValue.length : -1
    if (frame[at] !== QUOTE) return -1
    const start = at + 1
    const isBase64 = kind === 'delta' && brings === 'base64'
    const end = isBase64 ? base64End(frame, start) : runEnd(frame, start, kind === 'id' ? ID : PLAIN)
    if (end === -1 || frame[end] !== QUOTE || (kind === 'id' && end - start > MAX_ID_CHARS)) return -1
    this.#note(frame, bit, start, end)
    return end + 1
  }

  #note(frame: Buffer, bit: number, start: number, end: number): void {
    if (bit === RESPONSE_ID) this.#responseId.read(frame, start, end)
    else if (bit === ITEM_ID) this.#itemId.read(frame, start, end)
    else if (bit === DELTA) {
      this.#payloadStart = start
      this.#payloadEnd = end
    }
  }
}

function isWhole(seen: number): boolean {
  return (seen & NEEDED) === NEEDED
}

function afterSpace(frame: Buffer, at: number): number {
  return frame[at] === SPACE ? at + 1 : at
}

/** JSON knows no number with a leading zero. */
function indexEnd(frame: Buffer, at: number): number {
  const end = runEnd(frame, at, DIGIT)
  return end === at || (frame[at] === ZERO && end > at + 1) ? -1 : end
}

/**
 * A text that is mostly the same as the time before: the string is made anew only when the bytes are others. They lie in
 * memory of their own, because a small buffer out of Node's pool keeps the whole pool, 64 KiB, for as long as it lives.
 */
class RepeatedText {
  readonly #memory = Buffer.allocUnsafeSlow(MAX_ID_CHARS)
  #bytes = this.#memory.subarray(0, 0)
  #text = ''

  get text(): string {
    return this.#text
  }

  read(frame: Buffer, start: number, end: number): void {
    const length = end - start
    if (length === this.#bytes.length && standsAt(frame, start, this.#bytes)) return
    this.#text = frame.toString('latin1', start, end)
    this.#bytes = this.#memory.subarray(0, length)
    frame.copy(this.#bytes, 0, start, end)
  }
}
