import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../kernel/errors.ts'
import { readCookie, setCookie } from '../platform/http/cookies.ts'
import { isRecognised } from '../platform/http/guards.ts'
import { sessionTokenOf, setSession } from '../platform/http/people.ts'
import type { RateLimits } from '../platform/http/rate-limits.ts'
import { ErrorBody, errorResponses, OWN_PAGE_PATTERN, strict } from '../platform/http/schemas.ts'
import { SESSION_MS } from './admin-sessions.ts'
import { PENDING_MS, type Sso } from './sso.ts'

/** Below this the browser sends what it keeps of a login that was begun. */
const PATH = '/api/v1/admin/auth/sso'
export const SSO_START = `${PATH}/start`
export const SSO_CALLBACK = `${PATH}/callback`

const PENDING = { name: 'parley_sso', path: PATH, maxAgeSeconds: PENDING_MS / 1_000 }
const PENDING_FORM = /^sealed:v1:[A-Za-z0-9+/=]{1,3000}$/

const DASHBOARD = '/app/'

const StartQuery = strict({
  return_to: Type.Optional(
    Type.String({ pattern: OWN_PAGE_PATTERN, maxLength: 500, description: 'The page of the dashboard to go on at.' }),
  ),
})

/** Providers add members of their own. */
const CallbackQuery = Type.Object(
  { state: Type.Optional(Type.String({ maxLength: 200 })), code: Type.Optional(Type.String({ maxLength: 4_000 })) },
  { additionalProperties: true },
)

type Parts = {
  /** Null where no provider is set. */
  sso: Sso | null
  /** The origin at which browsers reach this service. */
  origin(): string
  limits: Pick<RateLimits, 'asStranger'>
}

const answers = { 302: Type.Null({ description: 'To the page that is next.' }), ...errorResponses, 502: ErrorBody }

/** What was begun is spent, whatever came of it. */
const config = { goOn: { href: DASHBOARD, label: 'To the login' } }

/** How people log in at an identity provider. Neither needs a credential. */
export function ssoRoutes({ sso, origin, limits }: Parts): FastifyPluginAsyncTypebox {
  const there = () => {
    if (!sso) throw new AppError('not_found', 'Single sign-on is not set up here.')
    return sso
  }
  const goTo = (reply: FastifyReply, url: string) => reply.header('cache-control', 'no-store').redirect(url, 302)

  return async (app) => {
    app.addHook('onRequest', async (request, reply) => {
      if (!isRecognised(request)) await limits.asStranger(request, reply)
    })

    app.get(
      SSO_START,
      {
        config,
        schema: {
          tags: ['admin'],
          summary: 'Log in at the identity provider',
          operationId: 'beginSso',
          querystring: StartQuery,
          response: answers,
        },
      },
      async (request, reply) => {
        const { url, pending } = await there().begin(request.query.return_to ?? DASHBOARD)
        setCookie(reply, origin(), { ...PENDING, value: pending })
        return goTo(reply, url)
      },
    )

    app.get(
      SSO_CALLBACK,
      {
        config,
        schema: {
          tags: ['admin'],
          summary: 'Come back from the identity provider, logged in',
          operationId: 'finishSso',
          querystring: CallbackQuery,
          response: answers,
        },
      },
      async (request, reply) => {
        const way = there()
        // Whatever comes of it: what was begun is spent.
        setCookie(reply, origin(), { ...PENDING, value: null })
        const { token, returnTo } = await way.finish({
          query: request.url.replace(/^[^?]*\??/, ''),
          pending: readCookie(request, PENDING.name, PENDING_FORM),
          ...{ ip: request.ip, previous: sessionTokenOf(request) },
        })
        setSession(reply, origin(), { token, lifetimeMs: SESSION_MS })
        return goTo(reply, origin() + returnTo)
      },
    )
  }
}
