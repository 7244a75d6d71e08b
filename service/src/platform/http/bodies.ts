import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, preParsingHookHandler, preValidationHookHandler } from 'fastify'
import { AppError, type FaultDetail, faultAt, invalidRequest } from '../../kernel/errors.ts'

/**
 * Takes JSON, and nothing at all for a body that is empty: many clients say `content-type: application/json` whatever they
 * send, also with a DELETE. A route that asks for a body refuses its absence. JSON is UTF-8 (RFC 8259): read as it, what is not would
 * be kept with its letters lost.
 */
export function takeJson(server: Pick<FastifyInstance, 'addContentTypeParser' | 'getDefaultJsonParser'>): void {
  const parse = server.getDefaultJsonParser('error', 'error')
  server.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) done(null, undefined)
    else if (isUtf8(body))
      void parse(request, body.toString(), (error, value) =>
        done(error && faultAt('/body', jsonFault(body.toString())), value),
      )
    else done(invalidRequest([{ path: '/body', message: 'must be JSON in UTF-8, whatever charset its type names' }]))
  })
}

/** Where JSON stops being some: a parser says so itself, in words that may repeat what was sent, which may be a secret. */
function jsonFault(text: string): string {
  try {
    // The mark that some programs begin a text with is passed over where it is read, too.
    JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    const message = String(error)
    const place = /\((line \d+ column \d+)\)$/.exec(message)?.[1]
    if (place) return `The body is not valid JSON from ${place} on.`
    return `The body is not valid JSON${/^SyntaxError: Unexpected end of JSON input$/.test(message) ? ': it ends before it is complete' : ''}.`
  }
  return 'The body has a member that is named __proto__, or constructor with a prototype in it.'
}

/**
 * The hook that refuses a body that is compressed: read as it came, it would be called malformed. Clients that say how they would
 * compress one, and send none, are answered as others are.
 */
export const refuseCompressed: preParsingHookHandler = ({ headers }, _reply, _payload, done) => {
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity'
  const isTaken = encoding === 'identity' || !announcesBody(headers)
  const sentence = 'Bodies are not taken compressed: send it as it is, without Content-Encoding.'
  done(isTaken ? null : new AppError('unsupported_media_type', sentence))
}

/**
 * The hook that passes over the type of a body that is none, where that type is not taken: a form is what `curl -d ''` and others call
 * the nothing that they post.
 */
export const forgetTypeOfNothing: preParsingHookHandler = ({ raw, server }, _reply, _payload, done) => {
  const [type] = raw.headers['content-type']?.split(';') ?? []
  const isForgotten = type !== undefined && !announcesBody(raw.headers) && !server.hasContentTypeParser(type)
  if (isForgotten) delete raw.headers['content-type']
  done()
}

/** As RFC 9112 has it: by one of these headers alone a request has a body. */
function announcesBody({ 'content-length': length = '0', 'transfer-encoding': coding }: IncomingHttpHeaders): boolean {
  return coding !== undefined || Number(length) !== 0
}

/** The hook that refuses, on a route that describes no body, whatever one holds: it would be ignored without a word. */
export const refuseUnaskedBody: preValidationHookHandler = ({ body, routeOptions }, _reply, done) => {
  const [first, ...others] = routeOptions.schema?.body === undefined ? unasked(body) : []
  done(first && invalidRequest([first, ...others]))
}

function unasked(body: unknown): FaultDetail[] {
  if (body === undefined || body === null) return []
  if (typeof body !== 'object' || Array.isArray(body)) return [{ path: '/body', message: 'must be left out' }]
  return Object.keys(body).map((name) => ({ path: `/body/${pointerPart(name)}`, message: unknownField([]) }))
}

/**
 * The hook that refuses, where the API is read or written and no query is described, whatever one holds: whoever filters what cannot be
 * filtered would be shown all of it, and whoever asks for a dry run where there is none would have it done. Carriers, browsers and
 * health checks put into their addresses what they like.
 */
export const refuseUnaskedQuery: preValidationHookHandler = ({ method, query, routeOptions }, _reply, done) => {
  const { url = '', schema } = routeOptions
  const isOurs = method === 'GET' ? url.startsWith('/api/v1/') && schema?.response !== undefined : isOfApi(schema)
  const [first, ...others] = isOurs && schema?.querystring === undefined ? unaskedIn(query) : []
  done(first && invalidRequest([first, ...others]))
}

/** Whether a route is one of those that tenants and administrators use. */
function isOfApi(schema: object | undefined): boolean {
  const { tags: [surface] = [] }: { tags?: readonly string[] } = schema ?? {}
  return surface === 'runtime' || surface === 'admin'
}

function unaskedIn(query: unknown): FaultDetail[] {
  return Object.keys(query ?? {}).map((name) => ({
    path: `/query/${pointerPart(name)}`,
    message: unknownParameter([]),
  }))
}

/** What is said of a part of a query that a route does not take. @param known those that it takes. */
export function unknownParameter(known: string[]): string {
  return `is not a known parameter: ${thereAre(known)}`
}

/** Somebody's own schema may have hundreds. */
const MAX_NAMED = 40

/** What is said of a member of a body that is not taken where it stands. @param known those that are. */
export function unknownField(known: string[]): string {
  return `is not a known field${known.length > MAX_NAMED ? '' : `: ${thereAre(known)}`}`
}

function thereAre(known: string[]): string {
  return `there are ${known.length === 0 ? 'none here' : known.join(', ')}`
}

/** Names come from the client and can be of any length. */
const MAX_NAME_LENGTH = 100

/** A member's name as a part of a JSON pointer. */
export function pointerPart(name: string): string {
  const short = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH).toWellFormed()}…` : name
  return short.replaceAll('~', '~0').replaceAll('/', '~1')
}
