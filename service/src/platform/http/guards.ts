import type { FastifyRequest } from 'fastify'
import { type Actor, KEY_HOLDER, type Person } from '../../kernel/actor.ts'
import { AppError } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { secretsEqual } from '../../kernel/seal.ts'
import { type Asking, askingFor, type People, personOf, refuseForeignOrigin, sessionTokenOf } from './people.ts'

/** An `onRequest` hook: it runs before the body is read, so a 401 comes before any 400. */
export type Guard = (request: FastifyRequest) => Promise<void>

/** Whose token it is, or null. */
export type FindTenant = (token: string, asking: Asking) => Promise<{ tenantId: TenantId } | null>

const ADMIN_PATH = '/api/v1/admin'

/** Who is not known yet may ask for these, and finds out by them whether they are. */
const OPEN_ROUTES = new Set(
  ['login', 'logout', 'session', 'invitation', 'sso/start', 'sso/callback'].map((name) => `${ADMIN_PATH}/auth/${name}`),
)

type AdminGuard = { adminKey: string | null; people?: People }

/**
 * Guards every path below `/api/v1/admin`, known or not, with the `x-admin-key` header or the cookie of a session. To be set as
 * a hook of the whole server, so that no route can be forgotten. Where there is neither a key nor a way to log in these paths
 * do not exist.
 *
 * @throws AppError `not_found` then, and for a person in place of another tenant; `unauthorized` for a missing or wrong
 * credential; `forbidden` for what a person's role may not, and as `personOf`.
 */
export function adminGuard({ adminKey, people }: AdminGuard): Guard {
  return async (request) => {
    if (!isAdminPath(request)) return
    if (adminKey === null && !people?.isEnabled) throw new AppError('not_found', 'The admin endpoints are not enabled.')
    const actor = await administratorOf(request, { adminKey, ...(people && { people }) })
    if (actor instanceof AppError) {
      if (OPEN_ROUTES.has(request.routeOptions.url ?? '')) return
      throw actor
    }
    administrators.add(request)
    actors.set(request, actor)
    if (actor.kind === 'person' && people) confine(request, actor, people)
  }
}

/** Or the refusal, for whoever cannot do without. */
async function administratorOf(request: FastifyRequest, { adminKey, people }: AdminGuard): Promise<Actor | AppError> {
  const given = request.headers['x-admin-key']
  if (typeof given === 'string') {
    const isRight = adminKey !== null && secretsEqual(given, adminKey)
    return isRight ? KEY_HOLDER : refusedAdmin('The admin key is wrong.')
  }
  const actor = people?.isEnabled ? await personOf(request, people, isRecognised(request)) : null
  return actor ?? refusedAdmin('Send the admin key in the x-admin-key header, or log in.')
}

/** Another tenant is not there for them; what their own tenant has may be beyond their role. */
function confine(request: FastifyRequest, { tenantId, role }: Person, people: People): void {
  const { method, routeOptions } = request
  const { tenant_id: asked } = request.params as { tenant_id?: string }
  if (asked !== undefined && asked !== tenantId) throw new AppError('not_found', 'There is no such tenant.')
  // To an unknown path there is no right: it is answered as such.
  if (request.is404 || OPEN_ROUTES.has(routeOptions.url ?? '')) return
  if (!people.mayDo(role, method, routeOptions.url ?? '')) throw beyondRole(role)
}

function beyondRole(role: string): AppError {
  return new AppError('forbidden', `Your role (${role}) may not do this.`)
}

/**
 * Asks for both the matched route and the path as it was sent: the router decodes `%61dmin` before it matches, and a path
 * that matches no route must not tell by a 404 that it is unknown.
 */
export function isAdminPath(request: FastifyRequest): boolean {
  return [request.routeOptions.url, decodedPath(request.url)].some(
    (path) => path === ADMIN_PATH || path?.startsWith(`${ADMIN_PATH}/`),
  )
}

