import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Log } from '../log.ts'
import { errorBody } from './errors.ts'
import { type HealthCheck, HealthChecks, type HealthResult } from './health-checks.ts'
import type { Metrics } from './metrics.ts'
import { ErrorBody, Ok } from './schemas.ts'

/** Where a process is in its life: it takes work only while it serves. `standby`: it shows what there is, and takes none. */
export const PHASES = ['starting', 'serving', 'standby', 'stopping'] as const
export type Phase = (typeof PHASES)[number]

const METRICS_FRESH_MS = 1_000

type ProbeDeps = {
  clock: Clock
  log: Log
  metrics: Metrics
  version: string
  commit: string | null
  phase: () => Phase
  checks: HealthCheck[]
}

const Check = Type.Object({
  name: Type.String(),
  required: Type.Boolean({ description: 'Whether this process is not ready without it.' }),
  ok: Type.Boolean(),
  latency_ms: Type.Number(),
})

const healthFields = {
  version: Type.String(),
  commit: Type.Union([Type.String(), Type.Null()], { description: 'What it was made of, where that is known.' }),
  uptime_seconds: Type.Integer({ minimum: 0 }),
  standby: Type.Boolean({ description: 'Whether STANDBY is true: it is never ready, and takes no calls.' }),
  degraded: Type.Boolean({ description: 'Something is away that this process works on without.' }),
  checks: Type.Array(Check),
}

/**
 * The four addresses that need no credential: `/livez` (restart me when I do not answer), `/readyz` (send me work), `/health`
 * (how I am, for people and monitors) and `/metrics` (Prometheus). They tell no address, name or secret of what is checked.
 */
export function probes(deps: ProbeDeps): FastifyPluginAsyncTypebox {
  const health = new HealthChecks(deps)
  const metricsText = onceASecond(deps.clock, deps.metrics.text)
  const startMs = deps.clock.monotonicMs()
  const tags = ['operations']
  return async (app) => {
    app.get(
      '/livez',
      {
        schema: {
          tags,
          summary: 'Whether the process answers: restart it when it does not',
          operationId: 'getLiveness',
          response: { 200: Type.Object({ ok: Ok }), 400: ErrorBody },
        },
      },
      async () => ({ ok: true as const }),
    )

    app.get(
      '/readyz',
      {
        schema: {
          tags,
          summary: 'Whether it takes work: send it none when it does not',
          operationId: 'getReadiness',
          response: { 200: Type.Object({ ok: Ok }), 400: ErrorBody, 503: ErrorBody },
        },
      },
      async (_request, reply) => {
        const phase = deps.phase()
        const lacking = phase === 'serving' ? failed(await health.results()) : [phase]
        return lacking.length === 0 ? { ok: true as const } : reply.code(503).send(notReady(lacking, reply))
      },
    )

    app.get(
      '/health',
      {
        schema: {
          tags,
          summary: 'How it is, for people and monitors',
          operationId: 'getHealth',
          response: {
            200: Type.Object({ ok: Ok, ...healthFields }),
            400: ErrorBody,
            503: Type.Object({ ...ErrorBody.properties, ...healthFields }),
          },
        },
      },
      async (_request, reply) => {
        const results = await health.results()
        const facts = {
          version: deps.version,
          commit: deps.commit,
          uptime_seconds: Math.floor((deps.clock.monotonicMs() - startMs) / 1000),
          standby: deps.phase() === 'standby',
          degraded: results.some(({ isOptional, ok }) => isOptional && !ok),
          checks: results.map(toWire),
        }
        const lacking = [...onTheWay(deps.phase()), ...failed(results)]
        if (lacking.length === 0) return { ok: true as const, ...facts }
        return reply.code(503).send({ ...notReady(lacking, reply), ...facts })
      },
    )

    app.get(
      '/metrics',
      {
        schema: {
          tags,
          summary: 'The numbers of this process, for Prometheus',
          operationId: 'getMetrics',
          response: { 200: Type.String(), 400: ErrorBody },
        },
      },
      async (_request, reply) => reply.type(deps.metrics.contentType).send(await metricsText()),
    )
  }
}

/** Everybody may ask, and to write a hundred numbers takes a while: whoever asks within a second gets what the first one got. */
function onceASecond(clock: Clock, write: () => Promise<string>): () => Promise<string> {
  let latest: { atMs: number; text: Promise<string> } | null = null
  return () => {
    const nowMs = clock.monotonicMs()
    if (latest === null || nowMs - latest.atMs >= METRICS_FRESH_MS) latest = { atMs: nowMs, text: write() }
    return latest.text
  }
}

/** What keeps a process from its work that only begins or ends; one that stands by does what it is there for. */
function onTheWay(phase: Phase): Phase[] {
  return phase === 'starting' || phase === 'stopping' ? [phase] : []
}

function failed(results: HealthResult[]): string[] {
  return results.filter(({ isOptional, ok }) => !isOptional && !ok).map(({ name }) => name)
}

function toWire({ name, isOptional, ok, latencyMs }: HealthResult) {
  return { name, required: !isOptional, ok, latency_ms: latencyMs }
}

function notReady(lacking: string[], reply: FastifyReply) {
  return errorBody(new AppError('unavailable', `Not ready: ${lacking.join(', ')}.`), reply.request.id)
}
