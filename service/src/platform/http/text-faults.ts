import type { preValidationHookHandler } from 'fastify'
import { type FaultDetail, invalidRequest } from '../../kernel/errors.ts'

/** Deeper than any document of ours, and shallow enough for every function that walks one. */
const MAX_DEPTH = 64

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What is wrong with the body is what the route answers: it looks for `textFault` itself. */
    answersTextFaults?: true
  }
}

/**
 * The hook that refuses text which no column of the database can hold, nesting on which recursion could run out of stack, and
 * numbers like 1e999: further in, the first two would end as an error of ours, and the last as nothing.
 */
export const refuseUnsafeText: preValidationHookHandler = ({ params, query, body, routeOptions }, _reply, done) => {
  const inBody = routeOptions.config.answersTextFaults ? null : textFault(body)
  const fault = faultIn('path', params) ?? faultIn('query', query) ?? inBody
  done(fault ? invalidRequest([fault]) : undefined)
}

/** What no column of the database could hold in a body; null when there is nothing. */
export function textFault(body: unknown): FaultDetail | null {
  return faultIn('body', body)
}

function faultIn(part: string, value: unknown): FaultDetail | null {
  const found = find(value, 0)
  return found && { path: ['', part, ...found.names].join('/'), message: found.message }
}

/** A fault and the names that lead to it. They are gathered on the way back, so that sound inputs cost no path. */
type Found = { names: string[]; message: string }

function find(value: unknown, depth: number): Found | null {
  if (typeof value === 'string')
    return isStorable(value) ? null : { names: [], message: 'must not hold NUL or half a character' }
  // Written as JSON again, it would be null.
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
    return { names: [], message: 'must not be a number that is too large to be kept' }
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return null
  if (depth > MAX_DEPTH) return { names: [], message: `must not be nested more than ${MAX_DEPTH} levels deep` }
  return Array.isArray(value) ? findInList(value, depth + 1) : findInObject(value, depth + 1)
}

function findInList(list: unknown[], depth: number): Found | null {
  for (const [index, item] of list.entries()) {
    const found = find(item, depth)
    if (found) return { ...found, names: [String(index), ...found.names] }
  }
  return null
}

function findInObject(object: object, depth: number): Found | null {
  for (const [name, member] of Object.entries(object)) {
    if (!isStorable(name)) return { names: [], message: 'must not have names that hold NUL or half a character' }
    const found = find(member, depth)
    if (found) return { ...found, names: [name.replaceAll('~', '~0').replaceAll('/', '~1'), ...found.names] }
  }
  return null
}

/** PostgreSQL's text holds no NUL, and UTF-8 no half of a surrogate pair. */
function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}
