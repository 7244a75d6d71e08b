import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { afterAll, beforeAll } from 'vitest'
import { systemClock } from '../../src/kernel/clock.ts'
import { CoarseClock } from '../../src/kernel/coarse-clock.ts'
import { adminGuard } from '../../src/platform/http/guards.ts'
import { makeMetrics } from '../../src/platform/http/metrics.ts'
import { buildServer, type HttpServer } from '../../src/platform/http/server.ts'
import { makeLog } from '../../src/platform/log.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What a call sends beside its method and path. Without `adminKey` the right one is sent. */
type Sent = { body?: unknown; adminKey?: string | null; headers?: Record<string, string> }

/** An answer whose body the test takes for a `Body`. */
type Answer<Body> = { status: number; body: Body }

export type AdminServer = {
  /** Calls a path below `/api/v1/admin`, such as `/tenants/acme/agents`. */
  call<Body = unknown>(method: Method, path: string, sent?: Sent): Promise<Answer<Body>>
}

const ADMIN_KEY = 'ak_test_key_of_the_admin_server'

/**
 * Gives a test file a real server with the given admin routes behind the real guard; no port is opened.
 *
 * @param routes is called once the database of the file is open: call `useDatabase` first.
 */
export function useAdminServer(routes: () => FastifyPluginAsyncTypebox[]): AdminServer {
  let server: HttpServer | undefined
  const metrics = makeMetrics(new CoarseClock(systemClock))
  beforeAll(async () => {
    const log = makeLog({ level: 'silent', secrets: [] })
    server = buildServer({ log, clock: systemClock, metrics, trustProxy: false })
    server.addHook('onRequest', adminGuard({ adminKey: ADMIN_KEY }))
    for (const plugin of routes()) await server.register(plugin)
    await server.ready()
  })
  afterAll(async () => {
    await server?.close()
    metrics.stop()
  })
  return {
    async call<Body>(method: Method, path: string, { body, adminKey = ADMIN_KEY, headers = {} }: Sent = {}) {
      if (!server) throw new Error('the server is up only while tests run')
      const response = await server.inject({
        method,
        url: `/api/v1/admin${path}`,
        headers: { ...headers, ...(adminKey !== null && { 'x-admin-key': adminKey }) },
        ...(body !== undefined && { payload: body as object }),
      })
      return { status: response.statusCode, body: response.json<Body>() }
    },
  }
}
