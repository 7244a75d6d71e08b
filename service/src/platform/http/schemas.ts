import {
  type TArray,
  type TInteger,
  type TNull,
  type TObject,
  type TProperties,
  type TSchema,
  type TString,
  type TUnion,
  Type,
} from 'typebox'
import { ERROR_CODES, type ErrorCode } from '../../kernel/errors.ts'
import { DEFAULT_LIMIT_ROWS, MAX_LIMIT_ROWS } from '../../kernel/pages.ts'

/**
 * An object that refuses members it does not name: what a body or a query must be. The server takes no route whose body or
 * query schema leaves the question open.
 */
export function strict<Properties extends TProperties>(properties: Properties): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: false })
}

/** The schema or null. */
export function nullable<Schema extends TSchema>(schema: Schema): TUnion<[Schema, TNull]> {
  return Type.Union([schema, Type.Null()])
}

export const NOT_BLANK = '\\S'

/** What names a tenant, an agent or a queue in addresses and settings. */
export const KEY_PATTERN = '^[a-z0-9][a-z0-9_-]{0,62}$'

/** What names a tool, as models take it. */
export const TOOL_NAME_PATTERN = '^[A-Za-z0-9_-]{1,64}$'

/** An hour and minute of the day, `00:00` to `24:00`. */
export const TIME_PATTERN = '^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$'

/** The code of a country, as ISO 3166 writes it in two letters. */
export const COUNTRY_PATTERN = '^[A-Z]{2}$'

/** A language, as BCP 47 names it: `en`, `pt-BR`. */
export const LANGUAGE_PATTERN = '^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$'

/** A telephone number, or how numbers begin: `+44`. */
export const NUMBER_PREFIX_PATTERN = '^\\+[1-9][0-9]{0,14}$'

/** Keys of a telephone that are pressed one after the other. */
export const PRESSED_KEYS_PATTERN = '^[0-9*#A-D]{1,32}$'

/** One key of a telephone that everybody's has. */
export const ONE_KEY_PATTERN = '^[0-9*#]$'

/** What names a stored prompt. */
export const PROMPT_KEY_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$'

/** A page of the dashboard: no way to leave this origin can be written like this. */
export const OWN_PAGE_PATTERN = '^/app(/[A-Za-z0-9_-][A-Za-z0-9._~-]*)*/?$'

/** A text for people, in which there is more than blanks: they could not see it. */
export function forPeople(maxLength: number, description?: string): TString {
  return Type.String({ maxLength, pattern: NOT_BLANK, ...(description !== undefined && { description }) })
}

/** A phone number in E.164 that is possible in its country. */
export const Phone = Type.String({ format: 'phone' })

/** An id in an address or a filter. Any text: an id that nothing can have is an unknown one, not a malformed request. */
export const AnyId = Type.String({ minLength: 1, maxLength: 200 })

/** An instant in UTC with milliseconds, such as `2026-01-31T09:05:00.000Z`. */
export const Timestamp = Type.String({ format: 'date-time' })

/** A filter by an instant, which may be left out; `dateOf` reads it. */
export function instantFilter(description: string) {
  return Type.Optional(Type.String({ format: 'date-time', description }))
}

/** The instant that a filter has; undefined where it was left out. */
export function dateOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}

/** Writes an instant as a `Timestamp`. */
export function iso(instant: Date): string {
  return instant.toISOString()
}

/** Writes an instant as a `Timestamp`, and what has not happened as null. */
export function isoOrNull(instant: Date | null): string | null {
  return instant === null ? null : iso(instant)
}

/** The `ok` of every success. */
export const Ok = Type.Literal(true)

const FaultDetail = Type.Object({
  path: Type.String({
    description: 'A JSON pointer into the request, such as /body/limits/idle_seconds; empty: the request as a whole.',
  }),
  message: Type.String(),
})

