import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify'
import { type Clock, waitWhile } from '../../kernel/clock.ts'
import type { Log } from '../log.ts'
import { recordAnswers, recordWhenOver } from './access-log.ts'
import { forgetTypeOfNothing, refuseCompressed, refuseUnaskedBody, refuseUnaskedQuery, takeJson } from './bodies.ts'
import { answerClientError, hasMethodOfHttp, refuseForeign } from './client-errors.ts'
import { answerError } from './errors.ts'
import { FrameworkLines } from './framework-lines.ts'
import { closeWhileStopping, giveBaseHeaders, requireHost, setBaseHeaders, tellTime } from './headers.ts'
import { HTTP_LIMITS, type HttpLimits, MAX_PATH_PARAMETER_LENGTH } from './limits.ts'
import { expectOwnCursor, markCursor } from './list-cursors.ts'
import { Listener } from './listener.ts'
import type { Metrics } from './metrics.ts'
import { answerUnknownRoute, refuseUnknownRoute } from './not-found.ts'
import { keepOldPaths } from './old-paths.ts'
import { refuseOpenSchemas } from './open-schemas.ts'
import { readPathIds } from './path-ids.ts'
import type { RateLimits } from './rate-limits.ts'
import { rememberRoutes } from './registered-routes.ts'
import { requestIdOf } from './request-ids.ts'
import { rememberRequests } from './request-scope.ts'
import { compileSerializer } from './serialization.ts'
import { refuseUnsafeText } from './text-faults.ts'
import { makeTrusts, type TrustProxy } from './trust.ts'
import { RouteChecks, validationError } from './validation.ts'

/** The server that routes are registered on; their TypeBox schemas type what the handlers get and give. */
export type HttpServer = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

type ServerDeps = {
  log: Log
  clock: Clock
  metrics: Metrics
  trustProxy: TrustProxy
  /** Counts refusals that are nobody's; without it they are answered as they are. */
  rateLimits?: Pick<RateLimits, 'judge'>
  /** Shorter ones for tests. */
  limits?: Partial<HttpLimits>
}

type Lifecycle = { listener: Listener; clock: Clock; checks: RouteChecks; stopped: Promise<void> | null }

const lifecycles = new WeakMap<HttpServer, Lifecycle>()

/**
 * Makes a server without routes, not yet listening: it bounds what a client may send and how slowly, gives every request an
 * id, validates by schema, answers every error in one shape, counts and logs what it answered. What it takes below `/api/v1`
 * outside of the administration it takes without that prefix too.
 */
