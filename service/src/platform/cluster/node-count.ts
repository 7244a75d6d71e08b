import type { Clock } from '../../kernel/clock.ts'
import type { Db } from '../db/schema.ts'
import { countNodes } from '../nodes/heartbeat-store.ts'

const INTERVAL_MS = 1_000
/** A node writes its heartbeat each second. */
const SILENT_MS = 5_000
/** So many looks in a row must find fewer: once beats can be written again, those of some nodes come before others'. */
const LOOKS = 10

/** How many nodes share the database, counted each second; while it is away, or takes no beats, as many as there were. At least one. */
export function watchNodeCount({ db, clock }: { db: Db; clock: Clock }): { readonly nodes: number; stop(): void } {
  let counts = [1]
  async function count(): Promise<void> {
    counts = [...counts, await countNodes(db, SILENT_MS)].slice(-LOOKS)
  }
  const look = () => void count().catch(() => {})
  const stop = clock.every(INTERVAL_MS, look)
  look()
  return {
    get nodes() {
      return Math.max(...counts, 1)
    },
    stop,
  }
}
