import type { Call } from './call.ts'
import { CallRecord } from './call-record.ts'
import type { Clock } from './clock.ts'
import { readCreateCall, readInstructions, readTimeLimit } from './create-call.ts'
import type { RestFault, RestFaults } from './faults.ts'
import { listCalls } from './list-calls.ts'
import type { PhoneNumbers } from './phone-numbers.ts'
import { RestError } from './rest-error.ts'
import type { RestRequest } from './rest-request.ts'
import type { Switchboard } from './switchboard.ts'

/** What the REST surface works on. */
export type RestParts = {
  clock: Clock
  switchboard: Switchboard
  numbers: PhoneNumbers
  faults: RestFaults
}

/** Whose credentials a request has shown. With test credentials no call is placed. */
export type RestAccount = { accountSid: string; isTest: boolean }

/** An answer, and the fault that may keep it from arriving. */
export type RestAnswer = { status: number; body: Record<string, unknown>; fault: RestFault }

type Strike = 'create' | 'modify' | 'fetch'

const REFUSALS: Partial<Record<RestFault, [number, string]>> = {
  'rate-limited': [20429, 'Too Many Requests'],
  'internal-error': [20500, 'Internal Server Error'],
  unauthorized: [20003, 'Authenticate'],
  'invalid-number': [21211, "The 'To' number is not a valid phone number."],
}

/**
 * Answers a request of an account that has shown its credentials: calls (create, fetch, list, end, redirect), numbers
 * (list, fetch, update) and the account itself.
 * @throws RestError
 */
export function answerRest(parts: RestParts, request: RestRequest, account: RestAccount): RestAnswer {
  const root = `/2010-04-01/Accounts/${account.accountSid}`
  if (request.path === `${root}.json`) return ok({ sid: account.accountSid, status: 'active', type: 'Full' })
  const [, collection, sid] = /^\/(Calls|IncomingPhoneNumbers)(?:\/(\w+))?\.json$/.exec(afterRoot(request, root)) ?? []
  const isPost = request.method === 'POST'
  if (!isPost && request.method !== 'GET') throw new RestError(20004, 'Method not allowed')
  switch (`${collection ?? ''} ${isPost ? 'POST' : 'GET'} ${sid ? 'one' : 'all'}`) {
    case 'Calls POST all':
      return createCall(parts, request, account)
    case 'Calls POST one':
      return modifyCall(parts, request, sid ?? '')
    case 'Calls GET one':
      return fetchCall(parts, sid ?? '')
    case 'Calls GET all':
      return listOf(parts, request)
    case 'IncomingPhoneNumbers GET all':
      return listNumbers(parts, request)
    case 'IncomingPhoneNumbers GET one':
      return ok(parts.numbers.fetch(sid ?? ''))
    case 'IncomingPhoneNumbers POST one':
      return updateNumber(parts, request, sid ?? '')
    default:
      throw notFound(request.path)
  }
}

function createCall(parts: RestParts, { form }: RestRequest, { accountSid, isTest }: RestAccount): RestAnswer {
  const { switchboard, numbers, clock, faults } = parts
  const fault = strike(faults, 'create')
  // An account without a list of its own numbers may call from any.
  const owns = (number: string) => numbers.count === 0 || numbers.find(number) !== null
  const plan = readCreateCall(form, { isTest, owns })
  const { from, to, direction, parentSid } = plan
  // Test credentials are given the record of a call that nobody places.
  const record = isTest
    ? new CallRecord(clock, { accountSid, from, to, direction, parentSid })
    : switchboard.queue(plan).record
  return { status: 201, body: record.toJson(), fault }
}

function modifyCall({ switchboard, faults }: RestParts, { form, path }: RestRequest, sid: string): RestAnswer {
  const fault = strike(faults, 'modify')
  const call = switchboard.live(sid)
  if (faults.endedOnModify || !call || call.over.aborted) throw notFound(path)
  const status = form.get('Status')
  if (status === 'completed') call.hangUp('rest')
  else if (status === 'canceled') {
    if (call.status === 'in-progress') throw new RestError(21220, 'Call is in-progress. Cannot cancel.')
    call.end('canceled', 'rest')
  } else if (status !== null) throw new RestError(20001, `Invalid Status ${status}`)
  else changeCall(call, form)
  return { status: 200, body: call.record.toJson(), fault }
}

/** Other instructions, another longest time, or both. */
function changeCall(call: Call, form: URLSearchParams): void {
  const limitMs = form.has('TimeLimit') ? readTimeLimit(form) : null
  const instructions = limitMs === null || form.has('Url') || form.has('Twiml') ? readInstructions(form) : null
  if (call.status !== 'in-progress') throw new RestError(21220, 'Call is not in-progress. Cannot redirect.')
  if (limitMs !== null) call.limit(limitMs)
  if (instructions) call.redirect(instructions)
}

function fetchCall({ switchboard, faults }: RestParts, sid: string): RestAnswer {
  const fault = strike(faults, 'fetch')
  const record = switchboard.records.get(sid)
  if (!record) throw notFound(`Calls/${sid}.json`)
  return { status: 200, body: record.toJson(), fault }
}

function listOf({ switchboard, clock, faults }: RestParts, { path, query }: RestRequest): RestAnswer {
  const fault = strike(faults, 'fetch')
  const body = listCalls(switchboard.records.values(), query, { path, now: clock.date(), lagMs: faults.listLagMs })
  return { status: 200, body, fault }
}

function listNumbers({ numbers, faults }: RestParts, { query }: RestRequest): RestAnswer {
  const fault = strike(faults, 'fetch')
  const found = numbers.list(query.get('PhoneNumber') ?? '')
  return { status: 200, body: { incoming_phone_numbers: found, page: 0 }, fault }
}

function updateNumber({ numbers, faults }: RestParts, { form }: RestRequest, sid: string): RestAnswer {
  const fault = strike(faults, 'modify')
  return { status: 200, body: numbers.update(sid, form), fault }
}

/** The fault that this request meets; those that keep it from being done at all are thrown. */
function strike(faults: RestFaults, what: Strike): RestFault {
  const fault = faults.strikes > 0 ? faults[what] : 'normal'
  if (fault === 'normal') return fault
  faults.strikes--
  const refusal = REFUSALS[fault]
  if (refusal) throw new RestError(...refusal)
  return fault
}

function afterRoot({ path }: RestRequest, root: string): string {
  return path.startsWith(root) ? path.slice(root.length) : ''
}

function notFound(path: string): RestError {
  return new RestError(20404, `The requested resource ${path} was not found`)
}

function ok(body: Record<string, unknown>): RestAnswer {
  return { status: 200, body, fault: 'normal' }
}
