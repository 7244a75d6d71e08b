import { AppError, invalidRequest } from '../kernel/errors.ts'
import { isPhoneNumber, phoneFault } from '../kernel/phone.ts'
import {
  CsvDecoder,
  CsvReader,
  type CsvRecord,
  CsvRunaway,
  csvLine,
  unguarded,
  withoutEmptyEnd,
} from '../platform/http/csv.ts'
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
 * Nothing is read after a record whose quotes do not end. What is not UTF-8 is an AppError `invalid_request`, wherever it stands.
 */
export class DncListReader {
  readonly #decoder = new CsvDecoder()
  readonly #reader = new CsvReader()
  #columns: string[] | null = null
  #isOver = false

  /** The rows that are complete with this piece. @throws AppError `invalid_request` when the first line is something else. */
  push(piece: Buffer): ReadRow[] {
    return this.#read(() => this.#reader.push(this.#decoder.decode(piece)))
  }

  /** Those that are complete with the end. @throws AppError `invalid_request` when there was no first line. */
  end(): ReadRow[] {
    const rows = this.#read(() => [...this.#reader.push(this.#decoder.decode()), ...this.#reader.end()])
    if (this.#columns === null) throw noHeader()
    return rows
  }

  #read(records: () => CsvRecord[]): ReadRow[] {
    if (this.#isOver) return []
    try {
      return records().flatMap((record) => this.#take(record))
    } catch (error) {
      if (!(error instanceof CsvRunaway)) throw error
      this.#isOver = true
      return [{ line: error.line, error: 'begins a field whose quotes do not end: nothing after it was read' }]
    }
  }

  #take(record: CsvRecord): ReadRow[] {
    if (this.#columns !== null) return [readRow(this.#columns, record)]
    this.#columns = columnsOf(record)
    return []
  }
}

/** A list that is too long: what came before it ended is listed. */
export function tooLarge(maxBytes: number): AppError {
  return new AppError('body_too_large', `The list is larger than ${maxBytes / 1024 / 1024} MiB: send it in parts.`)
}

function columnsOf({ fields }: CsvRecord): string[] {
  const columns = withoutEmptyEnd(fields).map((name) => name.trim().toLowerCase())
  if (!columns.includes('phone')) throw noHeader()
  const unknown = columns.find((name, index) => !COLUMNS.includes(name) || columns.indexOf(name) !== index)
  if (unknown === undefined) return columns
  throw invalidRequest([
    { path: `/body/${unknown.slice(0, 100).toWellFormed()}`, message: 'is not a known column, or is there twice' },
  ])
}

function noHeader(): AppError {
  return invalidRequest([{ path: '/body', message: 'must begin with a line that names its columns: phone,reason' }])
}

function readRow(columns: string[], { line, fields }: CsvRecord): ReadRow {
  const field = (name: string) => unguarded(fields[columns.indexOf(name)]?.trim() ?? '')
  const [phone, reason] = [field('phone'), field('reason')]
  if (withoutEmptyEnd(fields).length > columns.length) return { line, error: 'has more fields than there are columns' }
  if (!isPhoneNumber(phone)) return { line, error: `phone ${phoneFault(phone)}` }
  if (reason.length > MAX_REASON_CHARS)
    return { line, error: `reason must have at most ${MAX_REASON_CHARS} characters` }
  return { line, entry: { phone, reason: storable(reason) || null, source: SOURCE } }
}