export function buildServer(deps: ServerDeps): HttpServer {
  const limits = { ...HTTP_LIMITS, ...deps.limits }
  const trusts = makeTrusts(deps.trustProxy)
  const listener = new Listener(limits, trusts)
  const answerJudged = async (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const judged = deps.rateLimits ? await deps.rateLimits.judge(error, request, reply) : error
    return answerError(judged, request, reply)
  }
  const server = fastify({
    serverFactory: (handler) =>
      listener.serve((request, response) =>
        hasMethodOfHttp(request) ? handler(request, response) : refuseForeign(request, response, deps),
      ),
    clientErrorHandler: (error, socket) =>
      answerClientError(error, socket, { listener, clock: deps.clock, log: deps.log }),
    frameworkErrors: (error, request, reply) => {
      recordWhenOver(request, reply, deps)
      setBaseHeaders(request, reply)
      void answerJudged(error, request, reply)
    },
    loggerInstance: quiet(deps.log),
    childLoggerFactory: (_root, fields) => deps.log.child(fields) as FastifyBaseLogger,
    logController: new FrameworkLines(),
    genReqId: (request) => requestIdOf(request, deps.clock),
    bodyLimit: limits.maxBodyBytes,
    routerOptions: { maxParamLength: MAX_PATH_PARAMETER_LENGTH },
    trustProxy: trusts,
    // While stopping, what still comes over an open connection is answered rather than refused.
    return503OnClosing: false,
  }).withTypeProvider<TypeBoxTypeProvider>()
  const checks = new RouteChecks()
  lifecycles.set(server, { listener, clock: deps.clock, checks, stopped: null })
  // Only JSON is taken until a plugin adds a parser: a browser may send text/plain across origins unasked.
  server.removeContentTypeParser('text/plain')
  takeJson(server)
  server.setErrorHandler<FastifyError>(answerJudged)
  server.setValidatorCompiler(checks.compiler)
  server.setSerializerCompiler(compileSerializer)
  server.setSchemaErrorFormatter(validationError)
  rememberRoutes(server)
  server.addHook('onRoute', refuseOpenSchemas)
  rememberRequests(server)
  server.addHook('onRequest', recordAnswers(deps))
  server.addHook('onRequest', giveBaseHeaders)
  keepOldPaths(server)
  server.addHook('onRequest', requireHost)
  server.addHook('preParsing', refuseUnknownRoute)
  server.addHook('preParsing', refuseCompressed)
  server.addHook('preParsing', forgetTypeOfNothing)
  server.addHook('preValidation', readPathIds)
  server.addHook('preValidation', refuseUnsafeText)
  server.addHook('preValidation', refuseUnaskedBody)
  server.addHook('preValidation', refuseUnaskedQuery)
  server.addHook('preHandler', expectOwnCursor)
  server.addHook('preSerialization', markCursor)
  server.addHook('onSend', tellTime(deps.clock))
  server.addHook(
    'onSend',
    closeWhileStopping(() => listener.stopping),
  )
  server.setNotFoundHandler(answerUnknownRoute)
  return server
}

/** From now on each answer asks its client to come back over another connection, which may lead to another process. */
export function sendElsewhere(server: HttpServer): void {
  lifecycleOf(server).listener.stopping = true
}

/** Has who takes nothing of the answer to a request for an upgrade let go, as anybody else is. */
export function giveUpUnread(server: HttpServer, socket: Socket, response: ServerResponse): void {
  lifecycleOf(server).listener.giveUpUnreadOf(socket, response)
}

/** As long as anything is begun for whoever waits for an answer. */
const ANSWERED_WITHIN_MS = 20_000

/** Resolves when nobody who has sent a request in full waits for an answer that has not begun, after 20 s at most. */
export function answersBegun(server: HttpServer): Promise<void> {
  const { listener, clock } = lifecycleOf(server)
  return waitWhile(clock, () => listener.isAwaited, ANSWERED_WITHIN_MS)
}

/**
 * Stops a server: it takes no new connections, closes the idle ones, answers what it is answering, and after `graceMs`
 * destroys what is left (upgraded connections are among that). Resolves when no connection is open. Repeating it waits for
 * the same end.
 */
export function stopServer(server: HttpServer, graceMs: number): Promise<void> {
  const lifecycle = lifecycleOf(server)
  lifecycle.stopped ??= stop(server, lifecycle, graceMs)
  return lifecycle.stopped
}

/** Compiles the checks of the routes, so that no request has to wait for that. To be called once the server is ready. */
export function prepareChecks(server: HttpServer): Promise<void> {
  return lifecycleOf(server).checks.prepare()
}

function lifecycleOf(server: HttpServer): Lifecycle {
  const lifecycle = lifecycles.get(server)
  if (!lifecycle) throw new Error('not a server of buildServer')
  return lifecycle
}

async function stop(server: HttpServer, { listener, clock }: Lifecycle, graceMs: number): Promise<void> {
  sendElsewhere(server)
  const cancel = clock.after(graceMs, () => listener.connections.destroyAll())
  await server.close()
  cancel()
}

/**
 * The log for what happens outside requests. The framework would tell there each address that it bound, in a message made of
 * it: whoever calls `listen` says it better.
 */
function quiet(log: Log): FastifyBaseLogger {
  const root: FastifyBaseLogger = Object.create(log, { info: { value: () => {} }, child: { value: () => root } })
  return root
}
