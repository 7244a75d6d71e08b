type Schema = { type?: string; properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[] }

const WHOLE = /^-?\d{1,16}$/
const DECIMAL = /^-?\d{1,16}(?:\.\d{1,16})?$/

const READERS: Record<string, (text: string) => unknown> = {
  integer: (text) => (WHOLE.test(text) ? Number(text) : text),
  number: (text) => (DECIMAL.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : text),
}

/**
 * Turns the texts of a query, a path or headers into what their schema asks for: numbers, `true` and `false`, and a list where
 * a parameter that may repeat came once. What does not read as such stays a text, for the validator to refuse.
 *
 * Validators coerce by the rules of JavaScript, by which `0x10` and ` 5 ` are numbers and `1e400` is an infinite one that is
 * below every maximum.
 */
export function readTexts(schema: Schema, values: unknown): unknown {
  if (typeof values !== 'object' || values === null || !schema.properties) return values
  const read = { ...values } as Record<string, unknown>
  for (const [name, member] of Object.entries(schema.properties)) {
    if (Object.hasOwn(read, name)) read[name] = readText(member, read[name])
  }
  return read
}

function readText(schema: Schema, value: unknown): unknown {
  if (schema.anyOf) return readAsFirst(schema.anyOf, value)
  if (schema.type === 'array') return readList(schema.items ?? {}, value)
  return typeof value === 'string' ? (READERS[schema.type ?? '']?.(value) ?? value) : value
}

function readList(item: Schema, value: unknown): unknown[] {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return list.map((text) => readText(item, text))
}

/** Of several schemas the first that the text reads as. */
function readAsFirst(branches: Schema[], value: unknown): unknown {
  const readings = branches.map((branch) => readText(branch, value))
  return readings.find((reading) => reading !== value) ?? value
}
