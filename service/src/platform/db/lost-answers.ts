import pg from 'pg'
import { type Cancel, systemClock } from '../../kernel/clock.ts'

const LOOK_INTERVAL_MS = 1_000
/** Hardly a statement of ours takes so long. */
const DOUBTED_AFTER_MS = 5_000
const ASKED_WITHIN_MS = 5_000

type Waiting = { answers: number; sinceMs: number }

/**
 * Finds statements whose answer will never come, because the server is another one by now, or the way to it was forgotten: nothing says so
 * on their connections. It asks over a new connection whether the server still works at them, and ends the connections of
 * those at which it does not. A statement that is only slow is left alone, and so is all while the server does not answer.
 */
export class LostAnswers {
  readonly #config: pg.ClientConfig
  /** Since when each connection waits for an answer, and for how many. */
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
    if (waiting) waiting.answers += 1
    else this.#waiting.set(client, { answers: 1, sinceMs: systemClock.monotonicMs() })
  }

  answered(client: pg.PoolClient): void {
    const { answers = 1 } = this.#waiting.get(client) ?? {}
    if (answers === 1) this.#waiting.delete(client)
    else this.#waiting.set(client, { answers: answers - 1, sinceMs: systemClock.monotonicMs() })
  }

  async close(): Promise<void> {
    this.#cancel()
    await this.#asking
  }

  #look(): void {
    const beforeMs = systemClock.monotonicMs() - DOUBTED_AFTER_MS
    const doubted = [...this.#waiting].filter(([, { sinceMs }]) => sinceMs <= beforeMs)
    if (doubted.length === 0) return
    // Away or full: the next look asks again.
    this.#asking ??= this.#endLost(doubted)
      .catch(() => undefined)
      .finally(() => {
        this.#asking = null
      })
  }

  async #endLost(doubted: [pg.PoolClient, Waiting][]): Promise<void> {
    const lost = new Set(await this.#askFor(doubted.map(([client]) => processIdOf(client))))
    const ends = doubted
      // Another statement of the same connection is another matter.
      .filter(([client, waiting]) => lost.has(processIdOf(client)) && this.#waiting.get(client) === waiting)
      .map(([client]) => client.end())
    await Promise.all(ends)
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
