import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { sign } from './signature.ts'
import { makeSteadyClock } from './steady-clock.fixture.ts'
import { type Webhook, WebhookClient } from './webhook-client.ts'

type Seen = { method: string; url: string; headers: IncomingMessage['headers']; body: string }

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function receiver(answer: (n: number, response: ServerResponse) => void) {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => {
      seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
      answer(seen.length, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, seen }
}

function client(speed = 1) {
  const clock = makeSteadyClock(speed)
  const webhooks = new WebhookClient(clock, 'token')
  closing.push(() => webhooks.close())
  const send = (address: string, more: Partial<Webhook> = {}) =>
    webhooks.send({ address, method: 'POST', form: [], signature: 'valid', mostBytes: 65_536, ...more })
  return { clock, webhooks, send }
}

const ok = (_: number, response: ServerResponse) => response.end('<Response/>')

describe('WebhookClient', () => {
  it('posts a form with a signature over the address without its fragment', async () => {
    const { url, seen } = await receiver(ok)
    const form: [string, string][] = [
      ['From', '+14155550100'],
      ['CallerName', ''],
    ]
    const reply = await client().send(`${url}?a=1#rc=2`, { form })
    expect(reply).toMatchObject({ status: 200, body: Buffer.from('<Response/>') })
    expect(seen).toMatchObject([{ method: 'POST', url: '/hook?a=1', body: 'From=%2B14155550100&CallerName=' }])
    expect(seen[0]?.headers['x-twilio-signature']).toBe(sign('token', `${url}?a=1`, form))
  })

  it('puts the fields of a GET into the address and signs that', async () => {
    const { url, seen } = await receiver(ok)
    await client().send(url, { method: 'GET', form: [['To', '+1']] })
    expect(seen).toMatchObject([{ method: 'GET', url: '/hook?To=%2B1' }])
    expect(seen[0]?.headers['x-twilio-signature']).toBe(sign('token', `${url}?To=%2B1`))
  })

  it('sends a forged signature, or none, when told to', async () => {
    const { url, seen } = await receiver(ok)
    const { send } = client()
    await send(url, { signature: 'forged' })
    await send(url, { signature: 'missing' })
    expect(seen[0]?.headers['x-twilio-signature']).not.toBe(sign('token', url))
    expect(seen[1]?.headers['x-twilio-signature']).toBeUndefined()
  })

  it('leaves an error status alone unless the address asks for retries, which carry the same token', async () => {
    const { url, seen } = await receiver((_, response) => response.writeHead(503).end())
    const { send } = client()
    expect((await send(url)).status).toBe(503)
    expect(seen).toHaveLength(1)
    expect((await send(`${url}#rc=3&rp=5xx`)).status).toBe(503)
    expect(seen).toHaveLength(5)
    expect(new Set(seen.slice(1).map(({ headers }) => headers['i-twilio-idempotency-token'])).size).toBe(1)
  })

  it('stops retrying when the answer is good', async () => {
    const { url, seen } = await receiver((n, response) => response.writeHead(n < 3 ? 500 : 200).end())
    expect((await client().send(`${url}#rc=5&rp=all`)).status).toBe(200)
    expect(seen).toHaveLength(3)
  })

  it.each([301, 302, 303])(
    'follows a %i with a GET that carries nothing but a signature of its own',
    async (status) => {
      const location = '/there?b=2'
      const { url, seen } = await receiver((n, response) =>
        response.writeHead(n === 1 ? status : 200, { location }).end(),
      )
      const there = new URL(location, url).href
      const reply = await client().send(url, { form: [['To', '+1']] })
      expect(reply).toMatchObject({ status: 200, redirectedTo: there })
      expect(seen[1]).toMatchObject({ method: 'GET', url: location, body: '' })
      expect(seen[1]?.headers['x-twilio-signature']).toBe(sign('token', there))
    },
  )

  it('posts again where a 307 says, signed for the new address', async () => {
    const location = '/hook/'
    const { url, seen } = await receiver((n, response) => response.writeHead(n === 1 ? 307 : 200, { location }).end())
    const form: [string, string][] = [['To', '+1']]
    expect(await client().send(url, { form })).toMatchObject({ status: 200, redirectedTo: `${url}/` })
    expect(seen[1]).toMatchObject({ method: 'POST', url: '/hook/', body: 'To=%2B1' })
    expect(seen[1]?.headers['x-twilio-signature']).toBe(sign('token', `${url}/`, form))
  })

  it.each([
    [308, { location: '/there' }],
    [302, {}],
    [302, { location: 'http://' }],
  ])('leaves a %i with %j alone', async (status, headers) => {
    const { url, seen } = await receiver((_, response) => response.writeHead(status, headers).end())
    expect(await client().send(url)).toMatchObject({ status, redirectedTo: null })
    expect(seen).toHaveLength(1)
  })

  it('gives up on redirects that lead nowhere', async () => {
    const { url, seen } = await receiver((_, response) => response.writeHead(307, { location: '/hook' }).end())
    await expect(client().send(url)).rejects.toMatchObject({ reason: 'redirects' })
    expect(seen).toHaveLength(11)
  })

  it('fails when nobody listens, or when the address is none', async () => {
    const { send } = client()
    await expect(send('http://127.0.0.1:1/')).rejects.toMatchObject({ reason: 'connect' })
    await expect(send('not an address')).rejects.toMatchObject({ reason: 'connect' })
  })

  it('waits no longer than the read time-out, and 15 s at most', async () => {
    const { url, seen } = await receiver(() => {})
    const { send, clock } = client(20)
    await expect(send(`${url}#rt=500&rc=0`)).rejects.toMatchObject({ reason: 'read' })
    expect(clock.nowMs()).toBeLessThan(10_000)
    const from = clock.nowMs()
    await expect(send(`${url}#rt=99999`)).rejects.toMatchObject({ reason: 'read' })
    expect(clock.nowMs() - from).toBeGreaterThan(14_000)
    expect(seen).toHaveLength(2)
    expect(clock.pending()).toBe(0)
  })

  it('refuses a body beyond the bound', async () => {
    const { url } = await receiver((_, response) => response.end('x'.repeat(1000)))
    await expect(client().send(url, { mostBytes: 999 })).rejects.toMatchObject({ reason: 'too-long' })
  })

  it('is cut off by close, leaving no timer', async () => {
    const { url, seen } = await receiver(() => {})
    const { send, webhooks, clock } = client()
    const sending = send(url)
    const failed = expect(sending).rejects.toMatchObject({ reason: 'aborted' })
    await expect.poll(() => seen.length).toBe(1)
    await webhooks.close()
    await failed
    expect(clock.pending()).toBe(0)
  })
})
