import { type Static, Type } from 'typebox'
import { othersFirst } from '../kernel/clock.ts'
import { scrub } from '../kernel/masks.ts'
import { nullable, Timestamp } from '../platform/http/schemas.ts'
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

/** Deliveries as the operator is shown them: numbers, addresses and credentials of people in their bodies and in what came of them are masked. */
export async function maskDeliveries<Shown extends Static<typeof Delivery>>(json: string): Promise<Shown[]> {
  const shown: Shown[] = []
  for (const delivery of JSON.parse(json) as Shown[]) {
    // Calls go on meanwhile.
    await othersFirst()
    const { body, last_error, attempt_log } = delivery
    shown.push({ ...delivery, ...(masked({ body, last_error, attempt_log }) as object) })
  }
  return shown
}

function masked(value: unknown): unknown {
  if (typeof value === 'string') return scrub(value)
  if (Array.isArray(value)) return value.map(masked)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, masked(member)]))
}
