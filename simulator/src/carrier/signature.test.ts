import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { forgedSignature, sign } from './signature.ts'

const base = 'https://mycompany.com/myapp.php?foo=1&bar=2'
const call: [string, string][] = [
  ['To', '+18005551212'],
  ['Digits', '1234'],
  ['From', '+14158675309'],
  ['Caller', '+14158675309'],
  ['CallSid', 'CA1234567890ABCDE'],
]
const inbound: [string, string][] = [
  ['AccountSid', 'AC00000000000000000000000000000001'],
  ['ApiVersion', '2010-04-01'],
  ['CallSid', 'CA00000000000000000000000000000001'],
  ['CallStatus', 'ringing'],
  ['CallerName', ''],
  ['Direction', 'inbound'],
  ['From', '+14155550100'],
  ['To', '+14155550199'],
]
const property = '0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620'
const empty = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'
const addresses: [string, string[]] = ['MessagingBinding.Address', ['+1325xxxxxxx', '+1415xxxxxxx']]
const each = (name: string, values: string[]) => values.map((value): [string, string] => [name, value])

describe('sign', () => {
  it.each<[string, [string, string][], string]>([
    [base, call, 'RSOYDt4T1cUTdK1PDd93/VVr8B8='],
    [base.replace('.com', '.com:443'), call, 'kvajT1Ptam85bY51eRf/AJRuM3w='],
    [base.replace('https://mycompany.com', 'http://mycompany.com:80'), call, '0ZXoZLH/DfblKGATFgpif+LLRf4='],
    [base.replace('https://mycompany.com', 'http://mycompany.com:1234'), call, 'Zmvh+3yNM1Phv2jhDCwEM3q5ebU='],
    [base.replace('https://', 'https://user:pass@'), call, 'CukzLTc1tT5dXEDIHm/tKBanW10='],
    [base.replace('https://', 'https://user@'), call, '2YRLlVAflCqxaNicjMpJcSTgzSs='],
    [
      base.replace('https://mycompany.com', 'https://user:pass@mycompany.com:443'),
      call,
      'ZQFR1PTIZXF2MXB8ZnKCvnnA+rI=',
    ],
    [`${base}&Body=It%27s+amazing`, call, 'TfZzewPq8wqrGlMfyAud8+/IvJ0='],
    [`${base}&Body=It's+amazing`, call, 'dsq4Ehbj6cs+KdTkpF5sSSplOWw='],
    [base, each(...addresses), '83O6e2vORAoJHUNzJjDWN1jz+BA='],
    [base, each(...addresses).reverse(), '83O6e2vORAoJHUNzJjDWN1jz+BA='],
    [
      base,
      [['Sid', 'CA123'], ['SidAccount', 'AC123'], ...each('Digits', ['5678', '1234', '1234'])],
      'IK+Dwps556ElfBT0I3Rgjkr1wJU=',
    ],
    [`${base}&bodySHA256=${property}`, [], 'a9nBmqA0ju/hNViExpshrM61xv4='],
    [`https://mycompany.com/myapp.php?bodySHA256=${property}`, [], 'y77kIzt2vzLz71DgmJGsen2scGs='],
    [`${base.replace('.com', '.com:443')}&bodySHA256=${empty}`, [], 'Ldidvp12m26NI7eqEvxnEpkd9Hc='],
    [`${base}&bodySHA256=${empty}`, [], 'rw/jVviOgicj2+kHZULvebnA4ag='],
    ['wss://mycompany.com/media-stream', [], 'N2Y//FHA042H22oVtTOPT1X3yoU='],
    ['wss://mycompany.com/media-stream/', [], 'B+WT+LSnUu+RWlK9v/62zQuXpec='],
    ['wss://mycompany.com/media-stream/tok123', [], 'YGUQ1AtDaCOdRvXQQJjFGz/kpXo='],
  ])('of %s is what the carrier publishes', (url, form, signature) => {
    expect(sign('12345', url, form)).toBe(signature)
  })

  it('covers fields with an empty value', () => {
    const url = 'https://voice.example.com/api/v1/incoming-call'
    expect(sign('12345', url, inbound)).toBe('4gpZBiFJkK8WGiCVO88RE8pK7GQ=')
    expect(sign('12345', url, inbound.slice(1))).not.toBe('4gpZBiFJkK8WGiCVO88RE8pK7GQ=')
  })

  it('uses the digests that the vectors with a JSON body name', () => {
    const sha256 = (body: string) => createHash('sha256').update(body).digest('hex')
    expect(sha256('{"property": "value", "boolean": true}')).toBe(property)
    expect(sha256('{}')).toBe(empty)
  })
})

describe('forgedSignature', () => {
  it('looks like a signature and is not the right one', () => {
    expect(Buffer.from(forgedSignature(base), 'base64')).toHaveLength(20)
    expect(forgedSignature(base)).not.toBe(sign('12345', base))
  })
})
