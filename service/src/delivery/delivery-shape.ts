import { type Static, Type } from 'typebox'
import { scrub, withoutQuery } from '../kernel/masks.ts'
import { iso, isoOrNull, nullable, Timestamp } from '../platform/http/schemas.ts'
import type { DeliveryRow } from './delivery-store.ts'
import { OUTBOX_STATUSES } from './outbox-store.ts'

const statusCode = nullable(Type.Integer({ description: 'Null: there was no answer.' }))
const error = nullable(Type.String())

/** What was or is to be sent to a tenant's webhook, and what came of it. */
export const Delivery = Type.Object({
  id: Type.String({ description: 'The webhook-id of every attempt.' }),
  event: Type.String(),
  url: nullable(
    Type.String({ description: 'Of the last attempt, the values of its query hidden. Null before the first.' }),
  ),
  status: Type.Enum(OUTBOX_STATUSES),
  attempts: Type.Integer({ minimum: 0 }),
  next_attempt_at: nullable(Timestamp),
  last_status_code: statusCode,
  last_error: error,
  delivered_at: nullable(Timestamp),
  created_at: Timestamp,
  attempt_log: Type.Array(
    Type.Object({ at: Timestamp, status_code: statusCode, error, duration_ms: Type.Integer({ minimum: 0 }) }),
    { description: 'The last 20 attempts, the oldest first.' },
  ),
  body: Type.Record(Type.String(), Type.Unknown(), { description: 'What is sent.' }),
})

/** Writes a delivery as its tenant is shown it. */
export function showDelivery(row: DeliveryRow): Static<typeof Delivery> {
  return {
    id: row.id,
    event: row.event,
    url: row.url === null ? null : withoutQuery(row.url),
    status: row.status,
    attempts: row.attempts,
    next_attempt_at: row.status === 'pending' ? iso(row.due_at) : null,
    last_status_code: row.last_status_code,
    last_error: row.last_error,
    delivered_at: isoOrNull(row.delivered_at),
    created_at: iso(row.created_at),
    attempt_log: row.attempt_log.map(({ attempt: _number, ...attempt }) => attempt),
    body: row.body,
  }
}

/** The same as the operator is shown it: numbers, addresses and credentials of people in it are masked. */
export function showDeliveryMasked(row: DeliveryRow): Static<typeof Delivery> {
  const shown = showDelivery(row)
  return { ...shown, body: masked(shown.body) as Static<typeof Delivery>['body'] }
}

function masked(value: unknown): unknown {
  if (typeof value === 'string') return scrub(value)
  if (Array.isArray(value)) return value.map(masked)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, masked(member)]))
}
