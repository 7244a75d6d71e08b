/** How often somebody is called, and how long after the call before. */
export function attemptsText(most: number, waits: number[]): string {
  if (most === 1) return 'One, and no more'
  const used = waits.slice(0, most - 1)
  return `${most} at most, after ${used.join(', ')} ${used.length === 1 && used[0] === 1 ? 'minute' : 'minutes'}`
}
