import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CarrierError } from '../port.ts'
import { fetchAccount } from './account.ts'
import { makeNumberRequests, type NumberRequests } from './numbers.ts'

const ACCOUNT = { accountSid: 'AC1', authToken: 'secret' }
const ROOT = '/2010-04-01/Accounts/AC1'
const BARE = {
  sid: 'PN1',
  phone_number: '+12025550123',
  capabilities: { voice: true },
  voice_url: '',
  voice_fallback_url: null,
  status_callback: 'https://old.example.com/status',
  status_callback_method: 'GET',
  voice_application_sid: null,
  trunk_sid: '',
}
const ADDRESSES = {
  voice: 'https://a.example.com/v',
  fallback: 'https://a.example.com/f',
  status: 'https://a.example.com/s',
}

type Seen = { method: string; url: string; headers: IncomingHttpHeaders; form: Record<string, string> }

let seen: Seen[]
let answer: { status: number; body: unknown; headers?: Record<string, string> }
let numbers: NumberRequests
let baseUrl: string
const soon = () => AbortSignal.timeout(5_000)

const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString()
  })
  request.on('end', () => {
    const { method = '', url = '', headers } = request
    seen.push({ method, url, headers, form: Object.fromEntries(new URLSearchParams(body)) })
    response.writeHead(answer.status, answer.headers ?? {})
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body))
  })
})

beforeEach(async () => {
  seen = []
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  numbers = makeNumberRequests(baseUrl)
})

afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

const found = (...all: object[]) => ({ status: 200, body: { incoming_phone_numbers: all } })
const findBare = (more: object) => findWith(found({ ...BARE, ...more }))
const findWith = async (given: typeof answer) => {
  answer = given
  return numbers.find(ACCOUNT, '+12025550123', soon())
}

describe('find', () => {
  it("asks in the account's name, and reads what the number does", async () => {
    expect(await findBare({})).toEqual({
      sid: 'PN1',
      phoneNumber: '+12025550123',
      takesCalls: true,
      voice: null,
      fallback: null,
      status: { url: 'https://old.example.com/status', method: 'GET' },
      applicationSid: null,
      trunkSid: null,
    })
    expect(seen).toMatchObject([
      {
        method: 'GET',
        url: `${ROOT}/IncomingPhoneNumbers.json?PhoneNumber=%2B12025550123`,
        headers: { authorization: `Basic ${Buffer.from('AC1:secret').toString('base64')}` },
      },
    ])
  })

  it('reads what hides the addresses', async () => {
    const number = await findBare({ capabilities: { voice: false }, voice_application_sid: 'AP1', trunk_sid: 'TK1' })
    expect(number).toMatchObject({ takesCalls: false, applicationSid: 'AP1', trunkSid: 'TK1' })
  })

  it('is null for a number that is not there, though one that contains it is', async () => {
    expect(await findWith(found())).toBeNull()
    expect(await findWith(found({ ...BARE, phone_number: '+120255501234' }))).toBeNull()
  })

  it.each([
    { status: 401, code: 20003, kind: 'credentials' },
    { status: 403, code: 20008, kind: 'credentials' },
    { status: 429, code: 20429, kind: 'busy' },
    { status: 400, code: 20001, kind: 'rejected' },
    { status: 503, code: 20503, kind: 'unknown' },
  ])('throws $kind for $status', async ({ status, code, kind }) => {
    await expect(findWith({ status, body: { code, message: 'No.', status } })).rejects.toEqual(
      expect.objectContaining({ name: 'CarrierError', kind, code: String(code), message: 'No.' }),
    )
  })

  it.each([{ body: {} }, { body: '<html>' }, { body: { incoming_phone_numbers: [{}] } }])(
    'throws for an answer that is no list of numbers: $body',
    async ({ body }) => {
      await expect(findWith({ status: 200, body })).rejects.toMatchObject({ kind: 'unknown' })
    },
  )

  it('takes the credentials to no other address', async () => {
    const moved = { status: 307, body: '', headers: { location: `${baseUrl}/elsewhere` } }
    await expect(findWith(moved)).rejects.toMatchObject({ kind: 'unknown' })
    expect(seen).toHaveLength(1)
  })

  it('keeps the cause when nothing answers, and never the credentials', async () => {
    const gone = makeNumberRequests('http://127.0.0.1:1').find(ACCOUNT, '+12025550123', soon())
    const error = await gone.then(
      () => null,
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(CarrierError)
    expect((error as CarrierError).cause).toBeInstanceOf(Error)
    expect(String((error as Error).cause)).not.toContain('secret')
  })

  it('gives up when its signal says so', async () => {
    const gone = numbers.find(ACCOUNT, '+12025550123', AbortSignal.abort())
    await expect(gone).rejects.toMatchObject({ kind: 'unknown', cause: { name: 'AbortError' } })
  })
})

describe('connect', () => {
  const connect = async (more: object) => {
    const number = await findBare(more)
    answer = { status: 200, body: { ...BARE, voice_url: ADDRESSES.voice, voice_method: 'POST' } }
    return number && numbers.connect(ACCOUNT, number, ADDRESSES, soon())
  }

  it('sets the three addresses, each for POST, and gives back what the carrier has now', async () => {
    expect(await connect({})).toMatchObject({ voice: { url: ADDRESSES.voice, method: 'POST' } })
    expect(seen[1]).toMatchObject({ method: 'POST', url: `${ROOT}/IncomingPhoneNumbers/PN1.json` })
    expect(seen[1]?.form).toEqual({
      VoiceUrl: ADDRESSES.voice,
      VoiceMethod: 'POST',
      VoiceFallbackUrl: ADDRESSES.fallback,
      VoiceFallbackMethod: 'POST',
      StatusCallback: ADDRESSES.status,
      StatusCallbackMethod: 'POST',
    })
  })

  it('takes an application away, and only if there is one', async () => {
    await connect({ voice_application_sid: 'AP1' })
    expect(seen[1]?.form).toMatchObject({ VoiceApplicationSid: '' })
  })
})

describe('fetchAccount', () => {
  it.each([
    { body: { status: 'active', type: 'Full' }, standing: { status: 'active', isTrial: false } },
    { body: { status: 'suspended', type: 'Trial' }, standing: { status: 'suspended', isTrial: true } },
  ])('reads $body', async ({ body, standing }) => {
    answer = { status: 200, body }
    expect(await fetchAccount(baseUrl, ACCOUNT, soon())).toEqual(standing)
    expect(seen[0]).toMatchObject({ method: 'GET', url: `${ROOT}.json` })
  })

  it('throws for an account without a status', async () => {
    answer = { status: 200, body: {} }
    await expect(fetchAccount(baseUrl, ACCOUNT, soon())).rejects.toMatchObject({ kind: 'unknown' })
  })
})
