import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { signatureOf, signedHeaders } from './sign.ts'

/** The vector that the libraries of Standard Webhooks are tested with. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const CONTENT = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestampSeconds: 1_614_265_330,
  body: '{"test": 2432232314}',
}
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

/** As a receiver verifies, written after the specification. */
function verifies(key: Buffer, header: string, { id, timestampSeconds, body }: typeof CONTENT): boolean {
  const expected = createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')
  return header.split(' ').some((each) => each === `v1,${expected}`)
}

describe('the signature of a webhook', () => {
  it('is that of the standard', () => {
    expect(signatureOf([SECRET], CONTENT)).toBe(SIGNATURE)
  })

  it('holds one for each of two secrets while they are changed, the new one first', () => {
    const next = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const header = signatureOf([next, SECRET], CONTENT)
    expect(header.split(' ')).toEqual([signatureOf([next], CONTENT), SIGNATURE])
    expect(verifies(Buffer.alloc(32, 7), header, CONTENT)).toBe(true)
    expect(verifies(Buffer.from(SECRET.slice(6), 'base64'), header, CONTENT)).toBe(true)
    expect(verifies(Buffer.alloc(32, 8), header, CONTENT)).toBe(false)
  })

  it('takes a secret without the prefix as its own bytes', () => {
    const secret = 'a secret of words, ünicode too'
    expect(verifies(Buffer.from(secret), signatureOf([secret], CONTENT), CONTENT)).toBe(true)
  })

  it.each(['', '{"text":"Grüße 🎉"}', ' '])('is of the bytes of the body: %j', (body) => {
    const content = { ...CONTENT, body }
    expect(verifies(Buffer.from(SECRET.slice(6), 'base64'), signatureOf([SECRET], content), content)).toBe(true)
  })

  it('changes with the id, the second and the body', () => {
    const others = [
      { ...CONTENT, id: 'msg_2' },
      { ...CONTENT, timestampSeconds: 1 },
      { ...CONTENT, body: '{}' },
    ]
    expect(new Set(others.map((content) => signatureOf([SECRET], content))).add(SIGNATURE).size).toBe(4)
  })

  it('is left out without a secret; the id and the second are not', () => {
    expect(signedHeaders([], CONTENT)).toEqual({ 'webhook-id': CONTENT.id, 'webhook-timestamp': '1614265330' })
    expect(signedHeaders([SECRET], CONTENT)).toMatchObject({ 'webhook-signature': SIGNATURE })
  })
})
