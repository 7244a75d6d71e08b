import type { FastifyRequest } from 'fastify'
import type { Cancel, Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { bearerOf, type Guard, knownActorOf } from './guards.ts'
import { sessionTokenOf } from './people.ts'

/** Keys are revoked, people leave. */
const ASK_AGAIN_MS = 1_000

/** The last one: the tenant is deleted that an administrator looks at. */
const REFUSALS = new Set(['unauthorized', 'forbidden', 'not_found'])

/** Whether a guard would still let in whoever made a request, which it is asked for after that; one that cannot find out has not refused. */
export function isStillLetIn(guard: Guard, request: FastifyRequest): Promise<boolean> {
  const isUnknown = (error: unknown) => !(error instanceof AppError) || !REFUSALS.has(error.code)
  return guard(request).then(() => true, isUnknown)
}

/** What `tenantGuard` has let a request in by. */
export type GivenCredential = { kind: 'admin_key' | 'session' | 'token'; secret: string }

/** @throws Error on a route without `tenantGuard`: a fault of ours. */
export function credentialOf(request: FastifyRequest): GivenCredential {
  const actor = knownActorOf(request)
  const kind = actor === null ? 'token' : actor.kind === 'key' ? 'admin_key' : 'session'
  const secret = { token: bearerOf, admin_key: adminKeyOf, session: sessionTokenOf }[kind](request)
  if (secret === null) throw new Error(`no tenant guard on ${request.routeOptions.url}`)
  return { kind, secret }
}

function adminKeyOf({ headers: { 'x-admin-key': key } }: FastifyRequest): string | null {
  return typeof key === 'string' ? key : null
}

/**
 * Asks each second whether whoever follows something may still be here, and tells once when they may not.
 *
 * @param mayStay rejects when that is not known now: then they stay.
 * @returns stops asking.
 */
export function whenSentAway(clock: Clock, mayStay: () => Promise<boolean>, sentAway: () => void): Cancel {
  let isAsking = false
  async function ask(): Promise<void> {
    if (isAsking) return
    isAsking = true
    const stays = await mayStay().catch(() => true)
    isAsking = false
    if (stays) return
    stop()
    sentAway()
  }
  const stop = clock.every(ASK_AGAIN_MS, () => void ask())
  return stop
}
