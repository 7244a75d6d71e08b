/** The text as a column of the database can hold it: what models and tools write may have NUL or half a character in it. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '')
}