/** One of the things that speak against a call, whether somebody asked before it or wanted it placed. */
export const RefusalDetail = Type.Object({
  code: Type.String({ description: 'As in the 409 with which the call would be refused.' }),
  reason: Type.String({ description: 'One sentence that a person can act on.' }),
})

/** The body of every refusal and failure, on every surface. */
export const ErrorBody = Type.Object({
  ok: Type.Literal(false),
  error: Type.String({ description: 'One sentence that a person can act on.' }),
  code: Type.Unsafe<ErrorCode>(Type.String({ enum: ERROR_CODES })),
  request_id: Type.String({ description: 'As in the x-request-id header and in the log.' }),
  details: Type.Optional(Type.Array(FaultDetail, { description: 'With a 400: what is wrong, and where.' })),
  refusals: Type.Optional(
    Type.Array(RefusalDetail, {
      description: 'With the 409 of a call that may not be placed: all that speaks against it, the gravest first.',
    }),
  ),
})

/** What any route may answer instead of a success: spread it into the route's `response`. */
export const errorResponses = {
  400: ErrorBody,
  401: ErrorBody,
  403: ErrorBody,
  404: ErrorBody,
  409: ErrorBody,
  412: ErrorBody,
  413: ErrorBody,
  429: ErrorBody,
  500: ErrorBody,
  503: ErrorBody,
}

/** The condition of a write that makes nothing. `checkPrecondition` reads it. */
export const IfMatchHeader = Type.Object({
  'if-match': Type.Optional(
    Type.String({ description: 'Write only over what has this ETag; * over any. A stale one: 412.' }),
  ),
})

/** On which condition a PUT writes. `checkPrecondition` reads them. */
export const WriteHeaders = Type.Object({
  'if-match': Type.Optional(Type.String({ description: 'Write only over what has this ETag; * over any.' })),
  'if-none-match': Type.Optional(Type.String({ description: '* creates only.' })),
})

/** On which condition a DELETE deletes: without it a client that asks for one would lose what it has not seen. */
export const DeleteHeaders = Type.Object({
  'if-match': Type.Optional(Type.String({ description: 'Delete only what has this ETag. A stale one: 412.' })),
})

/** The paging parameters, to be spread into a query that has filters too. */
export const pageFields = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_LIMIT_ROWS,
      default: DEFAULT_LIMIT_ROWS,
      description: 'Rows in this answer.',
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Rows to skip. Not together with cursor.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: 'The next_cursor of the page before.' }),
  ),
}

/** The same of a list whose rows may be long. */
export const longRowsPageFields = {
  ...pageFields,
  limit: Type.Optional(
    Type.Integer({
      ...pageFields.limit,
      description:
        'Rows in this answer at most: fewer come where they have more than 1 MiB together, one in any case. next_cursor goes on behind them.',
    }),
  ),
}

/** The query of a list without filters. `readPage` of the kernel reads it. */
export const PageQuery = strict(pageFields)

type ListEnvelope = { ok: typeof Ok; count: TInteger; next_cursor: TUnion<[TString, TNull]> }

/** The answer of a list: `{ ok, count, <name>: [...], next_cursor }`. `listBody` makes it. */
export function listResponse<const Name extends string, Row extends TSchema>(
  name: Name,
  row: Row,
): TObject<ListEnvelope & Record<Name, TArray<Row>>> {
  const rows = { [name]: Type.Array(row) } as Record<Name, TArray<Row>>
  return Type.Object({
    ok: Ok,
    count: Type.Integer({ minimum: 0, description: 'Rows in this answer.' }),
    ...rows,
    next_cursor: nullable(Type.String({ description: 'Asks for the next page; null at the end.' })),
  })
}

/** Makes the body that `listResponse(name, …)` describes. */
export function listBody<const Name extends string, Row>(
  name: Name,
  rows: Row[],
  nextCursor: string | null,
): { ok: true; count: number; next_cursor: string | null } & Record<Name, Row[]> {
  const list = { [name]: rows } as Record<Name, Row[]>
  return { ok: true, count: rows.length, next_cursor: nextCursor, ...list }
}
