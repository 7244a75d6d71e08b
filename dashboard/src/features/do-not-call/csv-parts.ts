/** A part of a list that is sent by itself: the first line of the list, and some of its records. */
export type CsvPart = {
  csv: string
  /** Lines of the list that stand before those of the part, less the first line that each part has. */
  before: number
}

/** The service takes 2 MiB; smaller parts show how far it has come. */
const PART_CHARS = 200_000

/** Divides a CSV between records: a line break within quotes ends none. */
export function csvParts(text: string, partChars = PART_CHARS): CsvPart[] {
  const [head = '', ...records] = recordsOf(text)
  const parts: CsvPart[] = []
  let [csv, before, lines] = [head, 0, 0]
  for (const record of records) {
    if (csv.length > head.length && csv.length + record.length > partChars) {
      parts.push({ csv, before })
      ;[csv, before, lines] = [head, before + lines, 0]
    }
    csv += record
    lines += linesIn(record)
  }
  return [...parts, { csv, before }]
}

/** Each with the line break that ends it. */
function recordsOf(text: string): string[] {
  const records: string[] = []
  let [from, isQuoted] = [0, false]
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]
    if (char === '"') isQuoted = !isQuoted
    if (char !== '\n' || isQuoted) continue
    records.push(text.slice(from, at + 1))
    from = at + 1
  }
  return from < text.length ? [...records, text.slice(from)] : records
}

function linesIn(record: string): number {
  return record.split('\n').length - (record.endsWith('\n') ? 1 : 0)
}
