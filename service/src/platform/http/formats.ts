import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { canBeTold } from '../../kernel/instants.ts'
import { isPhoneNumber } from '../../kernel/phone.ts'

/** A form of text that a schema can ask for by `format`, and how a refusal names it. */
type TextForm = { wanted: string; check(text: string): boolean }

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Without what a URL parser would silently trim or drop. */
const VISIBLE_ASCII = /^[\x21-\x7e]+$/

const standard = formats.default(new Ajv(), ['date', 'date-time', 'email'])

const isDate = standard.compile({ type: 'string', format: 'date' })
const isDateTime = standard.compile({ type: 'string', format: 'date-time' })
const isEmail = standard.compile({ type: 'string', format: 'email' })

/**
 * Every `format` that our schemas may use.
 *
 * Each bounds the length before it looks closer, and takes nothing that a Date or a column of the database would not: no
 * leap second, no year 0, no `urn:` before a UUID.
 */
const FORMS: Record<string, TextForm> = {
  date: { wanted: 'a date like 2026-01-31', check: (text) => text.length === 10 && isDate(text) && isInstant(text) },
  'date-time': {
    wanted: 'an ISO 8601 timestamp with its zone, like 2026-01-31T09:05:00.000Z',
    check: (text) => text.length <= 40 && isDateTime(text) && isInstant(text),
  },
  email: { wanted: 'an e-mail address', check: (text) => text.length <= 254 && isEmail(text) },
  phone: {
    wanted: 'a phone number in E.164, like +14155550100',
    check: (text) => text.length <= 16 && isPhoneNumber(text),
  },
  uri: {
    wanted: 'an absolute URL',
    check: (text) => text.length <= 2048 && VISIBLE_ASCII.test(text) && URL.canParse(text),
  },
  uuid: { wanted: 'a UUID', check: (text) => UUID.test(text) },
}

function isInstant(text: string): boolean {
  return canBeTold(new Date(text))
}

/** Teaches a validator our formats. */
export function addFormats(ajv: Ajv): void {
  for (const [name, { check }] of Object.entries(FORMS)) ajv.addFormat(name, { type: 'string', validate: check })
}

/** For the serializer, which looks at formats only to tell the branches of a union apart: ours are no news to it. */
export const serializerFormats = Object.fromEntries(Object.keys(FORMS).map((name) => [name, true as const]))

/** What a refusal says was wanted. */
export function wantedForm(format: string): string {
  return FORMS[format]?.wanted ?? format
}
