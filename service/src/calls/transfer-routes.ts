import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { formOf, takeForms } from '../platform/http/forms.ts'
import { errorResponses, Ok, strict } from '../platform/http/schemas.ts'
import type { Carriers } from '../platform/telephony/registry.ts'
import { Again } from './incoming-routes.ts'
import type { OfTarget, TransferCallbacks } from './transfer-callbacks.ts'

type Deps = {
  callbacks: TransferCallbacks
  carriers: Carriers
  /** The public address of this service: what the carrier signed is read from it, never from a header. */
  publicUrl: () => string
}

const Params = strict({ token: Type.String({ minLength: 1, maxLength: 2_000 }) })
const MAX_CHARS = 32

/** What carriers ask and tell about those to whom calls are put through: the address names the transfer. */
export function transferRoutes({ callbacks, carriers, publicUrl }: Deps): FastifyPluginAsyncTypebox {
  function of(request: FastifyRequest, token: string, again?: number): OfTarget {
    return {
      ...{ token, ...(again !== undefined && { again }) },
      signed: { url: publicUrl() + request.url, headers: request.headers, form: formOf(request).fields() },
    }
  }

  const answer = {
    tags: ['callbacks'],
    consumes: ['application/x-www-form-urlencoded'],
    params: Params,
    response: { 200: { content: { 'text/xml': { schema: Type.String() } } }, ...errorResponses },
  }
  return async (app) => {
    takeForms(app)

    app.post(
      '/api/v1/transfers/:token',
      {
        schema: {
          ...answer,
          summary: 'Say what somebody hears to whom a call is put through',
          operationId: 'answerTransferTarget',
          querystring: strict({ again: Type.Optional(Again) }),
        },
      },
      async (request, reply) => {
        const target = of(request, request.params.token, request.query.again)
        const { provider, verbs } = await callbacks.next(target, { type: 'answered' })
        const { body, contentType } = carriers[provider].document(verbs)
        return reply.type(contentType).send(body)
      },
    )

    app.post(
      '/api/v1/transfers/:token/keys',
      {
        schema: {
          ...answer,
          summary: 'Take whether they take the call',
          operationId: 'takeTransferKey',
          querystring: strict({
            again: Type.Optional(Again),
            digits: Type.Optional(
              Type.String({
                maxLength: MAX_CHARS,
                description: 'What was pressed, of a carrier that was told to ask again',
              }),
            ),
          }),
        },
      },
      async (request, reply) => {
        const { again, digits: pressed = '' } = request.query
        const digits = formOf(request).get('Digits').slice(0, MAX_CHARS) || pressed
        const target = of(request, request.params.token, again)
        const { provider, verbs } = await callbacks.next(target, { type: 'key', digits })
        const { body, contentType } = carriers[provider].document(verbs)
        return reply.type(contentType).send(body)
      },
    )

    app.post(
      '/api/v1/transfers/:token/status',
      {
        schema: {
          tags: ['callbacks'],
          summary: 'Take what a carrier tells of a call to them',
          operationId: 'takeTransferStatus',
          params: Params,
          response: { 200: Type.Object({ ok: Ok }), ...errorResponses },
        },
      },
      async (request) => {
        const status = formOf(request).get('CallStatus').slice(0, MAX_CHARS)
        await callbacks.next(of(request, request.params.token), { type: 'status', status })
        return { ok: true as const }
      },
    )
  }
}
