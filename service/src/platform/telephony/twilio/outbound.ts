import { type CarrierAccount, CarrierError, type ListedCall, type NewCarrierCall, type WantedCalls } from '../port.ts'
import { type CarrierAnswer, requestCarrier } from './request.ts'
import { toCall } from './rest.ts'

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

    async list(account: CarrierAccount, { from, to, since }: WantedCalls, signal: AbortSignal): Promise<ListedCall[]> {
      // The carrier narrows by whole days only, and by the start, which a call that waits does not have yet.
      const query = new URLSearchParams({ From: from, To: to, PageSize: String(MAX_LISTED) })
      const { calls } = await requestCarrier(account, { url: `${collection(account)}?${query}`, signal })
      if (!Array.isArray(calls)) throw new CarrierError('unknown', 'The carrier sent a list without calls.')
      return calls.map((call) => toListed(call as CarrierAnswer)).filter(({ createdAt }) => createdAt >= since)
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
    ['MachineDetection', DETECTION[call.tellMachine]],
    // The call goes on at once, and what answered is told when it is known.
    ['AsyncAmd', 'true'],
    ['AsyncAmdStatusCallback', call.statusUrl],
  ]
}

function toListed(body: CarrierAnswer): ListedCall {
  const createdMs = Date.parse(String(body['date_created']))
  if (Number.isNaN(createdMs)) throw new CarrierError('unknown', 'The carrier sent a call without its date.')
  return { ...toCall(body), createdAt: new Date(createdMs) }
}
