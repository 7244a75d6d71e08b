import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CarrierError } from '../port.ts'
import { makeCallRequests } from './rest.ts'

const ACCOUNT = { accountSid: 'AC00000000000000000000000000000001', authToken: 'a token of the rest tests' }
const CALL = 'CA00000000000000000000000000000001'
const PATH = `/2010-04-01/Accounts/${ACCOUNT.accountSid}/Calls/${CALL}.json`
const BODY = { sid: CALL, status: 'in-progress', from: '+12025550101', to: '+12025550100', duration: null }

type Asked = { method: string | undefined; path: string | undefined; authorization: string | undefined; form: string }
type Answer = { status: number; body: unknown } | 'reset' | 'silence' | 'endless'

/** A carrier that gives one answer, whatever it is asked. */
async function carrier(answer: Answer) {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      asked.push({ ...askedOf(request), form: Buffer.concat(chunks).toString() })
      if (answer === 'reset') request.socket.resetAndDestroy()
      else if (answer === 'endless') Readable.from(spaces()).pipe(response)
      else if (answer !== 'silence') response.writeHead(answer.status).end(JSON.stringify(answer.body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const requests = makeCallRequests(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return { asked, requests }
}

/** JSON may begin with as many of them as one likes. */
function* spaces(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(64 * 1024, ' ')
}

function askedOf({ method, url, headers }: IncomingMessage): Omit<Asked, 'form'> {
  return { method, path: url, authorization: headers.authorization }
}

function refusal(status: number, code: number): Answer {
  return { status, body: { code, message: 'Why not', more_info: 'https://example.com', status } }
}

const never = new AbortController().signal

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  const error: unknown = await work.catch((thrown: unknown) => thrown)
  return error instanceof CarrierError ? { kind: error.kind, code: error.code } : error
}

describe("the carrier's requests about a call", () => {
  it('end it, in the name of its account', async () => {
    const { asked, requests } = await carrier({ status: 200, body: BODY })
    await requests.end(ACCOUNT, CALL, never)
    const authorization = `Basic ${Buffer.from(`${ACCOUNT.accountSid}:${ACCOUNT.authToken}`).toString('base64')}`
    expect(asked).toEqual([{ method: 'POST', path: PATH, authorization, form: 'Status=completed' }])
  })

  it.each([refusal(404, 20404), refusal(400, 21220)])(
    'take a call that is over already as ended: %j',
    async (answer) => {
      const { requests } = await carrier(answer)
      await expect(requests.end(ACCOUNT, CALL, never)).resolves.toBeUndefined()
    },
  )

  it('give it new instructions, with whatever is said escaped', async () => {
    const { asked, requests } = await carrier({ status: 200, body: BODY })
    await requests.update(ACCOUNT, CALL, { verbs: [{ type: 'say', text: 'A & B' }, { type: 'hangup' }] }, never)
    expect(new URLSearchParams(asked[0]?.form).get('Twiml')).toContain('<Say>A &amp; B</Say><Hangup/>')
  })

  it('say how long it may last from now on, where that changes', async () => {
    const { asked, requests } = await carrier({ status: 200, body: BODY })
    await requests.update(ACCOUNT, CALL, { verbs: [{ type: 'hangup' }] }, never)
    await requests.update(ACCOUNT, CALL, { verbs: [{ type: 'hangup' }], maxSeconds: 14_400 }, never)
    expect(asked.map(({ form }) => new URLSearchParams(form).get('TimeLimit'))).toEqual([null, '14400'])
    await requests.update(ACCOUNT, CALL, { maxSeconds: 14_400 }, never)
    expect(asked.at(-1)?.form).toBe('TimeLimit=14400')
  })

  it('do not give instructions to a call that is over', async () => {
    const { requests } = await carrier(refusal(404, 20404))
    expect(await failureOf(requests.update(ACCOUNT, CALL, { verbs: [] }, never))).toEqual({
      kind: 'rejected',
      code: '20404',
    })
  })

  it('look it up', async () => {
    const body = { ...BODY, status: 'completed', duration: '42', answered_by: 'human' }
    const { asked, requests } = await carrier({ status: 200, body })
    expect(await requests.fetch(ACCOUNT, CALL, never)).toEqual({
      ...{ callSid: CALL, status: 'completed' },
      ...{ durationSeconds: 42, answeredBy: 'human' },
    })
    expect(asked).toMatchObject([{ method: 'GET', path: PATH, form: '' }])
  })

  it('say of a call that the carrier does not know that there is none', async () => {
    const { requests } = await carrier(refusal(404, 20404))
    expect(await requests.fetch(ACCOUNT, CALL, never)).toBeNull()
  })

  it.each([
    ['wrong credentials', refusal(401, 20003), { kind: 'credentials', code: '20003' }],
    ['an account that is not active', refusal(403, 20005), { kind: 'credentials', code: '20005' }],
    ['too many requests', refusal(429, 20429), { kind: 'busy', code: '20429' }],
    ['a refusal', refusal(400, 21205), { kind: 'rejected', code: '21205' }],
    ['a fault of the carrier', refusal(500, 20500), { kind: 'unknown', code: '20500' }],
    ['an answer that is no JSON object', { status: 502, body: 'Bad gateway' }, { kind: 'unknown', code: null }],
    ['a call without a status', { status: 200, body: { sid: CALL } }, { kind: 'unknown', code: null }],
    ['a connection that is cut', 'reset', { kind: 'unknown', code: null }],
  ] satisfies [string, Answer, unknown][])('tell %s apart', async (_what, answer, expected) => {
    const { requests } = await carrier(answer)
    expect(await failureOf(requests.fetch(ACCOUNT, CALL, never))).toEqual(expected)
  })

  it.each([
    ['nothing listens at its address', 'http://127.0.0.1:2'],
    ['nothing listens at any address of its name', 'http://localhost:2'],
    ['its name is not found', 'https://carrier.invalid'],
  ])('tell that nothing of them was sent: %s', async (_what, address) => {
    expect(await failureOf(makeCallRequests(address).end(ACCOUNT, CALL, never))).toEqual({
      kind: 'unreachable',
      code: null,
    })
  })

  it('do not follow the carrier elsewhere with the credentials', async () => {
    const { requests, asked } = await carrier({ status: 302, body: {} })
    expect(await failureOf(requests.end(ACCOUNT, CALL, never))).toMatchObject({ kind: 'unknown' })
    expect(asked).toHaveLength(1)
  })

  it('read no more of an answer than could be one, however long it goes on', async () => {
    const { requests } = await carrier('endless')
    await expect(requests.end(ACCOUNT, CALL, never)).resolves.toBeUndefined()
    expect(await failureOf(requests.fetch(ACCOUNT, CALL, never))).toEqual({ kind: 'unknown', code: null })
  })

  it('end when they are told to', async () => {
    const { requests } = await carrier('silence')
    const stopping = new AbortController()
    const failure = failureOf(requests.end(ACCOUNT, CALL, stopping.signal))
    stopping.abort()
    expect(await failure).toEqual({ kind: 'unknown', code: null })
  })
})
