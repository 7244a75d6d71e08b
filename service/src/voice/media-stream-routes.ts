import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import { bearerOf, type FindTenant, queryTokenOf } from '../platform/http/guards.ts'
import { askingFor } from '../platform/http/people.ts'
import type { RateLimits } from '../platform/http/rate-limits.ts'
import { ErrorBody, errorResponses } from '../platform/http/schemas.ts'
import type { WebSockets } from '../platform/http/web-sockets.ts'
import type { Log } from '../platform/log.ts'
import type { StreamCodec } from '../platform/telephony/port.ts'
import { LineSocket, type LineSocketDeps } from './lines/line-socket.ts'
import type { LineTokenClaims } from './lines/line-token.ts'
import { MediaStream, StreamRefusal, UNAUTHENTICATED } from './media-stream.ts'
import type { JoinStream } from './media-stream-join.ts'
import type { StreamWatch } from './media-stream-watch.ts'
import type { PreStartSeats } from './pre-start.ts'
import type { Shown } from './stream-grant.ts'
import type { StreamTokens } from './stream-token.ts'

export type MediaStreamRouteDeps = {
  clock: Clock
  log: Log
  /** What the carrier of a tenant speaks; of null, whose it is being unknown yet, what carriers usually speak. */
  codecOf(tenantId: TenantId | null): Promise<StreamCodec>
  webSockets: WebSockets
  tokens: StreamTokens
  findTenant: FindTenant
  /** Whether a tenant's credential is taken from `auth_token` of the query too. */
  takesQueryTokens: boolean
  seats: PreStartSeats
  watch: StreamWatch
  join: JoinStream
  /** No stream comes any more for a page's call: its token is used up. Never throws. */
  unbegun(tenantId: TenantId, callSid: string): void
  /** What people's lines into calls need. */
  lines: Pick<LineSocketDeps, 'open' | 'note' | 'mayStay'>
  /** Counts the keys of tenants that open sockets, and those that show after the handshake that they have none. */
  limits: Pick<RateLimits, 'ofTenant' | 'failed'>
  /** The public address of this service, as `wss://voice.example.com`. */
  publicSocketUrl: () => string
}

/** Where the audio of calls comes in. */
export function mediaStreamRoutes(deps: MediaStreamRouteDeps): FastifyPluginAsyncTypebox {
  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    deps.webSockets.expectUpgrade(request)
    const line = await lineShownBy(deps, request)
    if (line) return answerLine(request, reply, line)
    const shown = await shownBy(deps, request)
    if (shown?.type === 'bearer') await deps.limits.ofTenant(shown.tenantId, reply)
    const codec = await deps.codecOf(tenantIn(shown))
    const seat = shown === null ? deps.seats.take(request.ip) : null
    const unbegun = () => {
      if (shown?.type !== 'token' || shown.claims.direction !== 'browser') return
      deps.unbegun(shown.claims.tenant, shown.claims.call_sid)
    }
    // A socket that is gone before it is one tells nobody but its connection.
    let isStream = false
    request.raw.socket.once('close', () => {
      if (isStream) return
      seat?.release()
      unbegun()
    })
    const handshake = { url: deps.publicSocketUrl() + request.url, headers: request.headers }
    const { clock, log, watch, join, limits } = deps
    const { ip } = request
    deps.webSockets.accept(request, reply, (socket) => {
      isStream = true
      return new MediaStream(socket, {
        ...{ clock, log, codec, watch, seat, unbegun },
        join: (start, entry) =>
          join({ start, shown, handshake, socket, codec, ...entry }).catch((error: unknown) => {
            const isWrong = error instanceof StreamRefusal && error.closeCode === UNAUTHENTICATED
            if (isWrong && seat) seat.refused()
            else if (isWrong) limits.failed(ip)
            throw error
          }),
      })
    })
  }

  /** A person's line: on the same address, because there is one for audio. */
  async function answerLine(request: FastifyRequest, reply: FastifyReply, claims: LineTokenClaims): Promise<void> {
    const codec = await deps.codecOf(claims.tenant)
    const { clock, log, watch, lines } = deps
    deps.webSockets.accept(request, reply, (socket) => {
      return new LineSocket(socket, claims, { ...lines, clock, log, watch, codec })
    })
  }

  const schema = {
    tags: ['runtime'],
    description:
      'WebSocket of a Media Streams protocol. The stream token comes as the query parameter stream_token, as the last segment of the path, or as the parameter stream_token of the start message; internal clients send a tenant API key as bearer, and agent_key as a parameter of the start message.',
    response: { 426: ErrorBody, ...errorResponses },
  }
  return async (app) => {
    app.get(
      '/media-stream',
      { schema: { ...schema, summary: 'Stream the audio of a call', operationId: 'streamMedia' } },
      answer,
    )
    app.get(
      '/media-stream/:token',
      {
        schema: {
          ...schema,
          summary: 'Stream the audio of a call, token in the path',
          operationId: 'streamMediaByToken',
        },
      },
      answer,
    )
  }
}

/** Null for what is no token of a line. @throws AppError `unauthorized` for one that was used before, or whose credential is not good any more. */
async function lineShownBy(
  { tokens, lines }: MediaStreamRouteDeps,
  request: FastifyRequest,
): Promise<LineTokenClaims | null> {
  const token = tokenIn(request)
  const claims = token === undefined ? null : tokens.readLine(token)
  if (claims && !(await tokens.spend(claims))) throw unauthorized('The stream token is wrong, used or expired.')
  if (claims && !(await lines.mayStay(claims))) throw unauthorized('The credential is not good any more.')
  return claims
}

function tenantIn(shown: Shown): TenantId | null {
  if (shown === null) return null
  return shown.type === 'token' ? shown.claims.tenant : shown.tenantId
}

/** @throws AppError `unauthorized` for a credential that is none. */
async function shownBy(deps: MediaStreamRouteDeps, request: FastifyRequest): Promise<Shown> {
  const { tokens, findTenant } = deps
  const token = tokenIn(request)
  if (token !== undefined) {
    const claims = tokens.read(token)
    if (!claims || !(await tokens.spend(claims))) throw unauthorized('The stream token is wrong, used or expired.')
    return { type: 'token', claims }
  }
  // Whoever stands between us and a carrier may ask for a password of its own: that is none of our credentials.
  const hasBearer = /^bearer\b/i.test(request.headers.authorization ?? '')
  const inQuery = deps.takesQueryTokens ? queryTokenOf(request) : null
  if (!hasBearer && inQuery === null) return null
  const key = hasBearer ? bearerOf(request) : inQuery
  const tenant = key === null ? null : await findTenant(key, askingFor(request, false))
  if (!tenant) throw unauthorized('The API key is unknown or revoked.')
  return { type: 'bearer', tenantId: tenant.tenantId }
}

/** An empty or doubled parameter is a wrong token, not a missing one. */
function tokenIn({ query, params }: FastifyRequest): string | undefined {
  const { stream_token: inQuery } = query as Record<string, unknown>
  if (inQuery !== undefined) return typeof inQuery === 'string' ? inQuery : ''
  return (params as { token?: string }).token
}

function unauthorized(message: string): AppError {
  return new AppError('unauthorized', message, { headers: { 'www-authenticate': 'Bearer' } })
}
