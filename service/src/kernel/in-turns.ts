import type { Clock } from './clock.ts'

type Turns = { clock: Pick<Clock, 'monotonicMs'> /** Then nothing more is begun. */; isStopping: () => boolean }

/** Whatever else is done like this waits for as long. */
const GOES_ON_FOR_MS = 20_000

/**
 * Does a piece of the work that each item has, one after another, and goes on with those that have more, in turns, until none has, or
 * for 20 s: however many there are, each has had its first piece.
 *
 * @param piece returns whether there is more.
 */
export async function inTurns<Item>(
  { clock, isStopping }: Turns,
  items: readonly Item[],
  piece: (item: Item) => Promise<boolean>,
): Promise<void> {
  const endsMs = clock.monotonicMs() + GOES_ON_FOR_MS
  let mayBegin = () => !isStopping()
  for (let waiting = items; waiting.length > 0; ) {
    const more: Item[] = []
    for (const item of waiting) {
      if (!mayBegin()) return
      if (await piece(item)) more.push(item)
    }
    waiting = more
    mayBegin = () => !isStopping() && clock.monotonicMs() < endsMs
  }
}
