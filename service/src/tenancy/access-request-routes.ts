import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readPage } from '../kernel/pages.ts'
import { actorOf } from '../platform/http/guards.ts'
import type { RateLimits } from '../platform/http/rate-limits.ts'
import {
  AnyId,
  errorResponses,
  iso,
  isoOrNull,
  listBody,
  listResponse,
  longRowsPageFields,
  nullable,
  Ok,
  strict,
  Timestamp,
} from '../platform/http/schemas.ts'
import { ACCESS_REQUEST_STATUSES, type AccessRequestRow } from './access-request-store.ts'
import type { AccessRequests } from './access-requests.ts'

const THANKS = 'Thank you: a person reviews your request and writes to your work e-mail.'
const MAX_AGENT_CHARS = 500

const said = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, description })
const maybe = (maxLength: number, description: string) => Type.Optional(Type.String({ maxLength, description }))

const Intake = strict({
  company_name: said(200, 'Who asks.'),
  contact_name: said(200, 'Whom we write to.'),
  work_email: said(254, 'A business e-mail address.'),
  use_case: said(4_000, 'What the calls are to be about.'),
  phone: maybe(50, 'As it is written.'),
  role: maybe(200, 'The role of the contact.'),
  timeline: maybe(200, 'When it is to begin.'),
  website: maybe(2_000, 'An http or https address.'),
  expected_monthly_minutes: maybe(100, 'A range, such as 1000-5000.'),
  company_website_confirm: maybe(2_000, 'Left empty by people.'),
})
const Taken = Type.Object({ ok: Ok, message: Type.String(), request_id: Type.String({ format: 'uuid' }) })

const Status = Type.Enum(ACCESS_REQUEST_STATUSES)
const AccessRequest = Type.Object({
  id: Type.String({ format: 'uuid' }),
  company_name: Type.String(),
  contact_name: Type.String(),
  created_at: Timestamp,
  expected_monthly_minutes: Type.String(),
  metadata: Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
  phone: Type.String(),
  remote_addr: Type.String(),
  reviewed_at: nullable(Timestamp),
  role: Type.String(),
  source: Type.String(),
  status: Status,
  timeline: Type.String(),
  use_case: Type.String(),
  user_agent: Type.String(),
  website: Type.String(),
  work_email: Type.String(),
})

/** The open page at which people ask to become a tenant. */
export function intakeRoutes(
  requests: Pick<AccessRequests, 'take'>,
  limits: Pick<RateLimits, 'asStranger'>,
): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.addHook('onRequest', limits.asStranger)
    app.post(
      '/api/v1/access-requests',
      {
        schema: {
          tags: ['public'],
          summary: 'Ask to become a tenant',
          operationId: 'requestAccess',
          body: Intake,
          response: { 202: Taken, ...errorResponses },
        },
      },
      async (request, reply) => {
        const { company_website_confirm: honeypot = '', ...given } = request.body
        const { phone = '', role = '', timeline = '', website = '', expected_monthly_minutes = '' } = given
        const user_agent = (request.headers['user-agent'] ?? '').slice(0, MAX_AGENT_CHARS)
        const facts = { source: 'api', remote_addr: request.ip, user_agent }
        const optional = { phone, role, timeline, website, expected_monthly_minutes }
        const request_id = await requests.take({ ...given, ...optional, ...facts, honeypot })
        return reply.code(202).send({ ok: true as const, message: THANKS, request_id })
      },
    )
  }
}

const Review = strict({
  status: Status,
  note: Type.Optional(
    Type.String({ maxLength: 2_000, description: 'Left out it stays; an empty one takes away what is noted.' }),
  ),
})

/** The administration of those who asked. */
export function accessRequestRoutes(requests: AccessRequests): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/admin/api-access-requests',
      {
        schema: {
          tags: ['admin'],
          summary: 'List access requests, newest first',
          operationId: 'listAccessRequests',
          querystring: strict({ ...longRowsPageFields, status: Type.Optional(Status) }),
          response: { 200: listResponse('requests', AccessRequest), ...errorResponses },
        },
      },
      async (request) => {
        const { status = null, ...page } = request.query
        const { rows, nextCursor } = await requests.list(status, readPage(page))
        return listBody('requests', rows.map(toWire), nextCursor)
      },
    )

    app.patch(
      '/api/v1/admin/api-access-requests/:id',
      {
        schema: {
          tags: ['admin'],
          summary: 'Say what was made of an access request',
          operationId: 'reviewAccessRequest',
          params: strict({ id: AnyId }),
          body: Review,
          response: { 200: Type.Object({ ok: Ok, request: AccessRequest }), ...errorResponses },
        },
      },
      async (request) => {
        const { status, note = null } = request.body
        const reviewed = await requests.review(request.params.id, { status, note }, actorOf(request))
        return { ok: true as const, request: toWire(reviewed) }
      },
    )
  }
}

function toWire({ created_at, reviewed_at, ...request }: AccessRequestRow) {
  return { ...request, created_at: iso(created_at), reviewed_at: isoOrNull(reviewed_at) }
}
