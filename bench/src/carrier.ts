import { createHmac } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { Call } from './call.ts'
import { readStream } from './twiml.ts'

/** How a call gets in: straight to a media stream, as a relay takes it, or as a carrier rings at a service. */
export type Entrance =
  | { kind: 'stream'; url: string }
  /** `address`: where the service really listens; `publicUrl`: the address that it goes by and that is signed. */
  | { kind: 'webhooks'; address: string; publicUrl: string; authToken: string; number: string }

/** Where a call's audio goes, what its `start` message has to say, and where to tell what becomes of it. */
export type MediaStream = { url: string; parameters: Record<string, string>; statusPath: string | undefined }

/** The one account of this carrier. */
export const ACCOUNT_SID = `AC${'0'.repeat(32)}`

const TIMEOUT_MS = 15_000
const SOCKETS_MAX = 64

/** The carrier's side of how calls begin and end; what they say in between goes past it. */
export class Carrier {
  readonly #entrance: Entrance
  readonly #agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX })

  constructor(entrance: Entrance) {
    this.#entrance = entrance
  }

  /**
   * Tells the system under test of an incoming call. Undefined when it answered without a media stream: it has no room.
   * @throws Error when the answer is no document of instructions.
   */
  async ring(call: Call): Promise<MediaStream | undefined> {
    if (this.#entrance.kind === 'stream') return { url: this.#entrance.url, parameters: {}, statusPath: undefined }
    const { address } = this.#entrance
    const stream = readStream(await this.#post('/api/v1/incoming-call', this.#form(call, 'ringing')))
    return stream && { ...stream, url: `${address.replace(/^http/, 'ws')}${stream.path}` }
  }

  /** Tells it what became of a stream, if it wants to know. @throws Error when that was not taken. */
  async streamChanged(call: Call, { statusPath }: MediaStream, event: 'started' | 'stopped'): Promise<void> {
    if (statusPath === undefined) return
    const ids = { AccountSid: ACCOUNT_SID, CallSid: call.sid, StreamSid: call.streamSid }
    await this.#post(statusPath, { ...ids, StreamEvent: `stream-${event}`, Timestamp: new Date().toISOString() })
  }

  /** Tells it that a call is over. @throws Error when that was not taken. */
  async hungUp(call: Call, seconds: number): Promise<void> {
    if (this.#entrance.kind === 'stream') return
    const form = { ...this.#form(call, 'completed'), CallDuration: String(seconds), SequenceNumber: '0' }
    await this.#post('/api/v1/call-status', { ...form, CallbackSource: 'call-progress-events' })
  }

  /** Lets go of its connections. */
  close(): void {
    this.#agent.destroy()
  }

  #form(call: Call, status: string): Record<string, string> {
    const from = `+1202557${String(call.id % 10_000).padStart(4, '0')}`
    const to = this.#entrance.kind === 'webhooks' ? this.#entrance.number : ''
    const who = { From: from, To: to, Caller: from, Called: to }
    return { ...who, CallSid: call.sid, AccountSid: ACCOUNT_SID, CallStatus: status, ...FIXED_FIELDS }
  }

  async #post(path: string, form: Record<string, string>): Promise<string> {
    if (this.#entrance.kind !== 'webhooks') throw new Error('nobody to post to')
    const { address, publicUrl, authToken } = this.#entrance
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': signatureOf(authToken, `${publicUrl}${path}`, form),
    }
    const posted = request(`${address}${path}`, { method: 'POST', agent: this.#agent, headers, timeout: TIMEOUT_MS })
    posted.on('timeout', () => posted.destroy(new Error(`${path} was not answered`)))
    // A connection that the other side let go of at this moment: nothing was read of the request, so it is made again.
    posted.on('error', (error: NodeJS.ErrnoException) => {
      if (posted.reusedSocket && error.code === 'ECONNRESET') resolve(this.#post(path, form))
      else reject(error)
    })
    posted.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        if (response.statusCode === 200 || response.statusCode === 204) resolve(text)
        else reject(new Error(`${path} was answered with ${response.statusCode}: ${text.slice(0, 300)}`))
      })
    })
    posted.end(new URLSearchParams(form).toString())
    return promise
  }
}

const FIXED_FIELDS = { ApiVersion: '2010-04-01', Direction: 'inbound', FromCountry: 'US', ToCountry: 'US' }

/** How the carrier signs a form: HMAC-SHA1 over the address and the sorted fields. */
export function signatureOf(authToken: string, url: string, form: Record<string, string>): string {
  const fields = Object.keys(form).toSorted()
  const text = url + fields.map((name) => name + form[name]).join('')
  return createHmac('sha1', authToken).update(text).digest('base64')
}
