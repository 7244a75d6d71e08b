const ROUNDS = 5
/** What is done in less may have been anything: a collection of garbage, the compiler at work. */
const NOISE_MS = 10

/**
 * How many times more a task of `size` costs than one of a fourth of it: about 4 where the cost grows with the size, 16 where it
 * grows with its square. The least of a few rounds of the processor's own time, which other processes do not lengthen.
 */
export function growth(task: (size: number) => void, size: number): number {
  const quarter = leastMs(() => task(size / 4))
  const whole = leastMs(() => task(size))
  return (whole + NOISE_MS) / (quarter + NOISE_MS)
}

function leastMs(task: () => void): number {
  return Math.min(...Array.from({ length: ROUNDS }, () => cpuMs(task)))
}

function cpuMs(task: () => void): number {
  const begun = process.cpuUsage()
  task()
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1_000
}
