import type { FastifyRequest } from 'fastify'
import type { Cancel, Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Guard } from './guards.ts'

/** Keys are revoked, people leave. */
const ASK_AGAIN_MS = 1_000

/** The last one: the tenant is deleted that an administrator looks at. */
const REFUSALS = new Set(['unauthorized', 'forbidden', 'not_found'])

/** Whether a guard would still let in whoever made a request, which it is asked for after that; one that cannot find out has not refused. */
export function isStillLetIn(guard: Guard, request: FastifyRequest): Promise<boolean> {
  const isUnknown = (error: unknown) => !(error instanceof AppError) || !REFUSALS.has(error.code)
  return guard(request).then(() => true, isUnknown)
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
