import { hash } from 'node:crypto'

/**
 * Makes of a schema what takes long to make, once for each text in a process: the text says all, and routes that make their schemas
 * anew, for another server for example, make the same ones.
 *
 * @param make gets the schema and its text. What it throws is thrown, each time that it is asked.
 */
export function oncePerText<Made extends object>(
  make: (schema: object, text: string) => Made,
): (schema: object) => Made {
  /** By a digest of the text, which may be long. */
  const made = new Map<string, Made>()
  /** What was seen before, of which the text need not be written to be known. */
  const seen = new WeakMap<object, Made>()
  const find = (schema: object): Made => {
    const text = JSON.stringify(schema)
    const digest = hash('sha256', text)
    const known = made.get(digest) ?? make(schema, text)
    made.set(digest, known)
    return known
  }
  return (schema) => {
    const known = seen.get(schema) ?? find(schema)
    seen.set(schema, known)
    return known
  }
}
