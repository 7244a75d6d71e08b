/**
 * JSON text that is the same for every order of keys and every amount of white space, so that equal documents have equal
 * texts. Members whose value is `undefined` are left out, as `JSON.stringify` does.
 *
 * @throws TypeError for what JSON cannot hold (a bigint, a cycle).
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => (isPlainObject(member) ? sorted(member) : member))
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sorted(object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)))
}
