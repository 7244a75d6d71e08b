import { isJsonObject } from './json-object.ts'

/**
 * JSON text that is the same for every order of keys and every amount of white space, so that equal documents have equal
 * texts. Members whose value is `undefined` are left out, as `JSON.stringify` does.
 *
 * @throws TypeError for what JSON cannot hold (a bigint, a cycle).
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => (isJsonObject(member) ? sorted(member) : member))
}

function sorted(object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)))
}
