/**
 * Writes a query's parameter as the text that PostgreSQL reads, by the rules of `pg`: an array is an array of the
 * database, so a document that is an array must be given as JSON text; any other object is JSON.
 *
 * @throws RangeError for an invalid Date, TypeError for what is no value, such as a function.
 */
export function encodeParameter(value: unknown): string | null {
  if (value === null || value === undefined) return null
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value)
    case 'object':
      return objectText(value)
    default:
      throw new TypeError(`a ${typeof value} cannot be a parameter`)
  }
}

function objectText(value: object): string {
  if (value instanceof Date) return instantText(value)
  if (ArrayBuffer.isView(value)) return bytesText(value)
  return Array.isArray(value) ? arrayText(value) : JSON.stringify(value)
}

/** PostgreSQL counts years as people do: none is 0, those before 1 have an era, and more than four digits have no sign. */
function instantText(instant: Date): string {
  const text = instant.toISOString()
  const year = instant.getUTCFullYear()
  if (year > 0 && year <= 9999) return text
  const rest = text.slice(text.indexOf('-', 1))
  return year > 0 ? `${year}${rest}` : `${String(1 - year).padStart(4, '0')}${rest} BC`
}

function bytesText(view: ArrayBufferView): string {
  return `\\x${Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('hex')}`
}

function arrayText(items: unknown[]): string {
  return `{${items.map(elementText).join(',')}}`
}

function elementText(item: unknown): string {
  if (Array.isArray(item)) return arrayText(item)
  const text = encodeParameter(item)
  return text === null ? 'NULL' : `"${text.replace(/["\\]/g, '\\$&')}"`
}
