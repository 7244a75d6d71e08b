import {
  type CarrierAccount,
  CarrierError,
  type ListedCall,
  type ListedCalls,
  type NewCarrierCall,
  type WantedCalls,
} from '../port.ts'
import { type CarrierAnswer, requestCarrier } from './request.ts'
import { readCall } from './rest.ts'

const EVENTS = ['initiated', 'ringing', 'answered', 'completed']
const MAX_LISTED = 50
const DETECTION = { at_start: 'Enable', at_message_end: 'DetectMessageEnd' }

/**
 * The carrier's REST requests that place calls and find them again. Each takes a signal that bounds it, and throws
 * `CarrierError`.
 *
 * @param baseUrl the REST base, such as `https://api.twilio.com`.
 */
export function makeOutboundRequests(baseUrl: string) {
  const collection = ({ accountSid }: CarrierAccount) =>
    `${baseUrl}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}/Calls.json`

  return {
    async create(account: CarrierAccount, call: NewCarrierCall, signal: AbortSignal): Promise<string> {
      const { sid } = await requestCarrier(account, { url: collection(account), form: formOf(call), signal })
      if (typeof sid !== 'string') throw new CarrierError('unknown', 'The carrier took a call and gave it no id.')
      return sid
    },

    async list(account: CarrierAccount, { from, to, since }: WantedCalls, signal: AbortSignal): Promise<ListedCalls> {
      // The carrier narrows by whole days only, and by the start, which a call that waits does not have yet.
      const query = new URLSearchParams({ From: from, To: to, PageSize: String(MAX_LISTED) })
      const { calls } = await requestCarrier(account, { url: `${collection(account)}?${query}`, signal })
      if (!Array.isArray(calls)) throw new CarrierError('unknown', 'The carrier sent a list without calls.')
      const rows = calls.map(listed)
      const isOld = ({ createdAt }: Row) => createdAt !== null && createdAt < since
      return {
        calls: rows.flatMap(({ call }) => call ?? []).filter(({ createdAt }) => createdAt >= since),
        hasUnread: rows.some((row) => row.call === null && !isOld(row)),
      }
    },
  }
}

function formOf(call: NewCarrierCall): [name: string, value: string][] {
  return [
    ['To', call.to],
    ['From', call.from],
    ['Url', call.answerUrl],
    ['FallbackUrl', call.answerUrl],
    ['StatusCallback', call.statusUrl],
    ...EVENTS.map((event): [string, string] => ['StatusCallbackEvent', event]),
    ['Timeout', String(call.ringSeconds)],
    ['TimeLimit', String(call.maxSeconds)],
    ...detectionOf(call),
  ]
}

/** The call goes on at once, and what answered is told when it is known. */
function detectionOf({ tellMachine, statusUrl }: NewCarrierCall): [name: string, value: string][] {
  if (tellMachine === null) return []
  return [
    ['MachineDetection', DETECTION[tellMachine]],
    ['AsyncAmd', 'true'],
    ['AsyncAmdStatusCallback', statusUrl],
  ]
}

/** A row of a list: when it was made, and the call, null where the one or the other cannot be read. */
type Row = { createdAt: Date | null; call: ListedCall | null }

/** One row that nobody can read must not hide the others, among which is the one that is looked for. */
function listed(row: unknown): Row {
  const body: CarrierAnswer = typeof row === 'object' && row !== null ? (row as CarrierAnswer) : {}
  const createdMs = Date.parse(String(body['date_created']))
  const createdAt = Number.isNaN(createdMs) ? null : new Date(createdMs)
  const call = readCall(body)
  return { createdAt, call: call && createdAt && { ...call, createdAt } }
}
