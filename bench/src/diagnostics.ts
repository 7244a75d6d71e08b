/**
 * Loaded into the service before its own code, by a process that watches what it holds on to (`--import`):
 * answers over the channel between the two. The service knows nothing of it, and nobody else can ask.
 */
import { Socket } from 'node:net'
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

/**
 * How many connections the pool to the database has at rest is chance: as many as were wanted within the same moment of the last
 * ten seconds. They are bounded, and counted apart from other sockets, of which one more would hide behind one fewer of them.
 */
function poolConnections(): number {
  const { DATABASE_URL: url } = process.env
  const port = url === undefined ? Number.NaN : Number(new URL(url).port)
  const handles: unknown = Reflect.get(process, '_getActiveHandles').call(process)
  if (!Array.isArray(handles)) throw new Error('this Node does not tell its handles')
  return handles.filter((handle) => handle instanceof Socket && handle.remotePort === port).length
}

function holdings(): Holdings {
  const handles: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1
  const pool = poolConnections()
  if (pool > 0) handles['TCPSocketWrap'] = (handles['TCPSocketWrap'] ?? 0) - pool
  return { heapBytes: collected(), handles, poolConnections: pool }
}

process.on('message', (message) => {
  if (message === 'holdings') process.send?.(holdings())
})
// The channel alone keeps no process alive.
process.channel?.unref()
