import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Clock } from '../kernel/clock.ts'
import { formOf, takeForms } from '../platform/http/forms.ts'
import { AnyId, errorResponses, Ok, strict } from '../platform/http/schemas.ts'
import type { Carriers } from '../platform/telephony/registry.ts'
import { Again, idsIn } from './incoming-routes.ts'
import type { OutboundAnswer } from './outbound-answer.ts'
import type { OutboundCallbacks } from './outbound-callbacks.ts'
import { readStatusCallback } from './status-callback.ts'

type Deps = {
  clock: Clock
  answers: OutboundAnswer
  callbacks: OutboundCallbacks
  carriers: Carriers
  /** The public address of this service: what the carrier signed is read from it, never from a header. */
  publicUrl: () => string
}

const Params = strict({ dial_ref: AnyId })

/** What carriers ask and tell about calls that they were asked for: the address names the dial. */
export function outboundRoutes({ clock, answers, callbacks, carriers, publicUrl }: Deps): FastifyPluginAsyncTypebox {
  function of(request: FastifyRequest, dialRef: string) {
    const form = formOf(request)
    const signed = { url: publicUrl() + request.url, headers: request.headers, form: form.fields() }
    return { ...idsIn(form), dialRef, signed }
  }

  return async (app) => {
    takeForms(app)

    app.post(
      '/api/v1/call-resume/:dial_ref',
      {
        schema: {
          tags: ['callbacks'],
          consumes: ['application/x-www-form-urlencoded'],
          summary: 'Say what to do with a call that was placed',
          operationId: 'answerOutboundCall',
          params: Params,
          querystring: strict({ again: Type.Optional(Again) }),
          response: { 200: { content: { 'text/xml': { schema: Type.String() } } }, ...errorResponses },
        },
      },
      async (request, reply) => {
        const { again = 0 } = request.query
        const { provider, verbs } = await answers.next({ ...of(request, request.params.dial_ref), again })
        const { body, contentType } = carriers[provider].document(verbs)
        return reply.type(contentType).send(body)
      },
    )

    app.post(
      '/api/v1/call-status/:dial_ref',
      {
        schema: {
          tags: ['callbacks'],
          summary: 'Take what a carrier tells of a call that was placed',
          operationId: 'takeOutboundCallStatus',
          params: Params,
          response: { 200: Type.Object({ ok: Ok }), ...errorResponses },
        },
      },
      async (request) => {
        const told = readStatusCallback(formOf(request).toObject(), new Date(clock.now()))
        await callbacks.take({ ...of(request, request.params.dial_ref), report: told?.report ?? null })
        return { ok: true as const }
      },
    )
  }
}
