import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSigned, mayBeSigned } from './signature.ts'

const TOKEN = '12345'
const BASE = 'https://mycompany.com/myapp.php?foo=1&bar=2'
const FORM: [string, string][] = [
  ['CallSid', 'CA1234567890ABCDE'],
  ['Caller', '+14158675309'],
  ['Digits', '1234'],
  ['From', '+14158675309'],
  ['To', '+18005551212'],
]
const JSON_BODY = Buffer.from('{"property": "value", "boolean": true}')
const JSON_HASH = '0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620'
const EMPTY_BODY = Buffer.from('{}')
const EMPTY_HASH = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'

const signed = (url: string, signature: string, form: [string, string][] | null = FORM) => ({
  url,
  headers: { 'x-twilio-signature': signature },
  form,
})

describe('isSigned', () => {
  it.each([
    ['the plain address', BASE, 'RSOYDt4T1cUTdK1PDd93/VVr8B8='],
    ['a default port', 'https://mycompany.com:443/myapp.php?foo=1&bar=2', 'kvajT1Ptam85bY51eRf/AJRuM3w='],
    ['http with its port', 'http://mycompany.com:80/myapp.php?foo=1&bar=2', '0ZXoZLH/DfblKGATFgpif+LLRf4='],
    ['another port', 'http://mycompany.com:1234/myapp.php?foo=1&bar=2', 'Zmvh+3yNM1Phv2jhDCwEM3q5ebU='],
    ['user and password', 'https://user:pass@mycompany.com/myapp.php?foo=1&bar=2', 'CukzLTc1tT5dXEDIHm/tKBanW10='],
    ['a user', 'https://user@mycompany.com/myapp.php?foo=1&bar=2', '2YRLlVAflCqxaNicjMpJcSTgzSs='],
    ['user and port', 'https://user:pass@mycompany.com:443/myapp.php?foo=1&bar=2', 'ZQFR1PTIZXF2MXB8ZnKCvnnA+rI='],
    ['an apostrophe in the query', `${BASE}&Body=It's+amazing`, 'TfZzewPq8wqrGlMfyAud8+/IvJ0='],
    ['the apostrophe as it is', `${BASE}&Body=It's+amazing`, 'dsq4Ehbj6cs+KdTkpF5sSSplOWw='],
  ])('knows a request by %s', (_what, url, signature) => {
    expect(isSigned(signed(url, signature), [TOKEN])).toBe(true)
  })

  it('orders and counts repeated values as the carrier does', () => {
    const form: [string, string][] = [
      ['Sid', 'CA123'],
      ['SidAccount', 'AC123'],
      ['Digits', '5678'],
      ['Digits', '1234'],
      ['Digits', '1234'],
    ]
    expect(isSigned(signed(BASE, 'IK+Dwps556ElfBT0I3Rgjkr1wJU=', form), [TOKEN])).toBe(true)
    const binding: [string, string][] = [
      ['MessagingBinding.Address', '+1415xxxxxxx'],
      ['MessagingBinding.Address', '+1325xxxxxxx'],
    ]
    expect(isSigned(signed(BASE, '83O6e2vORAoJHUNzJjDWN1jz+BA=', binding), [TOKEN])).toBe(true)
  })

  it.each([
    ['the query and a body hash', `${BASE}&bodySHA256=${JSON_HASH}`, 'a9nBmqA0ju/hNViExpshrM61xv4=', JSON_BODY],
    [
      'a body hash alone',
      `https://mycompany.com/myapp.php?bodySHA256=${JSON_HASH}`,
      'y77kIzt2vzLz71DgmJGsen2scGs=',
      JSON_BODY,
    ],
    [
      'an empty body, signed with the port',
      `${BASE}&bodySHA256=${EMPTY_HASH}`,
      'Ldidvp12m26NI7eqEvxnEpkd9Hc=',
      EMPTY_BODY,
    ],
    ['an empty body, signed without', `${BASE}&bodySHA256=${EMPTY_HASH}`, 'rw/jVviOgicj2+kHZULvebnA4ag=', EMPTY_BODY],
  ])('knows a JSON request by %s', (_what, url, signature, body) => {
    expect(isSigned(signed(url, signature, null), [TOKEN], body)).toBe(true)
    expect(isSigned(signed(url, signature, null), [TOKEN], Buffer.from('{"property": "other"}'))).toBe(false)
    expect(isSigned(signed(url, signature, null), [TOKEN])).toBe(false)
  })

  it.each([
    ['wss://mycompany.com/media-stream', 'N2Y//FHA042H22oVtTOPT1X3yoU='],
    ['wss://mycompany.com/media-stream/', 'B+WT+LSnUu+RWlK9v/62zQuXpec='],
    ['wss://mycompany.com/media-stream/tok123', 'YGUQ1AtDaCOdRvXQQJjFGz/kpXo='],
  ])('knows the handshake of a stream at %s', (url, signature) => {
    expect(isSigned(signed(url, signature, null), [TOKEN])).toBe(true)
    expect(isSigned(signed(url.replace('wss', 'https'), signature, null), [TOKEN])).toBe(false)
  })

  it('signs over empty fields too', () => {
    const form: [string, string][] = [
      ['AccountSid', 'AC00000000000000000000000000000001'],
      ['ApiVersion', '2010-04-01'],
      ['CallSid', 'CA00000000000000000000000000000001'],
      ['CallStatus', 'ringing'],
      ['CallerName', ''],
      ['Direction', 'inbound'],
      ['From', '+14155550100'],
      ['To', '+14155550199'],
    ]
    const request = signed('https://voice.example.com/api/v1/incoming-call', '4gpZBiFJkK8WGiCVO88RE8pK7GQ=', form)
    expect(isSigned(request, [TOKEN])).toBe(true)
  })

  it('takes either token while they are rotated, and the neutral header', () => {
    const request = { ...signed(BASE, ''), headers: { 'x-provider-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' } }
    expect(isSigned(request, ['old token', TOKEN])).toBe(true)
    expect(isSigned(request, ['old token'])).toBe(false)
    expect(isSigned(request, [])).toBe(false)
  })

  it('takes what is signed by a key that the account has in place of its token, by the hash that it names', () => {
    const settings = 'x-twilio-webhooks-signature-settings'
    const by = (signature: string, named: string, form: typeof FORM | null = FORM, url = BASE) => ({
      url,
      headers: { 'x-twilio-signature': signature, [settings]: named },
      form,
    })
    const sha256 = '033hgUJA9M/hXIZsYjwkerEP/DBm35nEri5FhCYjA5s='
    const named = 'key=webhooks_sharedkey_01k6,algorithm=HMAC_SHA256'
    expect(isSigned(by(sha256, named), ['the auth token', TOKEN])).toBe(true)
    const stream = by('so6lJPTJJbUL9nCraj0rllILB2xHcvRGEIrfQzQXBkw=', named, null, 'wss://mycompany.com/media-stream')
    expect(isSigned(stream, [TOKEN])).toBe(true)
    expect(isSigned(by('RSOYDt4T1cUTdK1PDd93/VVr8B8=', 'key=k, algorithm=HMAC_SHA1'), [TOKEN])).toBe(true)
    expect(mayBeSigned(by(sha256, named).headers)).toBe(true)
    const wrong = [by(sha256, 'key=k,algorithm=HMAC_SHA1'), by(sha256, 'key=k'), by(sha256, 'algorithm=HMAC_MD5')]
    for (const request of [...wrong, by('RSOYDt4T1cUTdK1PDd93/VVr8B8=', named), signed(BASE, sha256)]) {
      expect(isSigned(request, [TOKEN])).toBe(false)
      expect(mayBeSigned(request.headers)).toBe(false)
    }
    expect(isSigned(by(sha256, named), ['the auth token'])).toBe(false)
  })

  const genuine = 'RSOYDt4T1cUTdK1PDd93/VVr8B8='
  it.each([
    ['no header', {}],
    ['an empty header', { 'x-twilio-signature': '' }],
    ['a cut one', { 'x-twilio-signature': genuine.slice(0, -2) }],
    ['two in one header', { 'x-twilio-signature': `${genuine}, ${genuine}` }],
    ['two headers', { 'x-twilio-signature': [genuine, genuine] }],
    ['both names', { 'x-twilio-signature': genuine, 'x-provider-signature': genuine }],
    ['another scheme', { 'x-twilio-signature': genuine }, BASE.replace('https', 'http')],
  ])('refuses %s', (_what, headers, url = BASE) => {
    expect(isSigned({ url, headers, form: FORM }, [TOKEN])).toBe(false)
  })

  it.each([
    ['one that may be right', { 'x-twilio-signature': genuine }, true],
    ['one under the neutral name', { 'x-provider-signature': genuine }, true],
    ['none', {}, false],
    ['a word', { 'x-twilio-signature': 'junk' }, false],
    ['a cut one', { 'x-twilio-signature': genuine.slice(1) }, false],
    ['one in hexadecimal', { 'x-twilio-signature': 'a'.repeat(40) }, false],
    ['both names', { 'x-twilio-signature': genuine, 'x-provider-signature': genuine }, false],
  ])('tells by its form alone whether a signature may be right: %s', (_what, headers, expected) => {
    expect(mayBeSigned(headers)).toBe(expected)
  })

  it('refuses whatever differs in one place', () => {
    const change = fc.oneof(
      fc.record({ kind: fc.constant('drop' as const), at: fc.nat(FORM.length - 1) }),
      fc.record({ kind: fc.constant('add' as const), at: fc.nat(9) }),
      fc.record({ kind: fc.constant('value' as const), at: fc.nat(FORM.length - 1) }),
      fc.record({ kind: fc.constant('flip' as const), at: fc.nat(26) }),
    )
    fc.assert(
      fc.property(change, ({ kind, at }) => {
        const form = FORM.map(
          ([name, value], i) => [name, kind === 'value' && i === at ? `${value}0` : value] as [string, string],
        )
        if (kind === 'drop') form.splice(at, 1)
        if (kind === 'add') form.push([`Extra${at}`, '1'])
        const flipped = genuine.slice(0, at) + (genuine[at] === 'A' ? 'B' : 'A') + genuine.slice(at + 1)
        expect(isSigned(signed(BASE, kind === 'flip' ? flipped : genuine, form), [TOKEN])).toBe(false)
      }),
      { numRuns: 1_000 },
    )
  })
})
