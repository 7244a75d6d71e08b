/**
 * Loaded into the service before its own code, by a process that watches what it holds on to (`--import`):
 * answers over the channel between the two. The service knows nothing of it, and nobody else can ask.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Holdings } from './holdings.ts'

setFlagsFromString('--expose-gc')
const collect: unknown = runInNewContext('gc')

/** Twice, because what a finaliser lets go of is collected the next time. */
function collected(): number {
  for (let i = 0; i < 2; i++) if (typeof collect === 'function') collect()
  return process.memoryUsage().heapUsed
}

function holdings(): Holdings {
  const handles: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1
  return { heapBytes: collected(), handles }
}

process.on('message', (message) => {
  if (message === 'holdings') process.send?.(holdings())
})
// The channel alone keeps no process alive.
process.channel?.unref()
