import { invalidRequest } from './errors.ts'
import { canBeTold } from './instants.ts'

/** Where the next page starts: after the row of this instant (to the millisecond, as it is stored) and id, newest first. */
export type PagePosition = { createdAt: Date; id: string }

/** What a list was asked for. `after` is set when a cursor was given; then `offset` is 0. */
export type PageRequest = { limit: number; offset: number; after: PagePosition | null }

/** The rows of one page and the cursor of the next, null at the end. */
export type Page<Row> = { rows: Row[]; nextCursor: string | null }

export const DEFAULT_LIMIT_ROWS = 50
export const MAX_LIMIT_ROWS = 500

type PageQuery = { limit?: number; offset?: number; cursor?: string }

/**
 * Reads the paging parameters of a list.
 *
 * @throws AppError `invalid_request` for a cursor that we did not make, or one together with an offset.
 */
export function readPage(query: PageQuery): PageRequest {
  const limit = query.limit ?? DEFAULT_LIMIT_ROWS
  if (query.cursor === undefined) return { limit, offset: query.offset ?? 0, after: null }
  if (query.offset !== undefined)
    throw invalidRequest([{ path: '/query/offset', message: 'must not be given together with cursor' }])
  return { limit, offset: 0, after: decodeCursor(query.cursor) }
}

/**
 * Cuts a page out of rows that were read with `limit + 1`: the row too many tells that there is a next page.
 *
 * @param position what places a row in its list.
 */
export function toPage<Row>(rows: Row[], limit: number, position: (row: Row) => PagePosition): Page<Row> {
  const kept = rows.slice(0, limit)
  const last = kept.at(-1)
  return { rows: kept, nextCursor: rows.length > limit && last ? nextCursorOf(position(last)) : null }
}

/** The cursor of the page behind this row. */
export function nextCursorOf({ createdAt, id }: PagePosition): string {
  return Buffer.from(`${createdAt.getTime()} ${id}`).toString('base64url')
}

/** Written strictly: a cursor that is nearly ours would silently give a wrong page. */
const CURSOR_TEXT = /^(-?\d{1,15}) ([A-Za-z0-9_+-]{1,127})$/

function decodeCursor(cursor: string): PagePosition {
  const match = CURSOR_TEXT.exec(Buffer.from(cursor, 'base64url').toString())
  const [, ms, id] = match ?? []
  if (ms === undefined || id === undefined) throw foreignCursor()
  const createdAt = new Date(Number(ms))
  if (!canBeTold(createdAt) || nextCursorOf({ createdAt, id }) !== cursor) throw foreignCursor()
  return { createdAt, id }
}

/** The refusal of a cursor that another list gave, or none. */
export function foreignCursor(): Error {
  return invalidRequest([{ path: '/query/cursor', message: 'is not a cursor of this list' }])
}
