import { type PGlite, protocol } from '@electric-sql/pglite'
import type { RawResult } from './pglite-protocol.ts'
import { PreparedNames } from './prepared.ts'

const { serialize, messages } = protocol

type Answer = Awaited<ReturnType<PGlite['execProtocolStream']>>
type SqlError = InstanceType<typeof messages.DatabaseError>
type Field = InstanceType<typeof messages.RowDescriptionMessage>['fields'][number]

/** What PostgreSQL says of a prepared statement whose columns are others by now. */
const OUTDATED = '0A000'
/** What is prepared is gone with these. */
const FORGETTING = new Set(['DISCARD ALL', 'DEALLOCATE ALL'])
/** PostgreSQL is in no transaction. */
const IDLE = 'I'

/**
 * Runs statements in PGlite, each in one call of its PostgreSQL, where PGlite's own `query` makes six. Those that are marked as
 * `prepared` are read once, as on a server. Values go in and come out as PostgreSQL's text.
 */
export class PgliteStatements {
  readonly #pglite: PGlite
  readonly #names = new PreparedNames()
  readonly #prepared = new Set<string>()
  #status = IDLE

  constructor(pglite: PGlite) {
    this.#pglite = pglite
  }

  /**
   * One statement with parameters, or several without any: then the result is that of the last one.
   *
   * @throws the protocol's DatabaseError for what PostgreSQL refuses.
   */
  async run(sql: string, parameters: readonly (string | null)[] | null): Promise<RawResult> {
    return parameters === null ? resultOf(await this.#ask([serialize.query(sql)])) : this.#runOne(sql, parameters)
  }

  async #runOne(sql: string, parameters: readonly (string | null)[]): Promise<RawResult> {
    const wasIdle = this.#status === IDLE
    const name = this.#names.nameOf(sql) ?? ''
    const isReady = this.#prepared.has(name)
    const answer = await this.#ask([
      ...(isReady ? [] : [serialize.parse({ name, text: sql })]),
      serialize.bind({ statement: name, values: [...parameters] }),
      serialize.describe({ type: 'P' }),
      serialize.execute({}),
      serialize.sync(),
    ])
    if (name === '') return resultOf(answer)
    const error = errorIn(answer)
    if (error === undefined) this.#prepared.add(name)
    if (error === undefined || (isReady && error.code !== OUTDATED)) return resultOf(answer)
    this.#prepared.delete(name)
    await this.#ask([closing(name), serialize.sync()])
    // What failed in a transaction of its own has done nothing.
    if (isReady && wasIdle) return this.#runOne(sql, parameters)
    throw error
  }

  async #ask(requests: Uint8Array[]): Promise<Answer> {
    const answer = await this.#pglite.execProtocolStream(Buffer.concat(requests), { throwOnError: false })
    for (const message of answer) {
      if (message instanceof messages.ReadyForQueryMessage) this.#status = message.status
      else if (message instanceof messages.CommandCompleteMessage && FORGETTING.has(message.text))
        this.#prepared.clear()
    }
    return answer
  }
}

function closing(name: string): Uint8Array {
  return serialize.close({ type: 'S', name })
}

function errorIn(answer: Answer): SqlError | undefined {
  return answer.find((message) => message instanceof messages.DatabaseError)
}

/** The last result of an answer. @throws the error that is in it. */
function resultOf(answer: Answer): RawResult {
  const error = errorIn(answer)
  if (error) throw error
  let last = nothing()
  let next = nothing()
  for (const message of answer) {
    if (message instanceof messages.RowDescriptionMessage) next.columns = columnsOf(message.fields)
    else if (message instanceof messages.DataRowMessage) next.rows.push(withoutHoles(message.fields, (value) => value))
    else if (message instanceof messages.CommandCompleteMessage) {
      last = { ...next, ...readTag(message.text) }
      next = nothing()
    }
  }
  return last
}

function nothing(): RawResult {
  return { command: '', affectedRows: 0, columns: { names: [], typeIds: [] }, rows: [] }
}

function columnsOf(fields: Field[]): RawResult['columns'] {
  return {
    names: withoutHoles(fields, ({ name }) => name),
    typeIds: withoutHoles(fields, ({ dataTypeID }) => dataTypeID),
  }
}

/** The protocol makes its arrays by their length. Such a one has room for holes, and so has what `map` makes of it. */
function withoutHoles<T, R>(values: T[], read: (value: T) => R): R[] {
  return Array.from(values, read)
}

/** A tag that counts rows ends in their number (`SELECT 2`, `INSERT 0 5`), any other in a word (`CREATE TABLE`). */
function readTag(tag: string): Pick<RawResult, 'command' | 'affectedRows'> {
  const words = tag.split(' ')
  return { command: words[0] ?? '', affectedRows: Number.parseInt(words.at(-1) ?? '', 10) || 0 }
}
