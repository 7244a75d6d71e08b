import { Gauge, type Registry } from 'prom-client'
import { type Clock, waitAtMost } from '../kernel/clock.ts'
import { OUTBOX_TABLES, type OutboxTable } from './outbox-store.ts'

type Parts = { clock: Clock /** Asks the database. */; waiting: () => Promise<Record<OutboxTable, number>> }

/** Whoever reads the metrics is not kept by a database that is away. */
const TOLD_WITHIN_MS = 500
/** More than these are not counted: that there are so many tells enough. */
export const MOST_COUNTED = 10_000

/** How much waits to be delivered, over all nodes. It is asked for when the metrics are read, one time at once. */
export function makeOutboxMetrics(registry: Registry, { clock, waiting }: Parts): void {
  let asking: Promise<Record<OutboxTable, number>> | null = null

  function ask(): Promise<Record<OutboxTable, number>> {
    asking ??= waiting().finally(() => {
      asking = null
    })
    return asking
  }

  new Gauge({
    name: 'outbox_waiting',
    help: `Rows of an outbox that are to be delivered, for the first time or again, over all nodes: ${MOST_COUNTED} at most. Not there while the database does not tell.`,
    labelNames: ['table'],
    registers: [registry],
    async collect() {
      this.reset()
      const counts = await waitAtMost(clock, ask(), TOLD_WITHIN_MS)
      if (counts) for (const table of OUTBOX_TABLES) this.set({ table }, counts[table])
    },
  })
}
