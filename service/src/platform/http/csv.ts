import { invalidRequest } from '../../kernel/errors.ts'

/** A record of a CSV text: its fields, and the line on which it begins, from 1. */
export type CsvRecord = { line: number; fields: string[] }

/** A record that is longer than any may be, as one is whose quotes do not end. Nothing after it can be read. */
export class CsvRunaway extends Error {
  override readonly name = 'CsvRunaway'
  readonly line: number

  constructor(line: number) {
    super('A record of the CSV is too long.')
    this.line = line
  }
}

const MAX_RECORD_CHARS = 10_000

/**
 * Decodes CSV piece by piece. What is not UTF-8, as a spreadsheet saves it in the letters of its own system, would be read as other text.
 */
export class CsvDecoder {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })

  /** The text that is complete with this piece; with none, what is left at the end. @throws AppError `invalid_request` for what is not UTF-8. */
  decode(piece?: Buffer): string {
    try {
      return piece ? this.#decoder.decode(piece, { stream: true }) : this.#decoder.decode()
    } catch {
      throw invalidRequest([{ path: '/body', message: 'must be in UTF-8: save the list as CSV UTF-8, and send that' }])
    }
  }
}

/** A CSV that is there as a whole. @throws AppError `invalid_request` for what is not UTF-8. */
export function csvText(bytes: Buffer): string {
  const decoder = new CsvDecoder()
  return decoder.decode(bytes) + decoder.decode()
}

/** Where a comma is the decimal sign spreadsheets part fields by the other. */
const SEPARATORS = [',', ';']

/**
 * Reads CSV as RFC 4180 has it, piece by piece: lines end with LF or CRLF, and empty ones are no records. Fields are parted by commas, or by
 * semicolons where the first record has one before any comma.
 */
export class CsvReader {
  #separator: string | null = null
  #line = 1
  #record: CsvRecord = { line: 1, fields: [] }
  #field = ''
  #chars = 0
  #state: 'plain' | 'quoted' | 'quote' = 'plain'

  /** The records that are complete with this piece, which is to be shorter than a record may be. @throws CsvRunaway. */
  push(text: string): CsvRecord[] {
    const records: CsvRecord[] = []
    for (const char of text) {
      this.#chars += 1
      if (this.#chars > MAX_RECORD_CHARS) throw new CsvRunaway(this.#record.line)
      if (this.#take(char)) records.push(...this.#endRecord())
    }
    return records
  }

  /** The last record, when no line end follows it. @throws CsvRunaway when its quotes do not end. */
  end(): CsvRecord[] {
    if (this.#state === 'quoted') throw new CsvRunaway(this.#record.line)
    return this.#endRecord()
  }

  /** Whether the record ends with this character. */
  #take(char: string): boolean {
    if (char === '\n') this.#line += 1
    if (this.#state === 'quoted') {
      if (char === '"') this.#state = 'quote'
      else this.#field += char
      return false
    }
    if (char === '"') this.#takeQuote()
    else if (this.#isSeparator(char)) this.#endField()
    else if (char === '\n') return true
    else if (char !== '\r') this.#field += char
    return false
  }

  #isSeparator(char: string): boolean {
    if (this.#separator === null && SEPARATORS.includes(char)) this.#separator = char
    return char === this.#separator
  }

  /** One at the beginning of a field opens it; two within it are one; any other is itself. */
  #takeQuote(): void {
    if (this.#state === 'plain' && this.#field === '') this.#state = 'quoted'
    else {
      this.#field += '"'
      this.#state = this.#state === 'quote' ? 'quoted' : 'plain'
    }
  }

  #endField(): void {
    this.#record.fields.push(this.#field)
    this.#field = ''
    this.#state = 'plain'
  }

  #endRecord(): CsvRecord[] {
    this.#endField()
    const record = this.#record
    this.#record = { line: this.#line, fields: [] }
    this.#chars = 0
    if (record.fields.length === 1 && record.fields[0] === '') return []
    this.#separator ??= ','
    return [record]
  }
}

/** Without those at its end that are empty, of which spreadsheets write some where something has stood. */
export function withoutEmptyEnd(fields: string[]): string[] {
  return fields.slice(0, fields.findLastIndex((field) => field.trim() !== '') + 1)
}

/** A line of CSV that is safe to open in a spreadsheet: see `unguarded`. */
export function csvLine(fields: string[]): string {
  return `${fields.map(guarded).map(quoted).join(',')}\r\n`
}

/**
 * What a spreadsheet would run; and what looks like such a field that has its guard, so that each guard can be told from what it guards.
 * A plus and digits is a number, as that of a telephone, and stays what programs expect.
 */
const FORMULA = /^'*(?:[=\-@\t\r]|\+(?!\d+$))/

function guarded(field: string): string {
  return FORMULA.test(field) ? `'${field}` : field
}

/** A field as it was before `csvLine` put an apostrophe before it, lest a spreadsheet takes it for a formula; any other is itself. */
export function unguarded(field: string): string {
  return field.startsWith("'") && FORMULA.test(field) ? field.slice(1) : field
}

function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field
}
