import type { Clock } from '../../kernel/clock.ts'

/** Connections of one server end within this, when it goes. */
const TOGETHER_MS = 1_000

/** Tells once of connections that are lost together, as with their server: a second after the first, by its error, and how many. */
export function lostTogether(
  clock: Pick<Clock, 'after'>,
  tell: (err: Error, connections: number) => void,
): (err: Error) => void {
  let connections = 0
  return (err) => {
    connections += 1
    if (connections > 1) return
    clock.after(TOGETHER_MS, () => {
      tell(err, connections)
      connections = 0
    })
  }
}
