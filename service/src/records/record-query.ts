import { Type } from 'typebox'
import { invalidRequest } from '../kernel/errors.ts'
import { dateOf, instantFilter, longRowsPageFields } from '../platform/http/schemas.ts'
import { CALL_DIRECTIONS, CALL_STATUSES } from './call-values.ts'
import type { RecordFilter } from './record-filter-store.ts'

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 256, description }))

/** What the lists of calls and of sessions can be asked for, to be spread into a query. */
export const recordFields = {
  ...longRowsPageFields,
  status: Type.Optional(Type.Enum(CALL_STATUSES, { description: 'Of the call.' })),
  direction: Type.Optional(Type.Enum(CALL_DIRECTIONS)),
  agent_key: text('An unknown one finds nothing.'),
  without_agent: Type.Optional(
    Type.Boolean({ description: "True: those alone that the agent in the tenant's document has, which no key names." }),
  ),
  from: text("The caller, exactly as stored; a number's + may be sent as it is."),
  to: text("The callee, exactly as stored; a number's + may be sent as it is."),
  started_after: instantFilter('Inclusive.'),
  started_before: instantFilter('Exclusive.'),
  created_after: instantFilter(
    'Inclusive. Of when the call was written down, which is before it started, if ever it did.',
  ),
  created_before: instantFilter('Exclusive.'),
}

type Fields = {
  status?: NonNullable<RecordFilter['status']>
  direction?: NonNullable<RecordFilter['direction']>
  agent_key?: string
  without_agent?: boolean
  from?: string
  to?: string
  started_after?: string
  started_before?: string
  created_after?: string
  created_before?: string
}

/** Reads the fields of `recordFields` that are no paging. @throws AppError `invalid_request` for a day in place of a number. */
export function readRecordFilter(query: Fields): RecordFilter {
  refuseDay('from', query.from, 'started_after')
  refuseDay('to', query.to, 'started_before')
  return {
    status: query.status,
    direction: query.direction,
    agentKey: query.agent_key,
    isWithoutAgent: query.without_agent,
    from: unspaced(query.from),
    to: unspaced(query.to),
    startedAfter: dateOf(query.started_after),
    startedBefore: dateOf(query.started_before),
    createdAfter: dateOf(query.created_after),
    createdBefore: dateOf(query.created_before),
  }
}

/** Elsewhere `from` and `to` are instants: of calls they would find nothing, which looks as if there were none. */
function refuseDay(name: 'from' | 'to', value: string | undefined, meant: string): void {
  if (value === undefined || !/^\d{4}-\d\d-\d\d/.test(value)) return
  throw invalidRequest([
    { path: `/query/${name}`, message: `is the number of a call: for an instant there is ${meant}` },
  ])
}

/** In a query a plain + is a space, and nothing that is stored begins with a space and a digit. */
function unspaced(number: string | undefined): string | undefined {
  return number?.replace(/^ (?=\d)/, '+')
}
