import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { afterAll, beforeAll } from 'vitest'
import { systemClock } from '../../src/kernel/clock.ts'
import { CoarseClock } from '../../src/kernel/coarse-clock.ts'
import type { TenantId } from '../../src/kernel/ids.ts'
import { sha256 } from '../../src/kernel/seal.ts'
import type { Db } from '../../src/platform/db/schema.ts'
import { tenantGuard } from '../../src/platform/http/guards.ts'
import { makeMetrics } from '../../src/platform/http/metrics.ts'
import { buildServer, type HttpServer } from '../../src/platform/http/server.ts'
import { makeLog } from '../../src/platform/log.ts'
import { makeCredentials } from '../../src/tenancy/credentials.ts'
import { makeTenant } from './tenants.ts'

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An answer whose body the test takes for a `Body`. */
type Answer<Body> = { status: number; body: Body }

export type TenantServer = {
  /** Calls a path below `/api/v1` as the tenant, made by `makeTenantWithToken`; as nobody when it is null. */
  call<Body = unknown>(tenant: string | null, method: Method, path: string, body?: unknown): Promise<Answer<Body>>
  /** The same with a body and an answer that are no JSON, or with headers. */
  send(tenant: string | null, method: Method, path: string, sent?: Sent): Promise<SentBack>
}

type Sent = { type?: string; body?: string | Buffer | object; headers?: Record<string, string> }
type SentBack = { status: number; text: string; headers: Record<string, unknown> }

/** Stores a tenant with an empty document, as which a `TenantServer` can be called. */
export function makeTenantWithToken(db: Db, id: string): Promise<TenantId> {
  return makeTenant(db, id, sha256(tokenOf(id)))
}

function tokenOf(tenant: string): string {
  return `bearer-token-of-${tenant}`
}

/**
 * Gives a test file a real server with the given routes behind the real guard and the real credentials; no port is opened.
 *
 * @param db where the tenants are, asked for once the database of the file is open: call `useDatabase` first.
 */
export function useTenantServer(db: () => Db, routes: () => FastifyPluginAsyncTypebox[]): TenantServer {
  let close: (() => Promise<void>) | undefined
  let server: HttpServer | undefined
  beforeAll(async () => {
    const log = makeLog({ level: 'silent', secrets: [] })
    const metrics = makeMetrics(new CoarseClock(systemClock))
    const credentials = makeCredentials({ db: db(), clock: systemClock, log, legacyEnabled: true })
    const built = buildServer({ log, clock: systemClock, metrics, trustProxy: false })
    built.addHook('onRequest', tenantGuard({ findTenant: (token) => credentials.findTenant(token) }))
    for (const plugin of routes()) await built.register(plugin)
    await built.ready()
    server = built
    close = async () => {
      await built.close()
      await credentials.close()
      metrics.stop()
    }
  })
  afterAll(() => close?.())
  return {
    async send(tenant, method, path, { type, body, headers: more } = {}) {
      if (!server) throw new Error('the server is up only while tests run')
      const headers = {
        ...more,
        ...(tenant !== null && { authorization: `Bearer ${tokenOf(tenant)}` }),
        ...(type !== undefined && { 'content-type': type }),
      }
      const url = `/api/v1${path}`
      const response = await server.inject({ method, url, headers, ...(body !== undefined && { payload: body }) })
      return { status: response.statusCode, text: response.body, headers: response.headers }
    },
    async call<Body>(tenant: string | null, method: Method, path: string, body?: unknown) {
      if (!server) throw new Error('the server is up only while tests run')
      const response = await server.inject({
        method,
        url: `/api/v1${path}`,
        headers: tenant === null ? {} : { authorization: `Bearer ${tokenOf(tenant)}` },
        ...(body !== undefined && { payload: body as object }),
      })
      return { status: response.statusCode, body: response.json<Body>() }
    },
  }
}
