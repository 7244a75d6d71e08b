import { Type } from 'typebox'
import { invalidRequest } from '../kernel/errors.ts'
import { dateOf, instantFilter, longRowsPageFields, Ok, strict } from '../platform/http/schemas.ts'
import { EVENT_NAMES, type EventName } from '../tenancy/tenant-events.ts'
import type { Redelivery } from './deliveries.ts'
import type { DeliveryFilter } from './delivery-store.ts'
import { OUTBOX_STATUSES, type OutboxStatus } from './outbox-store.ts'

const filterFields = {
  event: Type.Optional(Type.Enum(EVENT_NAMES)),
  status: Type.Optional(Type.Enum(OUTBOX_STATUSES)),
  from: instantFilter('When it happened. Inclusive.'),
  to: instantFilter('Exclusive.'),
}

/** What a list of deliveries can be asked for. */
export const DeliveryQuery = strict({
  ...longRowsPageFields,
  ...filterFields,
  call_sid: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
})

/** What is to be redelivered: ids, or a filter. */
export const RedeliveryBody = strict({
  ids: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      maxItems: 500,
      description: 'Not together with the others. Ids that are not known are ignored.',
    }),
  ),
  ...filterFields,
  status: Type.Optional(Type.Enum(OUTBOX_STATUSES, { description: 'Default: failed.' })),
})

/** How many are sent again. */
export const Requeued = Type.Object({ ok: Ok, requeued: Type.Integer({ minimum: 0 }) })

type Fields = { event?: EventName; status?: OutboxStatus; from?: string; to?: string; call_sid?: string }

/** Reads the fields of `DeliveryQuery` that are no paging. */
export function readDeliveryFilter({ event, status, from, to, call_sid }: Fields): DeliveryFilter {
  return { event, status, callSid: call_sid, from: dateOf(from), to: dateOf(to) }
}

/** Reads a `RedeliveryBody`. @throws AppError `invalid_request` for one that is empty, and for ids beside a filter. */
export function readRedelivery({ ids, ...filter }: Fields & { ids?: string[] }): Redelivery {
  const [named] = Object.keys(filter)
  if (ids !== undefined) {
    if (named !== undefined) throw refused('/body/ids', `must not be given together with ${named}`)
    return { ids }
  }
  if (named === undefined) throw refused('/body', 'must name ids, or an event, from, to or status')
  return readDeliveryFilter({ status: 'failed', ...filter })
}

function refused(path: string, message: string): Error {
  return invalidRequest([{ path, message }])
}
