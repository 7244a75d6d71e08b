import { AppError, invalidRequest } from '../kernel/errors.ts'
import { isPhoneNumber } from '../kernel/phone.ts'
import { CsvReader, type CsvRecord, CsvRunaway, csvLine } from '../platform/http/csv.ts'
import { storable } from '../records/storable.ts'
import type { NewDncEntry } from './do-not-call.ts'
import type { DncEntryRow } from './do-not-call-store.ts'

/** A row of a list of numbers: an entry, or what is wrong with it. */
export type ReadRow = { line: number; entry: NewDncEntry } | { line: number; error: string }

const COLUMNS = ['phone', 'reason']
/** Where such entries come from. */
const SOURCE = 'import'
const MAX_REASON_CHARS = 2_000

/** The first line of a list of numbers. */
export const CSV_HEADER = csvLine(COLUMNS)

/** An entry as a line of a list. */
export function entryLine({ phone, reason }: DncEntryRow): string {
  return csvLine([phone, reason ?? ''])
}

/**
 * Reads a list of numbers piece by piece: CSV in UTF-8 with a line that names its columns, `phone` and, if it has it, `reason`.
 * Nothing is read after a record whose quotes do not end.
 *
 * @throws AppError `invalid_request` when the first line is something else; `body_too_large` beyond `maxBytes`.
 */
export async function* readDncRows(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<ReadRow> {
  let columns: string[] | null = null
  try {
    for await (const record of records(chunks, maxBytes)) {
      if (columns === null) columns = columnsOf(record)
      else yield readRow(columns, record)
    }
  } catch (error) {
    if (!(error instanceof CsvRunaway)) throw error
    if (columns !== null)
      yield { line: error.line, error: 'begins a field whose quotes do not end: nothing after it was read' }
  }
  if (columns === null) throw noHeader()
}

async function* records(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<CsvRecord> {
  const decoder = new TextDecoder()
  const reader = new CsvReader()
  let sizeBytes = 0
  for await (const chunk of chunks) {
    sizeBytes += chunk.length
    if (sizeBytes > maxBytes) throw tooLarge(maxBytes)
    yield* reader.push(decoder.decode(chunk, { stream: true }))
  }
  yield* reader.push(decoder.decode())
  yield* reader.end()
}

/** A list that is too long: what came before it ended is listed. */
export function tooLarge(maxBytes: number): AppError {
  return new AppError('body_too_large', `The list is larger than ${maxBytes / 1024 / 1024} MiB: send it in parts.`)
}

function columnsOf({ fields }: CsvRecord): string[] {
  const columns = fields.map((name) => name.trim().toLowerCase())
  if (!columns.includes('phone')) throw noHeader()
  const unknown = columns.find((name, index) => !COLUMNS.includes(name) || columns.indexOf(name) !== index)
  if (unknown === undefined) return columns
  throw invalidRequest([
    { path: `/body/${unknown.slice(0, 100)}`, message: 'is not a known column, or is there twice' },
  ])
}

function noHeader(): AppError {
  return invalidRequest([{ path: '/body', message: 'must begin with a line that names its columns: phone,reason' }])
}

function readRow(columns: string[], { line, fields }: CsvRecord): ReadRow {
  const field = (name: string) => fields[columns.indexOf(name)]?.trim() ?? ''
  const [phone, reason] = [field('phone'), field('reason')]
  if (fields.length > columns.length) return { line, error: 'has more fields than there are columns' }
  if (!isPhoneNumber(phone)) return { line, error: 'phone must be a phone number in E.164, like +14155550100' }
  if (reason.length > MAX_REASON_CHARS)
    return { line, error: `reason must have at most ${MAX_REASON_CHARS} characters` }
  return { line, entry: { phone, reason: storable(reason) || null, source: SOURCE } }
}
