import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { TENANT_KEY } from '../kernel/actor.ts'
import { readPage } from '../kernel/pages.ts'
import { knownActorOf, tenantOf } from '../platform/http/guards.ts'
import { errorResponses, listBody, listResponse, Ok, PageQuery, strict } from '../platform/http/schemas.ts'
import { CallableNumber } from '../tenancy/tenant-values.ts'
import type { DoNotCall } from './do-not-call.ts'
import { DncEntry, showDncEntry } from './do-not-call-shape.ts'

const Body = strict({
  phone: CallableNumber,
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000, description: 'Why, for people.' })),
  source: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Where it comes from, such as a letter or a register.' }),
  ),
})

/** Any text: what is no number is not listed, and no malformed request. */
const Params = strict({ phone: Type.String({ minLength: 1, maxLength: 200 }) })

const Answer = Type.Object({ ok: Ok, entry: DncEntry })

/** A tenant's do-not-call list. To be registered behind `tenantGuard`. */
export function doNotCallRoutes(doNotCall: DoNotCall): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/dnc',
      {
        schema: {
          tags: ['runtime'],
          summary: 'List the numbers that must not be called, newest first',
          operationId: 'listDncEntries',
          querystring: PageQuery,
          response: { 200: listResponse('entries', DncEntry), ...errorResponses },
        },
      },
      async (request) => {
        const { rows, nextCursor } = await doNotCall.list(tenantOf(request), readPage(request.query))
        return listBody('entries', rows.map(showDncEntry), nextCursor)
      },
    )

    app.post(
      '/api/v1/dnc',
      {
        schema: {
          tags: ['runtime'],
          summary: 'List a number that must not be called; a repeat may change the reason',
          operationId: 'addDncEntry',
          body: Body,
          response: { 200: Answer, ...errorResponses },
        },
      },
      async (request) => {
        const { phone, reason = null, source = null } = request.body
        const entry = await doNotCall.add(tenantOf(request), { phone, reason, source })
        return { ok: true as const, entry: showDncEntry(entry) }
      },
    )

    app.get(
      '/api/v1/dnc/:phone',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Read the entry of a number',
          operationId: 'getDncEntry',
          params: Params,
          response: { 200: Answer, ...errorResponses },
        },
      },
      async (request) => {
        const entry = await doNotCall.get(tenantOf(request), request.params.phone)
        return { ok: true as const, entry: showDncEntry(entry) }
      },
    )

    app.delete(
      '/api/v1/dnc/:phone',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Let a number be called again',
          operationId: 'removeDncEntry',
          params: Params,
          response: { 200: Answer, ...errorResponses },
        },
      },
      async (request) => {
        const entry = await doNotCall.remove(
          tenantOf(request),
          request.params.phone,
          knownActorOf(request) ?? TENANT_KEY,
        )
        return { ok: true as const, entry: showDncEntry(entry) }
      },
    )
  }
}
