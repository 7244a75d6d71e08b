import { availableParallelism, loadavg } from 'node:os'

/** Of programs that want to run, for each core. */
const CROWDED = 4

/**
 * Whether this machine has so much to do, in the last minute, that whatever is quick waits for its turn: how quick it is can only be judged
 * where there is nobody before it.
 */
export function isCrowded(): boolean {
  const [wanting = 0] = loadavg()
  return wanting / availableParallelism() > CROWDED
}
