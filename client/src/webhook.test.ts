import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { verifyRequest, verifyWebhook, WebhookError } from './webhook.ts'

const KEY = Buffer.alloc(32, 7)
const SECRET = `whsec_${KEY.toString('base64')}`
const NOW_S = 1_900_000_000
const EVENT = { event: 'voice.call.completed', tenant_id: 'acme', call_sid: 'CA1', payload: { text: 'Grüße' } }
const BODY = JSON.stringify(EVENT)
const at = { nowMs: NOW_S * 1_000 }

function sign(body: string, key: string | Buffer = KEY, { id = 'e1', seconds = NOW_S } = {}): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
}

function headersOf(signature = sign(BODY), seconds: number | string = NOW_S) {
  return { 'webhook-id': 'e1', 'webhook-timestamp': String(seconds), 'webhook-signature': signature }
}

function reasonOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof WebhookError) return error.reason
    throw error
  }
  return 'none'
}

describe('verifyWebhook', () => {
  it('takes a webhook that was signed with the secret, and reads it', () => {
    const headers = { ...headersOf(), 'parley-sequence': '3' }
    const read = { id: 'e1', sentAt: new Date(NOW_S * 1_000), sequence: 3, event: EVENT }
    expect(verifyWebhook(headers, BODY, SECRET, at)).toEqual(read)
    expect(verifyWebhook(new Headers(headers), Buffer.from(BODY), [SECRET], at)).toEqual(read)
    const shouting = { 'Webhook-Id': ['e1'], 'WEBHOOK-TIMESTAMP': String(NOW_S), 'Webhook-Signature': sign(BODY) }
    expect(verifyWebhook(shouting, BODY, SECRET, at).sequence).toBeNull()
  })

  it('takes headers of a class that is not the one of this program', () => {
    const known = new Headers(headersOf())
    const foreign = { get: (name: string) => known.get(name) }
    expect(verifyWebhook(foreign, BODY, SECRET, at).id).toBe('e1')
  })

  it('says so where it is given what was parsed, or a secret that is not set', () => {
    const [parsed, unset] = [EVENT, undefined] as unknown as [string, string]
    const sentence = 'the body of a webhook must be given as it came, as a string or bytes, before anything parses it'
    expect(() => verifyWebhook(headersOf(), parsed, SECRET, at)).toThrow(new TypeError(sentence))
    for (const secrets of [unset, [SECRET, unset]])
      expect(() => verifyWebhook(headersOf(), BODY, secrets, at)).toThrow(
        new TypeError('a secret of webhooks must not be empty'),
      )
  })

  it('takes the vector of the specification', () => {
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    }
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    // Its body is no event of ours: the signature has been taken by then.
    const verify = () => verifyWebhook(headers, '{"test": 2432232314}', secret, { nowMs: 1_614_265_330_000 })
    expect(reasonOf(verify)).toBe('bad_body')
  })

  it('takes either of two secrets, signed with either of two, while they are changed', () => {
    const both = headersOf(`${sign(BODY, 'the-next-secret')} ${sign(BODY)}`)
    expect(verifyWebhook(both, BODY, SECRET, at).id).toBe('e1')
    expect(verifyWebhook(both, BODY, 'the-next-secret', at).id).toBe('e1')
    expect(verifyWebhook(headersOf(), BODY, ['the-next-secret', SECRET], at).id).toBe('e1')
  })

  it.each([
    ['another secret', headersOf(sign(BODY, 'another')), BODY],
    ['another body', headersOf(), BODY.replace('acme', 'evil')],
    ['another id', { ...headersOf(), 'webhook-id': 'e2' }, BODY],
    ['another time', headersOf(sign(BODY), NOW_S + 1), BODY],
    ['no version', headersOf(sign(BODY).slice(3)), BODY],
    ['another version', headersOf(sign(BODY).replace('v1', 'v2')), BODY],
    ['half a signature', headersOf(sign(BODY).slice(0, 20)), BODY],
    ['nothing', headersOf('v1,'), BODY],
  ])('refuses a signature of %s', (_what, headers, body) => {
    expect(reasonOf(() => verifyWebhook(headers, body, SECRET, at))).toBe('bad_signature')
  })

  it.each([
    [300, 'none'],
    [301, 'too_old'],
    [-300, 'none'],
    [-301, 'too_new'],
  ])('lets the clocks be off by five minutes: %i s is %s', (offSeconds, reason) => {
    const seconds = NOW_S - offSeconds
    const headers = headersOf(sign(BODY, KEY, { seconds }), seconds)
    expect(reasonOf(() => verifyWebhook(headers, BODY, SECRET, at))).toBe(reason)
    const wide = { ...at, toleranceSeconds: 600 }
    expect(reasonOf(() => verifyWebhook(headers, BODY, SECRET, wide))).toBe('none')
  })

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('refuses a webhook without %s', (name) => {
    const headers = { ...headersOf(), [name]: undefined }
    expect(reasonOf(() => verifyWebhook(headers, BODY, SECRET, at))).toBe('missing_header')
  })

  it('refuses a time that is none, and a body that is no event', () => {
    expect(reasonOf(() => verifyWebhook(headersOf(sign(BODY), '1e9'), BODY, SECRET, at))).toBe('bad_timestamp')
    for (const body of ['', '[]', 'null', '{']) {
      expect(reasonOf(() => verifyWebhook(headersOf(sign(body)), body, SECRET, at))).toBe('bad_body')
    }
  })

  it('says so of a tolerance that is no number, and takes nothing by it', () => {
    const old = headersOf(sign(BODY, KEY, { seconds: 1 }), 1)
    for (const options of [
      { toleranceSeconds: Number.NaN },
      { ...at, toleranceSeconds: Number('5 min') },
      { nowMs: Number.NaN },
    ])
      expect(() => verifyWebhook(old, BODY, SECRET, options)).toThrow(
        new TypeError(`${Object.keys(options).at(-1)} must be a number: NaN`),
      )
  })

  it('does not let an empty secret pass for one', () => {
    for (const secret of ['', 'whsec_']) {
      expect(() => verifyWebhook(headersOf(sign(BODY, '')), BODY, secret, at)).toThrow(TypeError)
    }
    expect(reasonOf(() => verifyWebhook(headersOf(), BODY, [], at))).toBe('bad_signature')
  })
})

describe('verifyRequest', () => {
  const QUESTION = JSON.stringify({ tenant_id: 'acme', call_sid: 'CA1', from: '+12025550123', to: '+12025550140' })

  it('takes what is signed like a webhook and is no event, and nothing else', () => {
    const headers = headersOf(sign(QUESTION))
    expect(verifyRequest(headers, QUESTION, SECRET, at)).toEqual({ id: 'e1', sentAt: new Date(NOW_S * 1_000) })
    expect(reasonOf(() => verifyRequest(headers, BODY, SECRET, at))).toBe('bad_signature')
    expect(reasonOf(() => verifyRequest({}, QUESTION, SECRET, at))).toBe('missing_header')
  })
})
