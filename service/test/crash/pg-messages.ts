/** A message of PostgreSQL's protocol, whole, as it is on the wire. `type` is null for the first one of a client. */
export type PgMessage = { type: string | null; bytes: Buffer }

const LENGTH_BYTES = 4

/** Cuts a stream of bytes into messages. One for each direction of a connection; a client's first message has no type. */
export class PgMessageReader {
  #rest: Buffer = Buffer.alloc(0)
  #isFirst: boolean

  constructor(side: 'client' | 'server') {
    this.#isFirst = side === 'client'
  }

  /** The messages that are whole now, in order. */
  read(bytes: Buffer): PgMessage[] {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const messages: PgMessage[] = []
    for (let message = this.#next(); message; message = this.#next()) messages.push(message)
    return messages
  }

  #next(): PgMessage | null {
    const typeBytes = this.#isFirst ? 0 : 1
    if (this.#rest.length < typeBytes + LENGTH_BYTES) return null
    const length = typeBytes + this.#rest.readInt32BE(typeBytes)
    if (this.#rest.length < length) return null
    const bytes = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    this.#isFirst = false
    return { type: typeBytes === 0 ? null : String.fromCharCode(Number(bytes[0])), bytes }
  }
}

/** Finds the statements in what a client sends. One for each connection: there a prepared statement has a name. */
export class StatementReader {
  readonly #prepared = new Map<string, string>()

  /** The statement that is executed with this message; null when none is. A prepared one is when it is bound, each time. */
  statementIn({ type, bytes }: PgMessage): string | null {
    const start = 1 + LENGTH_BYTES
    if (type === 'Q') return textAt(bytes, start)
    if (type !== 'P' && type !== 'B') return null
    const second = bytes.indexOf(0, start) + 1
    // The portal comes first.
    if (type === 'B') return this.#prepared.get(textAt(bytes, second)) ?? null
    const [name, text] = [textAt(bytes, start), textAt(bytes, second)]
    if (name === '') return text
    this.#prepared.set(name, text)
    return null
  }
}

/** How many rows a finished statement was about, as the server's message says; 0 for one that has none. */
export function rowsIn({ type, bytes }: PgMessage): number {
  if (type !== 'C') return 0
  return Number(/\d+$/.exec(textAt(bytes, 1 + LENGTH_BYTES))?.[0] ?? 0)
}

function textAt(bytes: Buffer, at: number): string {
  return bytes.toString('utf8', at, bytes.indexOf(0, at))
}
