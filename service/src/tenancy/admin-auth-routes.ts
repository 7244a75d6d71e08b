import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { type Actor, ROLES } from '../kernel/actor.ts'
import { isRecognised, knownActorOf } from '../platform/http/guards.ts'
import { refuseForeignOrigin, sessionTokenOf, setSession } from '../platform/http/people.ts'
import type { RateLimits } from '../platform/http/rate-limits.ts'
import { errorResponses, nullable, Ok, strict } from '../platform/http/schemas.ts'
import { type AdminSessions, SESSION_MS } from './admin-sessions.ts'
import { LOGIN_NAME, NEW_PASSWORD } from './login-bounds.ts'
import type { LoggedIn, Logins } from './logins.ts'
import type { Users } from './users.ts'

const LoginBody = strict({
  username: Type.String({ ...LOGIN_NAME, description: 'ADMIN_USERNAME, or the e-mail of a person.' }),
  password: Type.String({ minLength: 1, maxLength: NEW_PASSWORD.maxLength }),
})
const InvitationBody = strict({
  token: Type.String({ minLength: 1, maxLength: 100, description: 'What the invitation link holds.' }),
  password: Type.String({ ...NEW_PASSWORD, description: 'From now on; at least 12 characters.' }),
})

const LoginAnswer = Type.Object({ ok: Ok, username: Type.String() })
const Status = Type.Object({
  ok: Ok,
  authenticated: Type.Boolean(),
  login_enabled: Type.Boolean({ description: 'Whether there is a password to log in with.' }),
  username: nullable(Type.String({ description: 'Of a person their e-mail, which may change in a session.' })),
  user_id: nullable(Type.String({ format: 'uuid', description: 'Of a person, for good; null for the administrator.' })),
  role: nullable(Type.Enum(ROLES)),
  tenant_id: nullable(Type.String({ description: 'Of a person; null for the administrator.' })),
  sso_enabled: Type.Boolean(),
  sso_authorize_url: nullable(Type.String({ description: 'Where a browser goes to log in there.' })),
  simulated: Type.Object(
    {
      carrier: Type.Boolean({ description: 'No call leaves the machine.' }),
      model: Type.Boolean({ description: 'Agents follow a script, and understand no speech.' }),
    },
    { description: 'Which providers a simulator stands in for: whether this is a rehearsal.' },
  ),
  standby: Type.Boolean({ description: 'Whether STANDBY is true: calls and deliveries are those of another process.' }),
})

type Parts = {
  logins: Logins
  sessions: AdminSessions
  users: Users
  /** The path at which single sign-on begins; null without it. */
  ssoPath: string | null
  /** The origin at which browsers reach this service. */
  origin(): string
  limits: Pick<RateLimits, 'asStranger'>
  /** Which providers a simulator stands in for. */
  simulated: { carrier: boolean; model: boolean }
  /** Whether this process takes changes of configuration and nothing else. */
  standby: boolean
}

/** How people log in and out. None of it needs a credential. */
export function adminAuthRoutes(parts: Parts): FastifyPluginAsyncTypebox {
  const { logins, sessions, users, ssoPath, origin, limits, simulated, standby } = parts
  const ssoUrl = () => (ssoPath === null ? null : origin() + ssoPath)
  const status = (actor: Actor | null) => ({ ...statusOf(actor), ...offered(logins, ssoUrl()), simulated, standby })

  function welcome(reply: FastifyReply, { actor, token }: LoggedIn) {
    setSession(reply, origin(), { token, lifetimeMs: SESSION_MS })
    return { ok: true as const, username: actor.name }
  }

  return async (app) => {
    // Before any work is done for somebody who may be anybody.
    app.addHook('onRequest', async (request, reply) => {
      if (!isRecognised(request)) await limits.asStranger(request, reply)
    })

    app.post(
      '/api/v1/admin/auth/login',
      {
        schema: {
          tags: ['admin'],
          summary: 'Log in: the session is in a cookie',
          operationId: 'logIn',
          body: LoginBody,
          response: { 200: LoginAnswer, ...errorResponses },
        },
      },
      async (request, reply) => {
        refuseOtherPages(request, origin())
        const asked = { ...request.body, ip: request.ip, previous: sessionTokenOf(request) }
        return welcome(reply, await logins.login(asked))
      },
    )

    app.post(
      '/api/v1/admin/auth/invitation',
      {
        schema: {
          tags: ['admin'],
          summary: 'Accept an invitation: set a password and log in',
          operationId: 'acceptInvitation',
          body: InvitationBody,
          response: { 200: LoginAnswer, ...errorResponses },
        },
      },
      async (request, reply) => {
        refuseOtherPages(request, origin())
        logins.expectEnabled()
        const user = await users.accept(request.body.token, request.body.password)
        return welcome(reply, await logins.letIn(user, sessionTokenOf(request)))
      },
    )

    app.post(
      '/api/v1/admin/auth/logout',
      {
        schema: {
          tags: ['admin'],
          summary: 'Log out: the session is over on every node',
          operationId: 'logOut',
          response: { 200: Status, ...errorResponses },
        },
      },
      async (request, reply) => {
        const token = sessionTokenOf(request)
        if (token !== null) await sessions.end(token)
        setSession(reply, origin(), { token: null, lifetimeMs: 0 })
        return status(null)
      },
    )

    app.get(
      '/api/v1/admin/auth/session',
      {
        schema: {
          tags: ['admin'],
          summary: 'Who is logged in',
          operationId: 'getAdminSession',
          response: { 200: Status, ...errorResponses },
        },
      },
      async (request) => status(knownActorOf(request)),
    )
  }
}

function statusOf(actor: Actor | null) {
  const isKey = actor?.kind === 'key'
  const person = actor?.kind === 'person' ? actor : null
  const who = {
    username: isKey ? null : (actor?.name ?? null),
    user_id: person?.userId ?? null,
    role: person?.role ?? null,
  }
  return { ok: true as const, authenticated: actor !== null, ...who, tenant_id: person?.tenantId ?? null }
}

function offered({ isEnabled }: Logins, ssoUrl: string | null) {
  return { login_enabled: isEnabled, sso_enabled: ssoUrl !== null, sso_authorize_url: ssoUrl }
}

/** A page of another origin shall not log somebody in as somebody else. What is no browser has no `Origin`. */
function refuseOtherPages(request: FastifyRequest, ownOrigin: string): void {
  if (request.headers.origin !== undefined) refuseForeignOrigin(request, ownOrigin)
}
