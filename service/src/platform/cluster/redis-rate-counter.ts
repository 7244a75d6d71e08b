import { AppError } from '../../kernel/errors.ts'
import { type Taken, WINDOW_SECONDS } from './rate-counter.ts'
import type { RedisLink } from './redis-link.ts'
import { takeFrom } from './redis-take.ts'

/** Slower than a Redis far away; who waits for longer is counted without it. */
const TIMEOUT_MS = 500

/** @throws AppError `unavailable` when Redis cannot be asked. */
export async function takeInRedis(link: RedisLink, name: string, limit: number): Promise<Taken> {
  const answer = await link.run((redis) => takeFrom(redis, name, limit), TIMEOUT_MS)
  if (!Array.isArray(answer)) throw new AppError('unavailable', 'Redis does not answer. Try again.')
  const [admitted, total = 0, resetSeconds = 1] = answer.map(Number)
  // A clock that was put back has counted at times to come; the key itself is forgotten by then.
  const waitSeconds = Math.min(resetSeconds, WINDOW_SECONDS + 1)
  return { isAdmitted: admitted === 1, remaining: Math.max(0, limit - total), resetSeconds: waitSeconds }
}
