import type { FastifyReply, FastifyRequest } from 'fastify'
import { Counter, type Registry } from 'prom-client'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { type RateCounter, type Taken, WINDOW_SECONDS } from '../cluster/rate-counter.ts'
import { FullAddresses } from './full-addresses.ts'
import { isAdminPath, isRecognised, knownActorOf, tenantOf } from './guards.ts'
import { leadsToPage } from './not-found.ts'
import { addressKey } from './trust.ts'

type Deps = {
  clock: Pick<Clock, 'monotonicMs'>
  counter: RateCounter
  registry: Registry
  /** Requests without a valid credential that an address may make in a minute. */
  perAddress: number
  /** Requests that a tenant may make in a minute. @throws whatever: then the request fails. */
  limitOf(tenantId: TenantId): Promise<number>
}

/** How often one client may ask. What a carrier has signed, what the administrator asks and probes are not counted. */
export type RateLimits = {
  /**
   * The hook for routes that need no credential: counts the request for its address.
   *
   * @throws AppError `rate_limited` with Retry-After.
   */
  asStranger(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /**
   * The hook behind `tenantGuard`: counts the request for its tenant, unless an administrator acts for it.
   *
   * @throws as `asStranger`.
   */
  asTenant(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /**
   * The hook of the whole server, behind `adminGuard`: what a person asks of the administration counts for their tenant, and
   * OPTIONS, and what is led to a page, which no guard and no refusal meets, for its address.
   *
   * @throws as `asStranger`.
   */
  asWhoever(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** The same for a route that finds out by itself whose credential it is. @throws as `asStranger`. */
  ofTenant(tenantId: TenantId, reply: FastifyReply): Promise<void>
  /**
   * What a refused request is answered with: a failed credential, an unknown address or one that cannot be read counts for its
   * address, what a person may not do for their tenant, and beyond the limit nobody is told any more which of them it was.
   */
  judge<Refusal extends Error>(
    refusal: Refusal,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Refusal | AppError>
  /** Counts a credential of this address that failed elsewhere than in a request. */
  failed(address: string): void
  /** For what is refused before it is counted. @throws AppError `rate_limited` when the address has failed as often as it may. */
  refuseFull(address: string): void
  /** Whether the database may be asked whose credential it is that came from this address. */
  mayAsk(address: string): boolean
}

export function makeRateLimits({ clock, counter, registry, perAddress, limitOf }: Deps): RateLimits {
  const full = new FullAddresses(clock)
  const refusals = new Counter({
    name: 'http_rate_limited_total',
    help: 'Requests refused with 429, by what was counted: an address or a tenant.',
    labelNames: ['limit'],
    registers: [registry],
  })

  async function spend(reply: FastifyReply, kind: 'address' | 'tenant', name: string, limit: number): Promise<void> {
    const taken = await counter.take(`${kind}:${name}`, limit)
    reply.headers(headersOf(kind, limit, taken))
    if (taken.isAdmitted) return
    refusals.inc({ limit: kind })
    if (kind === 'address') full.add(name, taken.resetSeconds)
    throw tooMany(taken)
  }

  /** A request that is refused after it was counted is one request. */
  const counted = new WeakSet<FastifyRequest>()

  async function asStranger(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (counted.has(request)) return
    counted.add(request)
    await spend(reply, 'address', addressKey(request.ip), perAddress)
  }

  async function ofTenant(tenantId: TenantId, reply: FastifyReply): Promise<void> {
    counted.add(reply.request)
    await spend(reply, 'tenant', tenantId, await limitOf(tenantId))
  }

  async function ofRefused(refusal: Error, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const actor = knownActorOf(request)
    if (isStrangers(refusal, request)) await asStranger(request, reply)
    else if (actor?.kind === 'person' && !counted.has(request)) await ofTenant(actor.tenantId, reply)
  }

  return {
    asStranger,
    async asTenant(request, reply) {
      const actor = knownActorOf(request)
      const isAdministrators = actor !== null && actor.kind !== 'person'
      if (!isAdministrators) await ofTenant(tenantOf(request), reply)
    },
    async asWhoever(request, reply) {
      const actor = knownActorOf(request)
      if (actor?.kind === 'person') await ofTenant(actor.tenantId, reply)
      else if (isMetByNobody(request) && !isRecognised(request)) await asStranger(request, reply)
    },
    ofTenant,
    judge: (refusal, request, reply) =>
      ofRefused(refusal, request, reply).then(
        () => refusal,
        // What else fails, as to ask for the limit, is no answer to what was asked.
        (error: unknown) => (error instanceof AppError && error.code === 'rate_limited' ? error : refusal),
      ),
    failed: (address) => {
      const name = addressKey(address)
      const note = ({ remaining, resetSeconds }: Taken) => {
        if (remaining === 0) full.add(name, resetSeconds)
      }
      void counter.take(`address:${name}`, perAddress).then(note)
    },
    refuseFull(address) {
      const resetSeconds = full.secondsLeft(addressKey(address))
      if (resetSeconds === 0) return
      refusals.inc({ limit: 'address' })
      throw tooMany({ isAdmitted: false, remaining: 0, resetSeconds })
    },
    mayAsk: (address) => full.mayAsk(addressKey(address)),
  }
}

/** What the router refuses before any guard has asked who it is, whatever credential came with it. */
const UNROUTED = new Set<unknown>(['FST_ERR_BAD_URL', 'FST_ERR_MAX_PARAM_LENGTH'])

/** How a guard refuses whom it does not know: a cookie that a page of another origin makes use of is nobody's. */
const UNKNOWN = new Set(['unauthorized', 'forbidden'])

/** Whether a request was refused because nobody knows who asks, or what for. */
function isStrangers(refusal: Error, request: FastifyRequest): boolean {
  if ('code' in refusal && UNROUTED.has(refusal.code)) return true
  if (isRecognised(request) || knownActorOf(request) !== null) return false
  const isUnknown = refusal instanceof AppError && UNKNOWN.has(refusal.code)
  return isUnknown || request.is404 || isAdminPath(request)
}

function isMetByNobody(request: FastifyRequest): boolean {
  return request.method === 'OPTIONS' || leadsToPage(request)
}

/** As draft-ietf-httpapi-ratelimit-headers has them: the policy, and what is left of it. */
function headersOf(kind: string, limit: number, { remaining, resetSeconds }: Taken): Record<string, string> {
  return {
    'ratelimit-policy': `"${kind}";q=${limit};w=${WINDOW_SECONDS}`,
    ratelimit: `"${kind}";r=${remaining};t=${resetSeconds}`,
  }
}

function tooMany({ resetSeconds }: Taken): AppError {
  const headers = { 'retry-after': String(resetSeconds) }
  return new AppError('rate_limited', `Too many requests: wait ${resetSeconds} s before the next one.`, { headers })
}
