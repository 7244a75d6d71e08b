/** How often others have their turn while something is done: calls go on in each of them. */
export async function othersTurns<Done>(work: () => Promise<Done>): Promise<{ done: Done; turns: number }> {
  let turns = 0
  const turn = () => {
    turns += 1
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  try {
    const done = await work()
    return { done, turns }
  } finally {
    clearImmediate(next)
  }
}
