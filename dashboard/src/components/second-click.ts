/** Whether a click is the second of a double one: the first has done what was meant, and by now something else may stand in its place. */
export function isSecondClick({ detail }: { detail: number }): boolean {
  return detail > 1
}
