import { Kysely, type TransactionBuilder } from 'kysely'
import type { Cancel } from '../../kernel/clock.ts'
import { ofNoRequest } from '../current-request.ts'
import type { Db, Schema, Tx } from './schema.ts'

/** Told what transactions have noted under its topic, once they are committed. */
type Listener = (notes: string[]) => void

const notesOf = new WeakMap<Tx, Map<string, Set<string>>>()

/**
 * Notes in a transaction what those who listen to the topic are told as soon as it is committed, in this process; of one that
 * is rolled back nobody hears. What must not be missed stands in the database: this only makes others look sooner.
 */
export function noteForCommit(tx: Tx, topic: string, note: string): void {
  const topics = notesOf.get(tx) ?? new Map<string, Set<string>>()
  notesOf.set(tx, topics)
  topics.set(topic, (topics.get(topic) ?? new Set()).add(note))
}

/** Is told what is noted on the topic by transactions of this handle, until cancelled. On any other handle never. */
export function onCommit(db: Db, topic: string, listener: Listener): Cancel {
  return db instanceof CommitTellingDb ? db.listen(topic, listener) : () => undefined
}

/** A handle that tells of its commits. Transactions with an isolation level of their own are not told of. */
export class CommitTellingDb extends Kysely<Schema> {
  readonly #listeners = new Map<string, Set<Listener>>()

  listen(topic: string, listener: Listener): Cancel {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners.add(listener))
    return () => void listeners.delete(listener)
  }

  override transaction(): TransactionBuilder<Schema> {
    const builder = super.transaction()
    const execute = builder.execute.bind(builder)
    // Not written right into the member: what such a function reaches V8 keeps until its slow collector comes.
    const telling: typeof execute = async (work) => {
      let noted: Map<string, Set<string>> | undefined
      const result = await execute(async (tx) => {
        const done = await work(tx)
        noted = notesOf.get(tx)
        return done
      })
      if (noted) this.#tell(noted)
      return result
    }
    builder.execute = telling
    return builder
  }

  #tell(noted: Map<string, Set<string>>): void {
    for (const [topic, notes] of noted) {
      for (const listener of this.#listeners.get(topic) ?? []) {
        // What is committed has succeeded, whatever becomes of those who hear of it; and what they do then they may do for others as well.
        try {
          ofNoRequest(() => listener([...notes]))
        } catch {}
      }
    }
  }
}
