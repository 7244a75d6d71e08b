import { randomBytes } from 'node:crypto'
import { forgedSignature, sign } from '../../../simulator/src/carrier/signature.ts'
import { localAddress, numberAddresses } from '../addresses.ts'
import type { Check } from '../check.ts'
import { Trouble } from '../faults.ts'
import { timed } from '../timed.ts'

const UNAUTHORIZED = 401

/**
 * Whether what the carrier signs arrives as it was signed: sends a status callback through the public address, signed with
 * the account's token as the carrier would sign it, and then one with a wrong signature, which must be refused. They are
 * about a call that nobody has, so nothing comes of them.
 */
export const signedCallbackCheck: Check = {
  name: 'signed callback',
  needs: ['public address'],
  limitMs: 10_000,
  async run({ config, publicUrl }, signal) {
    const { telephonyAccountSid: accountSid, telephonyAuthToken: token } = config
    if (accountSid === null || token === null) return { state: 'skipped', found: 'No account of a carrier is set.' }
    const form = statusForm(accountSid)
    const { status: url } = numberAddresses(publicUrl)
    const send = (signature: string) => post(url, form, { signature, signal })

    const { value: response, ms } = await timed(send(sign(token, url, form)))
    if (response.status === UNAUTHORIZED) {
      const local = numberAddresses(localAddress(config)).status
      const isForLocal = (await send(sign(token, local, form))).ok
      throw isForLocal ? startedWithout(publicUrl) : unverified(publicUrl)
    }
    if (!response.ok) throw unanswered(response)
    const forged = await send(forgedSignature(url))
    if (forged.status !== UNAUTHORIZED) {
      throw new Trouble(
        `A callback with a wrong signature is answered with ${forged.status}, not 401: anybody could make up calls.`,
        'Do not go live. See that it is this service that answers, with TELEPHONY_AUTH_TOKEN set and SIMULATOR off.',
      )
    }
    return { state: 'ok', found: `Taken in ${ms} ms; one with a wrong signature is refused.` }
  },
}

function startedWithout(publicUrl: string): Trouble {
  return new Trouble(
    'The running service refuses the signature: it goes by its own address on this machine.',
    `It was started before PUBLIC_URL was ${publicUrl}: start it again.`,
  )
}

function unverified(publicUrl: string): Trouble {
  return new Trouble(
    'The service refuses the signature (401).',
    `One of these: it was started with another PUBLIC_URL than ${publicUrl} or another TELEPHONY_AUTH_TOKEN (start it again); a proxy changes the path, the query or the form on the way (let it pass them as they are).`,
  )
}

function unanswered({ status, headers }: Response): Trouble {
  const location = headers.get('location')
  if (location !== null)
    return new Trouble(`It is redirected to ${location}.`, 'Set PUBLIC_URL to the address at the end.')
  const found = `The answer is ${status}.`
  if (status === 404) {
    return new Trouble(found, 'The proxy takes a part of the path away, or this version of the service is older.')
  }
  if (status === 403) return new Trouble(found, 'A firewall or a login stands before the service: let /api/v1 through.')
  return new Trouble(found, "Look for the request in the service's log.")
}

function post(
  url: string,
  form: [string, string][],
  { signature, signal }: { signature: string; signal: AbortSignal },
): Promise<Response> {
  const headers = { 'x-twilio-signature': signature }
  return fetch(url, { method: 'POST', headers, body: new URLSearchParams(form), redirect: 'manual', signal })
}

/** With what proxies get wrong: a plus, letters beyond ASCII, an ampersand, an empty field. */
function statusForm(accountSid: string): [string, string][] {
  return [
    ['AccountSid', accountSid],
    ['ApiVersion', '2010-04-01'],
    ['CallSid', `CA${randomBytes(16).toString('hex')}`],
    ['CallStatus', 'completed'],
    ['CallDuration', '0'],
    ['CallerName', ''],
    ['FromCity', 'KÖLN & it’s'],
    ['From', '+12025550100'],
    ['To', '+12025550123'],
  ]
}
