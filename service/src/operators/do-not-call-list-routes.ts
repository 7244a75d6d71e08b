import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest, preParsingHookHandler } from 'fastify'
import { Type } from 'typebox'
import { AppError, invalidRequest } from '../kernel/errors.ts'
import { tenantOf } from '../platform/http/guards.ts'
import { ErrorBody, errorResponses, Ok, strict } from '../platform/http/schemas.ts'
import { tooLarge } from './do-not-call-csv.ts'
import { type DncLists, MAX_LIST_BYTES } from './do-not-call-lists.ts'

const Count = Type.Integer({ minimum: 0 })
const Imported = Type.Object({
  ok: Ok,
  imported: Count,
  duplicates: Count,
  rejected: Count,
  errors: Type.Array(Type.Object({ line: Type.Integer({ minimum: 1 }), error: Type.String() }), {
    description: 'Which lines were not taken, and why: of those the first 1,000. The header is line 1.',
  }),
})

/** A tenant's do-not-call list as a whole, as CSV. To be registered behind `tenantGuard`. */
export function doNotCallListRoutes(lists: DncLists): FastifyPluginAsyncTypebox {
  return async (app) => {
    // It is read by the route itself, as it comes.
    app.addContentTypeParser('text/csv', (_request, _payload, done) => done(null, undefined))

    app.post(
      '/api/v1/dnc/import',
      {
        preParsing: expectCsv,
        schema: {
          tags: ['runtime'],
          summary: 'List the numbers of a CSV',
          description:
            'The body is text/csv in UTF-8, 2 MiB at most, with a first line that names its columns: phone, reason.',
          operationId: 'importDncEntries',
          response: { 200: Imported, ...errorResponses, 415: ErrorBody },
        },
      },
      async (request) => ({ ok: true as const, ...(await lists.import(tenantOf(request), chunksOf(request))) }),
    )

    app.get(
      '/api/v1/dnc/export',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Read all numbers that must not be called as CSV, newest first',
          description:
            'As it can be imported again. An apostrophe stands before each reason that a spreadsheet would take for a formula; the import takes it away.',
          operationId: 'exportDncEntries',
          querystring: strict({}),
          response: { 200: { content: { 'text/csv': { schema: Type.String() } } }, ...errorResponses },
        },
      },
      async (request, reply) => {
        reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="do-not-call.csv"')
        // Whoever asks for the headers alone is not to have the list read.
        if (request.method === 'HEAD') return reply.send(asText([]))
        const lines = lists.export(tenantOf(request))
        // Whatever is wrong with the database is known before the answer begins.
        const first = [await lines.next(), await lines.next()].map(({ done, value }) => (done === true ? '' : value))
        return reply.send(asText(chained(first, lines)))
      },
    )
  }
}

/** What is described is the text that the stream becomes. */
function asText(parts: Iterable<string> | AsyncIterable<string>): string {
  return Readable.from(parts) as unknown as string
}

async function* chained(first: string[], rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first.join('')
  yield* rest
}

/** Asked before anything of the body is read. @throws AppError `unsupported_media_type`, `body_too_large`. */
const expectCsv: preParsingHookHandler = ({ headers }, _reply, payload, done) => {
  const isCsv = /^text\/csv *(;|$)/i.test(headers['content-type'] ?? '')
  if (!isCsv) done(new AppError('unsupported_media_type', 'Send the list with content-type: text/csv.'))
  else if (Number(headers['content-length'] ?? 0) > MAX_LIST_BYTES) done(tooLarge(MAX_LIST_BYTES))
  else done(null, payload)
}

/** The body as it comes. A request that is refused in its middle is answered, so its stream is left open. */
async function* chunksOf({ raw }: FastifyRequest): AsyncGenerator<Buffer> {
  const chunks = raw.iterator({ destroyOnReturn: false })
  try {
    yield* chunks as AsyncIterable<Buffer>
  } catch {
    throw invalidRequest([{ path: '/body', message: 'ended before its time' }])
  }
}
