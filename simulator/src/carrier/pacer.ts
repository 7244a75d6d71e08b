import { FRAME_MS } from '../audio/mulaw.ts'
import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

// After a longer stop of the process the missed frames are skipped: a line does not replay what nobody carried.
const MOST_LATE_MS = 2000

/** What a pacer runs with. `jitterMs` is read at each frame, so it can change meanwhile. */
export type PacerOptions = { clock: Clock; random: Random; jitterMs: () => number; tick: () => void }

/**
 * Calls `tick` for each 20 ms of the line, on an absolute schedule: frame n is due at start + 20 n plus up to
 * `jitterMs`, whatever happened before, so late frames are caught up and the clock never drifts. Returns its stop.
 */
export function startPacer({ clock, random, jitterMs, tick }: PacerOptions): () => void {
  let dueMs = clock.nowMs()
  let stopped = false
  let cancel = () => {}
  const schedule = () => {
    const wanted = dueMs + random() * jitterMs()
    cancel = clock.after(wanted - clock.nowMs(), run)
  }
  const run = () => {
    if (clock.nowMs() - dueMs > MOST_LATE_MS) dueMs = clock.nowMs()
    dueMs += FRAME_MS
    tick()
    if (!stopped) schedule()
  }
  schedule()
  return () => {
    stopped = true
    cancel()
  }
}
