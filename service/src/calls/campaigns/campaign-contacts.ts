import { othersFirst } from '../../kernel/clock.ts'
import { invalidRequest } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { isPhoneNumber, phoneFault } from '../../kernel/phone.ts'
import { CsvReader, type CsvRecord, CsvRunaway, withoutEmptyEnd } from '../../platform/http/csv.ts'
import { storable } from '../../records/storable.ts'
import { jsonSizeFault } from '../../tenancy/agent-config-json-schema.ts'
import type { ContactId, NewContact } from './contact-store.ts'

/** A contact as it was sent: `at` is its place in the list from 1, of a CSV its line. `fault`: what the list itself has wrong there. */
export type SentContact = { at: number; phone: string; metadata: Record<string, unknown>; fault?: string }

/** What is wrong with a contact, which is not called therefore. */
export type ContactError = { at: number; error: string }

const MAX_METADATA_BYTES = 4_096
const MAX_METADATA_DEPTH = 8
const MAX_COLUMNS = 50
const COLUMN_NAME = /^[A-Za-z0-9_-]{1,64}$/

/** As many take a millisecond or two. */
const SLICE = 50

/** The contacts that can be called, each number once, in their order; and what is wrong with the others. */
export async function readContacts(
  sent: SentContact[],
  nowMs: number,
): Promise<{ contacts: NewContact[]; errors: ContactError[] }> {
  const [contacts, errors]: [NewContact[], ContactError[]] = [[], []]
  const known = new Map<string, number>()
  for (const [index, { at, phone, metadata, fault: inList }] of sent.entries()) {
    // Calls go on meanwhile.
    if (index % SLICE === 0) await othersFirst()
    const fault = inList ?? faultOf(phone, metadata)
    const earlier = known.get(phone)
    if (fault !== null) errors.push({ at, error: fault })
    else if (earlier !== undefined)
      errors.push({ at, error: `phone is that of the contact at ${earlier}: each number is called once` })
    else if (isPhoneNumber(phone)) {
      known.set(phone, at)
      const position = contacts.length + 1
      contacts.push({ id: newId<ContactId>(nowMs, position), position, phone, metadata })
    }
  }
  return { contacts, errors }
}

function faultOf(phone: string, metadata: Record<string, unknown>): string | null {
  if (!isPhoneNumber(phone)) return `phone ${phoneFault(phone)}`
  const fault = jsonSizeFault(metadata, MAX_METADATA_BYTES, MAX_METADATA_DEPTH)
  return fault === null ? null : `metadata ${fault}`
}

/**
 * Reads a list of contacts: CSV in UTF-8 with a line that names its columns. `phone` is one of them; what stands in the others
 * is the contact's metadata by their names, `true` and `false`, in capitals too, as such, nothing where nothing stands.
 *
 * @throws AppError `invalid_request` when the first line is something else, or nothing can be read behind a record.
 */
export async function readContactCsv(text: string): Promise<SentContact[]> {
  const contacts: SentContact[] = []
  let columns: string[] | null = null
  for await (const records of recordsOf(text.replace(/^\ufeff/, ''))) {
    for (const record of records) {
      if (columns) contacts.push(contactOf(columns, record))
      else columns = columnsOf(record)
    }
  }
  if (!columns) throw noHeader()
  return contacts
}

/** A reader takes less at a time than the longest record has. */
const PIECE_CHARS = 5_000

/** Piece by piece: calls go on meanwhile. */
async function* recordsOf(text: string): AsyncGenerator<CsvRecord[]> {
  const reader = new CsvReader()
  try {
    for (let at = 0; at < text.length; at += PIECE_CHARS) {
      yield reader.push(text.slice(at, at + PIECE_CHARS))
      await othersFirst()
    }
    yield reader.end()
  } catch (error) {
    if (!(error instanceof CsvRunaway)) throw error
    const message = `has a field in line ${error.line} whose quotes do not end, or a record that is too long`
    throw invalidRequest([{ path: '/body', message }])
  }
}

function columnsOf({ fields }: CsvRecord): string[] {
  const columns = withoutEmptyEnd(fields).map((name) => name.trim().replace(/^phone$/i, 'phone'))
  if (!columns.includes('phone') || columns.length > MAX_COLUMNS) throw noHeader()
  const wrong = columns.findIndex((name, index) => !COLUMN_NAME.test(name) || columns.indexOf(name) !== index)
  if (wrong === -1) return columns
  const message = `must name each column once, by the letters a to z, digits, _ and -: column ${wrong + 1} is not named so`
  throw invalidRequest([{ path: '/body', message }])
}

function noHeader(): Error {
  return invalidRequest([
    {
      path: '/body',
      message: `must begin with a line that names its columns, phone among them, ${MAX_COLUMNS} at most`,
    },
  ])
}

function contactOf(columns: string[], { line, fields }: CsvRecord): SentContact {
  // What is there, and not each column: a list may have a hundred thousand lines with nothing in most of them.
  const given = fields.slice(0, columns.length)
  const named = given.map((value, index): [string, string] => [columns[index] ?? '', storable(value.trim())])
  const rest = named.filter(([name, value]) => name !== 'phone' && value !== '')
  const metadata = Object.fromEntries(rest.map(([name, value]) => [name, meantBy(value)]))
  const contact = { at: line, phone: fields[columns.indexOf('phone')]?.trim() ?? '', metadata }
  // Nobody's: its number is not to be trusted.
  return withoutEmptyEnd(fields).length > columns.length ? { ...contact, fault: TOO_MANY_FIELDS } : contact
}

const TOO_MANY_FIELDS =
  'has more fields than the first line has columns: one with a comma or a semicolon in it stands in quotes'

/** A consent has to be told by a value and not by a word. Spreadsheets write theirs in capitals. */
function meantBy(value: string): string | boolean {
  const word = value.toLowerCase()
  return word === 'true' || word === 'false' ? word === 'true' : value
}
