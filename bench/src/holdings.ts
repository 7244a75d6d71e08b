import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/**
 * What a process holds on to: its heap after a collection, and its sockets, timers and the like by kind; of the sockets those to its
 * database apart.
 */
export type Holdings = { heapBytes: number; handles: Record<string, number>; poolConnections: number }

/** Asks a child that was started with `diagnostics.ts`. */
export async function holdingsOf(child: ChildProcess): Promise<Holdings> {
  const answer = once(child, 'message')
  child.send('holdings')
  const [holdings] = await answer
  return holdings
}

/** The kinds of handles of which there are more, or fewer, than before; empty when there are as many of each. */
export function handleChanges(before: Holdings, after: Holdings): Record<string, number> {
  const kinds = new Set([...Object.keys(before.handles), ...Object.keys(after.handles)])
  const changes = [...kinds].map((kind) => [kind, (after.handles[kind] ?? 0) - (before.handles[kind] ?? 0)] as const)
  return Object.fromEntries(changes.filter(([, change]) => change !== 0))
}
