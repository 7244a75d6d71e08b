import { CARRIER_CALL_STATUSES, type CallChange, type CarrierAccount, type CarrierCall, CarrierError } from '../port.ts'
import { twiml } from './document.ts'
import { type CarrierAnswer, requestCarrier } from './request.ts'

/** The call is over or was never there, or is in no state for it: for "end this call" each of these is success. */
const IN_NO_STATE = new Set(['20404', '21220'])
const UNKNOWN = new Set(['20404'])

/**
 * The carrier's REST requests about a call. Each takes a signal that bounds it, and throws `CarrierError`.
 *
 * @param baseUrl the REST base, such as `https://api.twilio.com`.
 */
export function makeCallRequests(baseUrl: string) {
  const addressOf = ({ accountSid }: CarrierAccount, callSid: string) =>
    `${baseUrl}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}/Calls/${encodeURIComponent(callSid)}.json`

  return {
    async end(account: CarrierAccount, callSid: string, signal: AbortSignal): Promise<void> {
      const form = { Status: 'completed' }
      try {
        await requestCarrier(account, { url: addressOf(account, callSid), form, signal })
      } catch (error) {
        if (!isRefusal(error, IN_NO_STATE)) throw error
      }
    },

    async cancel(account: CarrierAccount, callSid: string, signal: AbortSignal): Promise<CarrierCall | null> {
      const form = { Status: 'canceled' }
      try {
        return toCall(await requestCarrier(account, { url: addressOf(account, callSid), form, signal }))
      } catch (error) {
        if (isRefusal(error, IN_NO_STATE)) return null
        throw error
      }
    },

    async update(account: CarrierAccount, callSid: string, change: CallChange, signal: AbortSignal): Promise<void> {
      const { verbs, maxSeconds } = change
      const form = {
        ...(verbs && { Twiml: twiml(verbs) }),
        ...(maxSeconds !== undefined && { TimeLimit: String(maxSeconds) }),
      }
      await requestCarrier(account, { url: addressOf(account, callSid), form, signal })
    },

    async fetch(account: CarrierAccount, callSid: string, signal: AbortSignal): Promise<CarrierCall | null> {
      try {
        return toCall(await requestCarrier(account, { url: addressOf(account, callSid), signal }))
      } catch (error) {
        if (isRefusal(error, UNKNOWN)) return null
        throw error
      }
    },
  }
}

function isRefusal(error: unknown, codes: ReadonlySet<string>): boolean {
  return error instanceof CarrierError && error.code !== null && codes.has(error.code)
}

/** @throws CarrierError `unknown` for what is no call. */
function toCall(body: CarrierAnswer): CarrierCall {
  const call = readCall(body)
  if (!call) throw new CarrierError('unknown', 'The carrier sent a call without sid or status.')
  return call
}

/** Null for what is no call, or is in no state that is known. */
export function readCall(body: CarrierAnswer): CarrierCall | null {
  const status = CARRIER_CALL_STATUSES.find((known) => known === body['status'])
  if (!status || typeof body['sid'] !== 'string') return null
  return {
    callSid: body['sid'],
    status,
    durationSeconds: body['duration'] === null || body['duration'] === undefined ? null : Number(body['duration']),
    answeredBy: typeof body['answered_by'] === 'string' ? body['answered_by'] : null,
  }
}
