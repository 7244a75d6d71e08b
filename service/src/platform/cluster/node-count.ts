import type { Clock } from '../../kernel/clock.ts'
import type { Db } from '../db/schema.ts'
import { liveNodes } from '../nodes/heartbeat-store.ts'

const INTERVAL_MS = 1_000
/** A node writes its heartbeat each second. */
const SILENT_MS = 5_000

/** How many nodes share the database, counted each second; while it is away, as many as there were. At least one. */
export function watchNodeCount({ db, clock }: { db: Db; clock: Clock }): { readonly nodes: number; stop(): void } {
  let nodes = 1
  async function count(): Promise<void> {
    nodes = Math.max(1, (await liveNodes(db, SILENT_MS)).length)
  }
  const look = () => void count().catch(() => {})
  const stop = clock.every(INTERVAL_MS, look)
  look()
  return {
    get nodes() {
      return nodes
    },
    stop,
  }
}
