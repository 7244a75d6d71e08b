import pg from 'pg'
import { type Cancel, systemClock } from '../../kernel/clock.ts'

const LOOK_INTERVAL_MS = 1_000
/** Hardly a statement of ours takes so long. */
const DOUBTED_AFTER_MS = 5_000
const ASKED_WITHIN_MS = 5_000

/** `sinceMs`: since when it waits for the next of them. */
type Waiting = { answers: number; sinceMs: number }
type Doubted = { client: pg.PoolClient; sinceMs: number }

/**
 * Finds statements whose answer will never come, because the server is another one by now, or the way to it was forgotten: nothing says so
 * on their connections. It asks over a new connection whether the server still works at them, and ends the connections of
 * those at which it does not. A statement that is only slow is left alone, and so is all while the server does not answer.
 */
export class LostAnswers {
  readonly #config: pg.ClientConfig
  /**
   * For how many answers each connection waits. One that waits for none is taken out by the next look: a map that is there for long makes
   * a table among the old objects each time that it is emptied, which would be once for each statement.
   */
  readonly #waiting = new Map<pg.PoolClient, Waiting>()
  readonly #cancel: Cancel
  #asking: Promise<void> | null = null

  constructor(config: pg.ClientConfig) {
    this.#config = { ...config, query_timeout: ASKED_WITHIN_MS }
    this.#cancel = systemClock.every(LOOK_INTERVAL_MS, () => this.#look())
  }

  /** The connection waits for an answer from now on. */
  waits(client: pg.PoolClient): void {
    const waiting = this.#waiting.get(client)
    if (!waiting) this.#waiting.set(client, { answers: 1, sinceMs: systemClock.monotonicMs() })
    else {
      if (waiting.answers === 0) waiting.sinceMs = systemClock.monotonicMs()
      waiting.answers += 1
    }
  }

  answered(client: pg.PoolClient): void {
    const waiting = this.#waiting.get(client)
    if (!waiting) return
    waiting.answers -= 1
    waiting.sinceMs = systemClock.monotonicMs()
  }

  async close(): Promise<void> {
    this.#cancel()
    await this.#asking
  }

  #look(): void {
    const beforeMs = systemClock.monotonicMs() - DOUBTED_AFTER_MS
    for (const [client, { answers }] of this.#waiting) if (answers === 0) this.#waiting.delete(client)
    const doubted = [...this.#waiting]
      .filter(([, { sinceMs }]) => sinceMs <= beforeMs)
      .map(([client, { sinceMs }]): Doubted => ({ client, sinceMs }))
    if (doubted.length === 0) return
    // Away or full: the next look asks again.
    this.#asking ??= this.#endLost(doubted)
      .catch(() => undefined)
      .finally(() => {
        this.#asking = null
      })
  }

  async #endLost(doubted: Doubted[]): Promise<void> {
    const lost = new Set(await this.#askFor(doubted.map(({ client }) => processIdOf(client))))
    const ends = doubted
      // Another statement of the same connection is another matter.
      .filter(({ client, sinceMs }) => lost.has(processIdOf(client)) && this.#waitsSince(client) === sinceMs)
      .map(({ client }) => client.end())
    await Promise.all(ends)
  }

  /** Null when it waits for nothing. */
  #waitsSince(client: pg.PoolClient): number | null {
    const { answers = 0, sinceMs = 0 } = this.#waiting.get(client) ?? {}
    return answers > 0 ? sinceMs : null
  }

  /** Those at which the server does not work. */
  async #askFor(processIds: number[]): Promise<number[]> {
    const client = new pg.Client(this.#config)
    // What breaks is told by the query.
    client.on('error', () => undefined)
    try {
      await client.connect()
      const { rows } = await client.query<{ id: number }>(LOST, [processIds, processIdOf(client)])
      return rows.map(({ id }) => id)
    } finally {
      void client.end().catch(() => undefined)
    }
  }
}

/** A pooler in between has other numbers than the server: nothing can be told then. One that has just answered is not lost. */
const LOST = `
  select id from unnest($1::int4[]) as id
   where pg_backend_pid() = $2::int4
     and not exists (select from pg_stat_activity
                      where pid = id and (state is null or state in ('active', 'fastpath function call', 'disabled')
                                          or state_change > now() - interval '2 seconds'))`

function processIdOf(client: pg.ClientBase): number {
  return (client as pg.ClientBase & { processID: number }).processID
}
