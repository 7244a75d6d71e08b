import type { FastifyRequest, preHandlerHookHandler, preSerializationHookHandler } from 'fastify'
import { canonicalJson } from '../../kernel/canonical-json.ts'
import { foreignCursor } from '../../kernel/pages.ts'
import { sha256 } from '../../kernel/seal.ts'
import { guardedTenantOf } from './guards.ts'

const MARK_BYTES = 6
/** No base64url has it. */
const BETWEEN = '.'

/** The cursor of a list with the mark of what was asked for; null stays. */
export function markedCursor(request: FastifyRequest, cursor: string | null): string | null {
  return cursor === null ? null : `${cursor}${BETWEEN}${markOf(request)}`
}

/**
 * The hook that takes the mark off a cursor, and refuses one that another list, other filters or another tenant gave: it would place
 * the reader somewhere in this one, without a word. One without a mark is of the release before, which made none and may still run
 * beside this one: it is let through, and who reads it refuses what is no cursor at all.
 */
export const expectOwnCursor: preHandlerHookHandler = (request, _reply, done) => {
  const query = request.query as { cursor?: string } | undefined
  if (request.routeOptions.schema?.querystring === undefined || query?.cursor === undefined) return done()
  const [cursor, mark] = query.cursor.split(BETWEEN)
  if (mark === undefined) return done()
  if (cursor === undefined || mark !== markOf(request)) return done(foreignCursor())
  query.cursor = cursor
  done()
}

/** The hook that marks the cursor of an answer. What is JSON already `sendList` marks. */
export const markCursor: preSerializationHookHandler = (request, _reply, payload, done) => {
  if (!isList(payload) || payload.next_cursor === null) return done(null, payload)
  done(null, { ...payload, next_cursor: markedCursor(request, payload.next_cursor) })
}

function isList(payload: unknown): payload is { next_cursor: string | null } {
  return typeof payload === 'object' && payload !== null && 'next_cursor' in payload
}

/** What tells lists apart, but for the page: how many rows it has may change on the way. */
function markOf(request: FastifyRequest): string {
  const { limit: _limit, offset: _offset, cursor: _cursor, ...filters } = request.query as Record<string, unknown>
  // A list is the same at its old address.
  const path = (request.routeOptions.url ?? '').replace(/^\/api\/v1(?=\/)/, '')
  const list = { path, params: request.params, tenant: guardedTenantOf(request), filters }
  return sha256(canonicalJson(list)).subarray(0, MARK_BYTES).toString('base64url')
}
