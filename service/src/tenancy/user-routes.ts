import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { ROLES } from '../kernel/actor.ts'
import type { UserId } from '../kernel/ids.ts'
import { readPage } from '../kernel/pages.ts'
import { actorOf } from '../platform/http/guards.ts'
import {
  AnyId,
  errorResponses,
  forPeople,
  iso,
  isoOrNull,
  listBody,
  listResponse,
  nullable,
  Ok,
  PageQuery,
  strict,
  Timestamp,
} from '../platform/http/schemas.ts'
import { NEW_PASSWORD } from './login-bounds.ts'
import { TenantParams, TenantRef } from './tenant-values.ts'
import type { UserRow } from './user-store.ts'
import type { Users, WrittenUser } from './users.ts'

const UserParams = strict({ tenant_id: TenantRef, user_id: Type.Unsafe<UserId>(AnyId) })

const email = Type.String({ format: 'email', description: 'What they log in with; nobody else has it.' })
const name = forPeople(200)
const role = Type.Enum(ROLES, {
  description:
    'viewer: reads. operator: also live calls, tasks and the do-not-call list. admin: everything of the tenant.',
})
const password = Type.String({ ...NEW_PASSWORD, description: 'At least 12 characters.' })

const CreateBody = strict({
  email,
  name: Type.Optional(name),
  role,
  password: Type.Optional(password),
})
const ChangeBody = Type.Object(
  {
    email: Type.Optional(email),
    name: Type.Optional(name),
    role: Type.Optional(role),
    password: Type.Optional(password),
    invite: Type.Optional(
      Type.Literal(true, { description: 'Takes the password away and answers a new invitation. Not with password.' }),
    ),
  },
  { additionalProperties: false, minProperties: 1 },
)

const User = Type.Object({
  id: Type.String({ format: 'uuid' }),
  tenant_id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: Type.Enum(ROLES),
  status: Type.String({ description: 'active, or invited: without a password yet' }),
  last_login_at: nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
})
const UserAnswer = Type.Object({ ok: Ok, user: User })
const WrittenAnswer = Type.Object({
  ...UserAnswer.properties,
  invitation_url: Type.Optional(
    Type.String({ description: 'Where the person sets a password, within 7 days. Shown here and never again.' }),
  ),
})

type Parts = { users: Users; origin(): string }

/** The administration of a tenant's people. */
export function userRoutes({ users, origin }: Parts): FastifyPluginAsyncTypebox {
  /** Behind the `#`, so that it is in no log of any server. */
  const answer = ({ user, invitation }: WrittenUser) => ({
    ...{ ok: true as const, user: toWire(user) },
    ...(invitation !== null && { invitation_url: `${origin()}/app/invitation#token=${invitation}` }),
  })

  return async (app) => {
    app.get(
      '/api/v1/admin/tenants/:tenant_id/users',
      {
        schema: {
          tags: ['admin'],
          summary: "List a tenant's people, newest first",
          operationId: 'listUsers',
          params: TenantParams,
          querystring: PageQuery,
          response: { 200: listResponse('users', User), ...errorResponses },
        },
      },
      async (request) => {
        const { rows, nextCursor } = await users.list(request.params.tenant_id, readPage(request.query))
        return listBody('users', rows.map(toWire), nextCursor)
      },
    )

    app.post(
      '/api/v1/admin/tenants/:tenant_id/users',
      {
        schema: {
          tags: ['admin'],
          summary: 'Add a person; without a password the answer holds an invitation',
          operationId: 'createUser',
          params: TenantParams,
          body: CreateBody,
          response: { 200: WrittenAnswer, ...errorResponses },
        },
      },
      async (request) => {
        const { name = '', password = null, ...user } = request.body
        return answer(await users.create(request.params.tenant_id, { ...user, name, password }, actorOf(request)))
      },
    )

    app.patch(
      '/api/v1/admin/tenants/:tenant_id/users/:user_id',
      {
        schema: {
          tags: ['admin'],
          summary: 'Change a person; a new password or invitation ends their sessions',
          operationId: 'changeUser',
          params: UserParams,
          body: ChangeBody,
          response: { 200: WrittenAnswer, ...errorResponses },
        },
      },
      async (request) => {
        const { tenant_id, user_id } = request.params
        return answer(await users.change(tenant_id, user_id, request.body, actorOf(request)))
      },
    )

    app.delete(
      '/api/v1/admin/tenants/:tenant_id/users/:user_id',
      {
        schema: {
          tags: ['admin'],
          summary: 'Delete a person and end their sessions',
          operationId: 'deleteUser',
          params: UserParams,
          response: { 200: UserAnswer, ...errorResponses },
        },
      },
      async (request) => {
        const { tenant_id, user_id } = request.params
        return answer({ user: await users.remove(tenant_id, user_id, actorOf(request)), invitation: null })
      },
    )
  }
}

function toWire(user: UserRow) {
  const { id, tenant_id, email, name, role, password_hash, last_login_at, created_at, updated_at } = user
  const status = password_hash === null ? 'invited' : 'active'
  const stamps = { created_at: iso(created_at), updated_at: iso(updated_at) }
  return { id, tenant_id, email, name, role, status, last_login_at: isoOrNull(last_login_at), ...stamps }
}
