import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Clock } from '../../kernel/clock.ts'
import { invalidRequest } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { DEFAULT_LIMIT_ROWS, MAX_LIMIT_ROWS } from '../../kernel/pages.ts'
import type { Followers } from '../http/followers.ts'
import { type Guard, tenantOrNull } from '../http/guards.ts'
import type { RateLimits } from '../http/rate-limits.ts'
import { ErrorBody, errorResponses, Ok, strict } from '../http/schemas.ts'
import { isStillLetIn } from '../http/still-let-in.ts'
import type { WebSockets } from '../http/web-sockets.ts'
import type { LiveLog } from './live-log.ts'
import { LINE_LEVELS, type LineFilter, type LogLine, shownTo } from './log-line.ts'
import { LogSocket } from './log-socket.ts'

const filters = {
  level: Type.Optional(Type.Enum(LINE_LEVELS, { default: 'debug', description: 'This level and above.' })),
  call_sid: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Of this call.' })),
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Words in the line, in any case.' })),
  tenant_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: "Of this tenant: the administrator's filter." }),
  ),
}
const Filters = strict(filters)
const RecentQuery = strict({
  ...filters,
  limit: Type.Optional(
    Type.Integer({ minimum: 0, maximum: MAX_LIMIT_ROWS, default: DEFAULT_LIMIT_ROWS, description: 'Lines.' }),
  ),
})
const SocketQuery = strict({
  ...filters,
  auth_token: Type.Optional(
    Type.String({ maxLength: 512, description: 'A credential of a tenant, if LEGACY_QUERY_AUTH_ENABLED takes it.' }),
  ),
})

const Line = Type.Unsafe<LogLine>({ type: 'object', additionalProperties: true })

type Deps = {
  clock: Clock
  liveLog: LiveLog
  subscribers: Followers
  webSockets: WebSockets
  /** Lets in whoever may read a log; of a request for a socket also by what its query says. */
  guards: { recent: Guard; socket: Guard }
  limits: Pick<RateLimits, 'ofTenant'>
}

/** The log as its readers see it: lately, and as it is written. A tenant reads its own lines, the administrator all. */
export function logRoutes({
  clock,
  liveLog,
  subscribers,
  webSockets,
  guards,
  limits,
}: Deps): FastifyPluginAsyncTypebox {
  async function count(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const tenantId = tenantOrNull(request)
    if (tenantId !== null) await limits.ofTenant(tenantId, reply)
  }

  return async (app) => {
    app.get(
      '/api/v1/logs',
      {
        onRequest: [guards.recent, count],
        schema: {
          tags: ['runtime'],
          summary: 'List recent lines of the log, newest first',
          operationId: 'listLogs',
          querystring: RecentQuery,
          response: {
            200: Type.Object({ ok: Ok, count: Type.Integer({ minimum: 0 }), logs: Type.Array(Line) }),
            ...errorResponses,
          },
        },
      },
      async (request) => {
        const reader = tenantOrNull(request)
        const { limit = DEFAULT_LIMIT_ROWS, ...query } = request.query
        const lines = await liveLog.recent(filterOf(reader, query), limit)
        return { ok: true as const, count: lines.length, logs: lines.map((line) => shownTo(reader, line)) }
      },
    )

    app.get(
      '/logs',
      {
        onRequest: [async (request) => webSockets.expectUpgrade(request), guards.socket, count],
        schema: {
          tags: ['runtime'],
          summary: 'Follow the log',
          description:
            'WebSocket. Each message is a line: {time, level, msg, tenant_id, …}. A reader that is too slow is told how many it has missed: {type: "dropped", count}.',
          operationId: 'followLogs',
          querystring: SocketQuery,
          response: { 426: ErrorBody, ...errorResponses },
        },
      },
      async (request, reply) => {
        const reader = tenantOrNull(request)
        const filter = filterOf(reader, request.query)
        const leave = subscribers.enter(reader)
        // A socket that is gone before it is one tells nobody but its connection.
        request.raw.socket.once('close', leave)
        if (request.raw.socket.destroyed) leave()
        webSockets.accept(request, reply, (socket) => {
          socket.exempt()
          const follower: LogSocket = new LogSocket(socket, {
            clock,
            mayStay: () => isStillLetIn(guards.socket, request),
            shown: (line) => shownTo(reader, line),
            onClosed() {
              unfollow()
              leave()
            },
          })
          const unfollow = liveLog.follow(filter, follower)
          return follower
        })
      },
    )
  }
}

/** What a tenant wants is always of its own. @throws AppError `invalid_request` when it asks for another one's. */
function filterOf(reader: TenantId | null, query: Static<typeof Filters>): LineFilter {
  const { level = 'debug', call_sid = null, q = null, tenant_id = reader } = query
  if (reader !== null && tenant_id !== reader)
    throw invalidRequest([{ path: '/query/tenant_id', message: 'is a filter for the administrator' }])
  // Sound: what is no id is the id of nothing.
  return { reader, tenantId: tenant_id as TenantId | null, level, callSid: call_sid, text: q }
}
