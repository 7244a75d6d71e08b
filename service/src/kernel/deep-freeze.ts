/** Freezes a value of JSON to its leaves, and returns it. What is frozen already is taken to be so to its own leaves. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}
