/**
 * The fields of a form that somebody has changed since it began. A form that sends these alone leaves the others as they are, whatever
 * somebody else has made of them meanwhile.
 */
export function changedFields<Values extends object>(begun: Values, values: NoInfer<Values>): Partial<Values> {
  const changed = Object.entries(values).filter(([name, value]) => {
    return name in begun && !isSame(begun[name as keyof Values], value)
  })
  return Object.fromEntries(changed) as Partial<Values>
}

/** Whether a field says the same; a list is one of the same members. */
export function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
