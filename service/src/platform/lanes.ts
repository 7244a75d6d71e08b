/** Does work, in the order in which it is asked for, as far as there is a lane for it. */
export type Lanes = <T>(work: () => Promise<T>) => Promise<T>

/** So many at a time. Who waits for a lane is kept in memory: for whoever asks for a few things, one after the other. */
export function makeLanes(count: number): Lanes {
  const waiting: (() => void)[] = []
  let free = count

  function leave(): void {
    const next = waiting.shift()
    if (next) next()
    else free += 1
  }

  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    return Promise.try(work).finally(leave)
  }
}
