import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import { addressKey } from '../platform/http/trust.ts'
import { audit } from './audit-log.ts'
import { countAttempts, insertAttempt, removeAttempt } from './login-attempt-store.ts'

const MAX_FAILED = 10
const WINDOW_MS = 15 * 60_000

/**
 * Looks whether an address may try to log in: ten failures within 15 minutes, over all nodes, and it may not. An attempt counts
 * as failed from its beginning, so that many at once are no more than ten; the way back of one that has not failed is returned.
 *
 * @throws AppError `rate_limited` with Retry-After.
 */
export async function beginAttempt(db: Db, clock: Clock, ip: string): Promise<{ succeeded(tx: Db): Promise<void> }> {
  const [nowMs, address] = [clock.now(), addressKey(ip)]
  const since = new Date(nowMs - WINDOW_MS)
  const id = newId<string>(nowMs)
  await insertAttempt(db, { id, address, at: new Date(nowMs) }, since)
  const { count, first } = await countAttempts(db, address, since)
  if (count <= MAX_FAILED) return { succeeded: (tx) => removeAttempt(tx, id) }
  await removeAttempt(db, id)
  throw tooMany((first?.getTime() ?? nowMs) + WINDOW_MS - nowMs)
}

/** Writes down that somebody at an address was not let in. */
export async function noteRefusedLogin(db: Db, clock: Clock, ip: string): Promise<void> {
  const change = { by: { kind: 'stranger', name: ip } as const, action: 'session.refused', tenantId: null }
  await db.transaction().execute((tx) => audit(tx, { ...change, targetId: null, at: new Date(clock.now()) }))
}

function tooMany(waitMs: number): AppError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  const headers = { 'retry-after': String(seconds) }
  return new AppError('rate_limited', `Too many failed logins: wait ${seconds} s before the next one.`, { headers })
}
