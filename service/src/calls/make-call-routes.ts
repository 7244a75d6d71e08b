import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { AgentVersionId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { personNameOf, tenantOf } from '../platform/http/guards.ts'
import { requestKeyOf, tellReplay } from '../platform/http/request-keys.ts'
import { ErrorBody, errorResponses, forPeople, nullable, Ok, strict } from '../platform/http/schemas.ts'
import { CALL_STATUSES } from '../records/call-values.ts'
import { CallMetadata } from './call-metadata.ts'
import type { CallRequest, MakeCall } from './make-call.ts'

const optional = (maxLength: number, description: string) =>
  Type.Optional(nullable(Type.String({ minLength: 1, maxLength, description })))
const phone = (description: string) => Type.Unsafe<PhoneNumber>(Type.String({ format: 'phone', description }))

const Body = strict({
  to: phone('Who is called, in E.164.'),
  from: Type.Optional(
    nullable(phone('A number of the tenant. Default: that of the route with outbound_default, else from_number.')),
  ),
  agent_key: optional(63, "Who speaks: what the agent has published. Default: the default route's agent."),
  agent_version_id: optional(200, 'An exact version in place of a key; drafts too.'),
  greeting: Type.Optional(nullable(forPeople(2000, "Said first, in place of the agent's own greeting."))),
  org_id: optional(200, "Default: the tenant's."),
  metadata: Type.Optional(CallMetadata("The tenant's own, kept with the call.")),
  callback_task_id: optional(200, 'The callback task that the call is for.'),
})

const Answer = Type.Object({
  ok: Ok,
  call_sid: nullable(
    Type.String({
      description:
        'Null only for a repeated request whose call the carrier did not confirm in time: most likely nobody was called.',
    }),
  ),
  status: Type.Enum(CALL_STATUSES, { description: 'queued, but for a repeated request whose call was in doubt.' }),
  to: Type.String(),
  from: Type.String(),
})

/** The way in for calls that tenants want placed. To be registered behind `tenantGuard`. */
export function makeCallRoutes(calls: MakeCall): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/api/v1/make-call',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Place a call',
          operationId: 'makeCall',
          body: Body,
          response: { 200: Answer, ...errorResponses, 422: ErrorBody },
        },
      },
      async (request, reply) => {
        const made = await calls.make(tenantOf(request), requestOf(request))
        if (made.isReplay) tellReplay(reply)
        const { callSid, status, to, from } = made.answer
        return { ok: true as const, call_sid: callSid, status, to, from }
      },
    )
  }
}

function requestOf(request: FastifyRequest<{ Body: Static<typeof Body> }>): CallRequest {
  const { body } = request
  return {
    to: body.to,
    from: body.from ?? null,
    agentKey: body.agent_key ?? null,
    // Sound: what is no id is the id of nothing.
    versionId: (body.agent_version_id ?? null) as AgentVersionId | null,
    greeting: body.greeting ?? null,
    orgId: body.org_id ?? null,
    metadata: body.metadata ?? {},
    callbackTaskId: body.callback_task_id ?? null,
    placedBy: personNameOf(request),
    idempotency: requestKeyOf(request),
  }
}
