import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { formOf, takeForms } from '../platform/http/forms.ts'
import { errorResponses, Ok, strict } from '../platform/http/schemas.ts'
import type { Carriers } from '../platform/telephony/registry.ts'
import type { TransferCallbacks } from './transfer-callbacks.ts'

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
  function of(request: FastifyRequest, token: string) {
    return {
      token,
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
        },
      },
      async (request, reply) => {
        const { provider, verbs } = await callbacks.next(of(request, request.params.token), { type: 'answered' })
        const { body, contentType } = carriers[provider].document(verbs)
        return reply.type(contentType).send(body)
      },
    )

    app.post(
      '/api/v1/transfers/:token/keys',
      {
        schema: { ...answer, summary: 'Take whether they take the call', operationId: 'takeTransferKey' },
      },
      async (request, reply) => {
        const digits = formOf(request).get('Digits').slice(0, MAX_CHARS)
        const { provider, verbs } = await callbacks.next(of(request, request.params.token), { type: 'key', digits })
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
