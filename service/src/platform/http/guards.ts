import type { FastifyRequest } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { secretsEqual } from '../../kernel/seal.ts'

/** An `onRequest` hook: it runs before the body is read, so a 401 comes before any 400. */
export type Guard = (request: FastifyRequest) => Promise<void>

/** Whose token it is, or null. */
export type FindTenant = (token: string) => Promise<{ tenantId: TenantId } | null>

const ADMIN_PATH = '/api/v1/admin'

/**
 * Guards every path below `/api/v1/admin`, known or not, with the `x-admin-key` header. To be set as a hook of the whole
 * server, so that no route can be forgotten. Without a configured key these paths do not exist.
 *
 * @throws AppError `not_found` without a configured key, `unauthorized` for a missing or wrong one.
 */
export function adminGuard({ adminKey }: { adminKey: string | null }): Guard {
  return async (request) => {
    if (!isAdminPath(request)) return
    if (adminKey === null) throw new AppError('not_found', 'The admin endpoints are not enabled.')
    const given = request.headers['x-admin-key']
    if (typeof given !== 'string') throw refusedAdmin('Send the admin key in the x-admin-key header.')
    if (!secretsEqual(given, adminKey)) throw refusedAdmin('The admin key is wrong.')
    administrators.add(request)
  }
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
const tenants = new WeakMap<FastifyRequest, TenantId>()

/** Whether a guard has let the request in. */
export function isRecognised(request: FastifyRequest): boolean {
  return administrators.has(request) || tenants.has(request)
}

/** RFC 6750's `Bearer`, whose word is matched in any case; a token is up to 512 visible characters. */
const BEARER = /^bearer +([\x21-\x7e]{1,512}) *$/i

/** The bearer token of a request, or null. */
export function bearerOf({ headers }: FastifyRequest): string | null {
  return BEARER.exec(headers.authorization ?? '')?.[1] ?? null
}

/**
 * Lets only holders of a tenant's token in, and remembers the tenant for `tenantOf`. Set it as a hook of the plugin that
 * holds the tenants' routes.
 *
 * @throws AppError `unauthorized` with a `WWW-Authenticate` of RFC 6750.
 */
export function tenantGuard(findTenant: FindTenant): Guard {
  return async (request) => {
    const token = bearerOf(request)
    if (token === null) throw refusedTenant('Send a tenant API key as Authorization: Bearer.', 'Bearer')
    const tenant = await findTenant(token)
    if (!tenant) throw refusedTenant('The API key is unknown or revoked.', 'Bearer error="invalid_token"')
    tenants.set(request, tenant.tenantId)
  }
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
