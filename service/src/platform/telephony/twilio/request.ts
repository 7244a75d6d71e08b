import { boundedBody } from '../../bounded-body.ts'
import { type CarrierAccount, CarrierError } from '../port.ts'
import { isNeverSent } from './never-sent.ts'

/** A list of fifty calls is some 100 KiB. What is longer is not the carrier's, and counts as an answer that says nothing. */
const MAX_ANSWER_BYTES = 1024 * 1024

/** The carrier's JSON answers are a few KiB; members are read with care, because nobody checked them. */
export type CarrierAnswer = Record<string, unknown>

type CarrierRequest = {
  /** The whole address. */
  url: string
  /** Sent as a POST, names that come several times as often; without one it is a GET. */
  form?: Record<string, string> | [name: string, value: string][]
  /** Bounds the request: there is no other limit to how long it takes. */
  signal: AbortSignal
}

/**
 * Makes a request of the REST API in the account's name and gives the body of its answer.
 *
 * @throws CarrierError with the carrier's code: `credentials` (401, 403), `busy` (429: not processed), `rejected` (other 4xx),
 *   `unreachable` when nothing of the request was sent, `unknown` for everything after which the request may or may not have been done; its cause tells what went wrong.
 */
export async function requestCarrier(account: CarrierAccount, request: CarrierRequest): Promise<CarrierAnswer> {
  const { status, body } = await exchange(account, request)
  if (status >= 200 && status < 300) return body
  throw refusal(status, body)
}

async function exchange({ accountSid, authToken }: CarrierAccount, { url, form, signal }: CarrierRequest) {
  const credentials = Buffer.from(`${accountSid}:${authToken}`).toString('base64')
  try {
    const response = await fetch(url, {
      method: form ? 'POST' : 'GET',
      headers: { authorization: `Basic ${credentials}` },
      // The credentials go to the address that was configured and to no other one.
      redirect: 'error',
      signal,
      ...(form && { body: new URLSearchParams(form) }),
    })
    return { status: response.status, body: await bodyOf(response) }
  } catch (error) {
    if (isNeverSent(error))
      throw new CarrierError('unreachable', 'The carrier cannot be reached.', null, { cause: error })
    throw new CarrierError('unknown', 'The carrier did not answer.', null, { cause: error })
  }
}

function refusal(status: number, { code, message }: CarrierAnswer): CarrierError {
  const reason = typeof message === 'string' ? message : `HTTP ${status}`
  return new CarrierError(kindOf(status), reason, typeof code === 'number' ? String(code) : null)
}

function kindOf(status: number): CarrierError['kind'] {
  if (status === 401 || status === 403) return 'credentials'
  if (status === 429) return 'busy'
  return status >= 400 && status < 500 ? 'rejected' : 'unknown'
}

/** Empty for what is no object, and for what breaks off: the status alone says then what was done. */
async function bodyOf(response: Response): Promise<CarrierAnswer> {
  try {
    const bytes = await boundedBody(response, MAX_ANSWER_BYTES)
    const value: unknown = JSON.parse(String(bytes))
    return typeof value === 'object' && value !== null ? (value as CarrierAnswer) : {}
  } catch {
    return {}
  }
}