/** The router has refused paths that cannot be decoded before any hook runs. */
function decodedPath(url: string): string {
  return decodeURIComponent(url.replace(/[?#].*$/s, ''))
}

function refusedAdmin(message: string): AppError {
  return new AppError('unauthorized', message, { headers: { 'www-authenticate': 'ApiKey header="x-admin-key"' } })
}

const administrators = new WeakSet<FastifyRequest>()
const actors = new WeakMap<FastifyRequest, Actor>()
const tenants = new WeakMap<FastifyRequest, TenantId>()

/**
 * Whether a guard has let the request in. It has used its credential with that: whoever asks a guard again, while they are still
 * answered, only looks whether it is still good.
 */
export function isRecognised(request: FastifyRequest): boolean {
  return administrators.has(request) || tenants.has(request)
}

const MAX_TOKEN_CHARS = 512

/** RFC 6750's `Bearer`, whose word is matched in any case; a token is up to 512 visible characters. */
const BEARER = /^bearer +([\x21-\x7e]{1,512}) *$/i

/** The bearer token of a request, or null. */
export function bearerOf({ headers }: FastifyRequest): string | null {
  return BEARER.exec(headers.authorization ?? '')?.[1] ?? null
}

/** Says for which tenant an administrator acts. It counts with an administrator's credential alone. */
const TENANT_HEADER = 'x-tenant-id'

/** Lets administrators of the installation use what is a tenant's. */
export type ActingFor = {
  adminKey: string | null
  /** The tenant of this id; null when there is none. @throws AppError `unavailable`. */
  find(tenantId: string): Promise<TenantId | null>
}

type TenantGuard = { findTenant: FindTenant; people?: People; acting?: ActingFor }

/**
 * Lets holders of a tenant's token in, with `people` those of a tenant who are logged in, with `acting` administrators who say
 * for which tenant, and remembers the tenant for `tenantOf`. Whoever sends a token is the tenant whose token it is, whatever
 * else they send. Set it as a hook of the plugin that holds the tenants' routes.
 *
 * @throws AppError `unauthorized` with a `WWW-Authenticate` of RFC 6750, `forbidden` for what a person may not and for an
 * administrator who names no tenant, `not_found` for one who names a tenant that there is not.
 */
export function tenantGuard({ findTenant, people, acting }: TenantGuard): Guard {
  return async (request) => {
    const actor = request.headers.authorization === undefined ? await actorAt(request, people, acting) : null
    if (actor !== null) {
      actors.set(request, actor)
      tenants.set(request, await tenantFor(request, actor, { ...(people && { people }), ...(acting && { acting }) }))
      return
    }
    const token = bearerOf(request)
    if (token === null) throw refusedTenant('Send a tenant API key as Authorization: Bearer.', 'Bearer')
    await letHolderIn(request, findTenant, token)
  }
}

/** The admin key alone opens nothing here: with the name of a tenant it does. */
async function actorAt(request: FastifyRequest, people?: People, acting?: ActingFor): Promise<Actor | null> {
  const { 'x-admin-key': adminKey, [TENANT_HEADER]: asked } = request.headers
  if (acting && adminKey !== undefined && asked !== undefined) {
    const actor = await administratorOf(request, { adminKey: acting.adminKey })
    if (actor instanceof AppError) throw actor
    return actor
  }
  return people ? personOf(request, people, isRecognised(request)) : null
}

type Actable = { people?: People; acting?: ActingFor }

async function tenantFor(request: FastifyRequest, actor: Actor, { people, acting }: Actable): Promise<TenantId> {
  const { [TENANT_HEADER]: asked } = request.headers
  if (actor.kind !== 'person') {
    if (!acting || typeof asked !== 'string') {
      throw new AppError('forbidden', `The administrator is of no tenant: say in ${TENANT_HEADER} for which one.`)
    }
    const tenantId = await acting.find(asked)
    if (tenantId === null) throw new AppError('not_found', 'There is no such tenant.')
    return tenantId
  }
  if (asked !== undefined && asked !== actor.tenantId) {
    throw new AppError(
      'forbidden',
      `Only an administrator of the installation names another tenant in ${TENANT_HEADER}.`,
    )
  }
  return tenantOfPerson(request, actor, people)
}

function tenantOfPerson(request: FastifyRequest, person: Person, people: People | undefined): TenantId {
  if (!people?.mayDo(person.role, request.method, request.routeOptions.url ?? '')) throw beyondRole(person.role)
  return person.tenantId
}

function refusedTenant(message: string, challenge: string): AppError {
  return new AppError('unauthorized', message, { headers: { 'www-authenticate': challenge } })
}

/**
 * The tenant whose token came with the request.
 *
 * @throws Error on a route without `tenantGuard`: a fault of ours.
 */
export function tenantOf(request: FastifyRequest): TenantId {
  const tenantId = tenants.get(request)
  if (tenantId === undefined) throw new Error(`no tenant guard on ${request.routeOptions.url}`)
  return tenantId
}

/** The same; null on a route that is nobody's. */
export function guardedTenantOf(request: FastifyRequest): TenantId | null {
  return tenants.get(request) ?? null
}

type ReaderGuard = {
  adminKey: string | null
  people: People
  findTenant: FindTenant
  /** Whether a tenant's token is taken from `auth_token` of the query too. */
  takesQueryTokens: boolean
}

/**
 * Lets in whoever administers, and whoever is of a tenant, by what they send first: the admin key, a bearer token, one in the
 * query, the cookie of a session (for a WebSocket only to a page of ours). `tenantOrNull` tells them apart.
 *
 * @throws AppError as `adminGuard` and `tenantGuard`.
 */
export function readerGuard({ adminKey, people, findTenant, takesQueryTokens }: ReaderGuard): Guard {
  const letTenantIn = tenantGuard({ findTenant })
  return async (request) => {
    const { 'x-admin-key': givenKey, authorization, upgrade } = request.headers
    if (givenKey === undefined && authorization !== undefined) return letTenantIn(request)
    const inQuery = takesQueryTokens ? queryTokenOf(request) : null
    if (givenKey === undefined && inQuery !== null) return letHolderIn(request, findTenant, inQuery)
    // A browser opens WebSockets for pages of any origin, and sends its cookies along.
    const isByCookie = givenKey === undefined && people.isEnabled && sessionTokenOf(request) !== null
    if (isByCookie && upgrade !== undefined) refuseForeignOrigin(request, people.origin())
    const actor = await administratorOf(request, { adminKey, people })
    if (actor instanceof AppError) {
      if (givenKey !== undefined) throw actor
      throw refusedTenant('Send a tenant API key as Authorization: Bearer, or the admin key, or log in.', 'Bearer')
    }
    actors.set(request, actor)
    if (actor.kind === 'person') tenants.set(request, tenantOfPerson(request, actor, people))
    else administrators.add(request)
  }
}

async function letHolderIn(request: FastifyRequest, findTenant: FindTenant, token: string): Promise<void> {
  const tenant = await findTenant(token, askingFor(request, isRecognised(request)))
  if (!tenant) throw refusedTenant('The API key is unknown or revoked.', 'Bearer error="invalid_token"')
  tenants.set(request, tenant.tenantId)
}

/** The credential in the query of a WebSocket's address, as clients of old send it; null without one. */
export function queryTokenOf({ query }: FastifyRequest): string | null {
  const { auth_token: token } = query as Record<string, unknown>
  return typeof token === 'string' && token !== '' && token.length <= MAX_TOKEN_CHARS ? token : null
}

/** The tenant that a request is let in for; null for the administrator, and while nobody was let in. */
export function tenantOrNull(request: FastifyRequest): TenantId | null {
  return tenants.get(request) ?? null
}

/** Who asks, as far as a guard has found out: null where nobody had to say, and for the holder of a tenant's token. */
export function knownActorOf(request: FastifyRequest): Actor | null {
  return actors.get(request) ?? null
}

/** The name of the person who asks, an administrator among them; null for the holder of a key. */
export function personNameOf(request: FastifyRequest): string | null {
  const actor = knownActorOf(request)
  return actor?.kind === 'person' || actor?.kind === 'administrator' ? actor.name : null
}

/**
 * Who asks for something of the administration.
 *
 * @throws Error on a route that is not behind `adminGuard`: a fault of ours.
 */
export function actorOf(request: FastifyRequest): Actor {
  const actor = actors.get(request)
  if (actor === undefined) throw new Error(`no admin guard on ${request.routeOptions.url}`)
  return actor
}
