import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CarrierError } from '../port.ts'
import { makeOutboundRequests } from './outbound.ts'

const ACCOUNT = { accountSid: 'AC1', authToken: 'a token of the outbound tests' }
const CALL = {
  from: '+12025550140',
  to: '+12025550123',
  answerUrl: 'https://voice.example.com/answer#rc=3',
  statusUrl: 'https://voice.example.com/status',
  ringSeconds: 60,
  maxSeconds: 1_860,
  tellMachine: 'at_start' as const,
}
const never = new AbortController().signal

/** A carrier that gives one answer, whatever it is asked. */
async function carrier(status: number, body: unknown) {
  const asked: { method: string | undefined; url: URL; form: URLSearchParams }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString())
      asked.push({ method: request.method, url: new URL(request.url ?? '', 'http://carrier'), form })
      response.writeHead(status).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { asked, requests: makeOutboundRequests(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) }
}

describe('a request to place a call', () => {
  it('says where to ask and what to tell, in a form', async () => {
    const { asked, requests } = await carrier(201, { sid: 'CA1' })
    expect(await requests.create(ACCOUNT, CALL, never)).toBe('CA1')
    const [request] = asked
    expect([request?.method, request?.url.pathname]).toEqual(['POST', '/2010-04-01/Accounts/AC1/Calls.json'])
    expect(request?.form.getAll('StatusCallbackEvent')).toEqual(['initiated', 'ringing', 'answered', 'completed'])
    expect(Object.fromEntries(request?.form ?? [])).toMatchObject({
      ...{ To: CALL.to, From: CALL.from, Url: CALL.answerUrl, FallbackUrl: CALL.answerUrl },
      ...{ StatusCallback: CALL.statusUrl, Timeout: '60', TimeLimit: '1860' },
      ...{ MachineDetection: 'Enable', AsyncAmd: 'true', AsyncAmdStatusCallback: CALL.statusUrl },
    })
  })

  it('asks to be told when a message can be left', async () => {
    const { asked, requests } = await carrier(201, { sid: 'CA1' })
    await requests.create(ACCOUNT, { ...CALL, tellMachine: 'at_message_end' }, never)
    expect(asked[0]?.form.get('MachineDetection')).toBe('DetectMessageEnd')
  })

  it.each([
    [201, {}, 'unknown'],
    [400, { code: 21211, message: 'No number' }, 'rejected'],
    [401, { code: 20003 }, 'credentials'],
    [403, { code: 20005 }, 'credentials'],
    [429, { code: 20429 }, 'busy'],
    [500, { code: 20500 }, 'unknown'],
    [503, 'away', 'unknown'],
  ])('fails by kind: %d %j', async (status, body, kind) => {
    const { requests } = await carrier(status, body)
    const error: unknown = await requests.create(ACCOUNT, CALL, never).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(CarrierError)
    expect(error).toMatchObject({ kind })
  })
})

describe('a request for calls', () => {
  const since = new Date('2030-01-01T10:00:00Z')
  const listed = (sid: string, date_created: string) => ({ sid, status: 'queued', from: 'a', to: 'b', date_created })

  it('narrows by both numbers, and by the instant itself', async () => {
    const calls = [listed('CA2', 'Tue, 01 Jan 2030 10:00:00 +0000'), listed('CA1', 'Tue, 01 Jan 2030 09:59:59 +0000')]
    const { asked, requests } = await carrier(200, { calls })
    const found = await requests.list(ACCOUNT, { from: CALL.from, to: CALL.to, since }, never)
    expect(found).toMatchObject({ calls: [{ callSid: 'CA2', status: 'queued', createdAt: since }], hasUnread: false })
    expect(Object.fromEntries(asked[0]?.url.searchParams ?? [])).toMatchObject({ From: CALL.from, To: CALL.to })
  })

  it('finds a call among rows that cannot be read', async () => {
    const call = listed('CA1', 'Tue, 01 Jan 2030 10:00:00 +0000')
    const undated = [{ ...call, date_created: null }, { sid: 'CA2', status: 'queued' }, listed('CA3', 'yesterday')]
    const others = [null, 'a call', { ...call, sid: null }, { ...call, sid: 'CA4', status: 'answered' }]
    const { requests } = await carrier(200, { calls: [...undated, call, ...others] })
    const found = await requests.list(ACCOUNT, { from: 'a', to: 'b', since }, never)
    expect(found.calls.map(({ callSid }) => callSid)).toEqual(['CA1'])
    expect(found.hasUnread).toBe(true)
  })

  it('says nothing of rows that cannot be read and are too old to be meant', async () => {
    const old = { ...listed('CA1', 'Tue, 01 Jan 2030 09:59:59 +0000'), status: 'answered' }
    const { requests } = await carrier(200, { calls: [old] })
    expect(await requests.list(ACCOUNT, { from: 'a', to: 'b', since }, never)).toEqual({ calls: [], hasUnread: false })
  })

  it.each([{}, { calls: null }, { calls: {} }])('fails when the answer is no list: %j', async (body) => {
    const { requests } = await carrier(200, body)
    await expect(requests.list(ACCOUNT, { from: 'a', to: 'b', since }, never)).rejects.toThrow(CarrierError)
  })
})
