import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { until } from '../../../test/harness/wait.ts'
import { type Behaviour, startWebhookTarget, type WebhookTarget } from '../../../test/harness/webhook-target.ts'
import { systemClock } from '../../kernel/clock.ts'
import { OutboundFault } from './fault.ts'
import { makeOutbound } from './outbound.ts'

const resolved: string[] = []
/** Every name leads to this machine. */
const resolve = async (host: string) => {
  resolved.push(host)
  return ['127.0.0.1']
}
let tls: { key: string; cert: string }

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const named = ['-subj', '/CN=hooks.example.com', '-addext', 'subjectAltName=DNS:hooks.example.com,IP:127.0.0.1']
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2', ...named]
  execFileSync('openssl', made, { stdio: 'ignore' })
  tls = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
})

async function targetThat(behaviour: Behaviour, secure = false): Promise<WebhookTarget> {
  const target = await startWebhookTarget(secure ? tls : undefined)
  onTestFinished(() => target.close())
  target.answer(behaviour)
  return target
}

const REQUEST = { method: 'POST' as const, headers: { 'x-test': '1' }, body: '{}', timeoutMs: 10_000 }

function asking(
  url: string,
  more: { clock?: TestClock; ca?: string; allowPrivate?: boolean; signal?: AbortSignal } = {},
) {
  const { clock = new TestClock(), allowPrivate = true, ca, signal } = more
  const outbound = makeOutbound({ clock, allowPrivate, resolve, ...(ca && { ca }) })
  return outbound.request({ ...REQUEST, url, maxAnswerBytes: 1_000, ...(signal && { signal }) }).then(
    ({ status, body, isWhole }) => ({ status, bytes: body.length, isWhole }),
    (error: unknown) => (error instanceof OutboundFault ? error.kind : String(error)),
  )
}

/** The same target by another name, whose address the resolver says. */
function byName(target: WebhookTarget, name = 'hooks.example.com'): string {
  return target.url.replace('127.0.0.1', name)
}

describe('a request to an address of a tenant', () => {
  it('goes to the address that was checked, with the name that was asked for', async () => {
    const target = await targetThat({ status: 200, body: 'thanks' })
    resolved.length = 0
    expect(await asking(byName(target))).toEqual({ status: 200, bytes: 6, isWhole: true })
    expect(target.received[0]).toMatchObject({ body: '{}', headers: { 'x-test': '1' } })
    expect(target.received[0]?.headers.host).toMatch(/^hooks\.example\.com:/)
    // Once: a name that leads elsewhere the second time gains nothing.
    expect(resolved).toEqual(['hooks.example.com'])
  })

  it('is not made at all into a private network', async () => {
    const target = await targetThat({ status: 200 })
    expect(await asking(target.url, { allowPrivate: false })).toBe('forbidden')
    expect(await asking(byName(target), { allowPrivate: false })).toBe('forbidden')
    expect(target.received).toEqual([])
  })

  it('follows no redirect', async () => {
    const inner = await targetThat({ status: 200 })
    const target = await targetThat({ status: 302, headers: { location: inner.url } })
    expect(await asking(target.url)).toMatchObject({ status: 302 })
    expect(inner.received).toEqual([])
  })

  it('reads no more of the answer than it was told to', async () => {
    expect(await asking((await targetThat('endless')).url)).toEqual({ status: 200, bytes: 1_000, isWhole: false })
    const long = await targetThat({ status: 500, body: Buffer.alloc(5_000_000) })
    expect(await asking(long.url)).toEqual({ status: 500, bytes: 1_000, isWhole: false })
  })

  it('takes an answer whose head came, whatever happens then', async () => {
    const reset = await targetThat('reset after the head')
    expect(await asking(reset.url)).toMatchObject({ status: 200, isWhole: false })
    const drip = await targetThat('drip')
    const outbound = makeOutbound({ clock: systemClock, allowPrivate: true, resolve })
    const answer = await outbound.request({ ...REQUEST, url: drip.url, maxAnswerBytes: 1_000, timeoutMs: 2_000 })
    expect(answer).toMatchObject({ status: 200, isWhole: false })
  })

  it.each([
    ['that is closed behind it', true, (socket: Socket) => socket.end()],
    ['that breaks', false, (socket: Socket) => socket.resetAndDestroy()],
    ['for which there is no more time', false, (_socket: Socket, clock: TestClock) => clock.advance(10_000)],
  ])('takes an answer whose length is not told as ended by a connection %s: %s', async (_what, isWhole, end) => {
    const clock = new TestClock()
    const sockets: Socket[] = []
    const server = createTcpServer((socket) => {
      sockets.push(socket.on('error', () => {}))
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nhalf'))
    }).listen(0, '127.0.0.1')
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    await once(server, 'listening')
    const outbound = makeOutbound({ clock, allowPrivate: true, resolve })
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const heard: string[] = []
    const isEnough = (piece: Buffer) => {
      heard.push(piece.toString())
      return false
    }
    const asked = outbound.request({ ...REQUEST, url, maxAnswerBytes: 1_000, isEnough })
    await until(() => heard.length > 0, { what: 'what is there of the answer' })
    for (const socket of sockets) await end(socket, clock)
    expect(await asked).toMatchObject({ status: 200, body: Buffer.from('half'), isWhole })
  })

  it('is shown each piece of a stream of events once, and ends as soon as it was enough', async () => {
    const words = ['one', 'two', 'three', 'four']
    let next: (() => void) | null = null
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      next = () => void response.write(words.shift())
      next()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const pieces: string[] = []
    const isEnough = (piece: Buffer) => {
      pieces.push(piece.toString())
      next?.()
      return pieces.length === 3
    }
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const outbound = makeOutbound({ clock: new TestClock(), allowPrivate: true, resolve })
    const { body, isWhole } = await outbound.request({ ...REQUEST, url, maxAnswerBytes: 1_000, isEnough })
    expect([pieces, body.toString(), isWhole]).toEqual([['one', 'two', 'three'], 'onetwothree', true])
  })

  it('ends in time without an answer', async () => {
    const clock = new TestClock()
    const target = await targetThat('hang')
    const asked = asking(target.url, { clock })
    await target.receive(1)
    await clock.advance(9_999)
    expect(target.waiting).toBe(1)
    await clock.advance(1)
    expect(await asked).toBe('timeout')
  })

  it.each([
    [20, { status: 200, bytes: 2, isWhole: true }],
    [21, 'connection'],
  ])('is given up when it is told over and over that an answer will come: %i times', async (times, expected) => {
    const server = createServer((_request, response) => {
      for (let said = 0; said < times; said += 1) response.writeProcessing()
      if (times === 20) response.end('ok')
    }).listen(0, '127.0.0.1')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    await once(server, 'listening')
    expect(await asking(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).toEqual(expected)
  })

  it('ends in time while the name is being resolved', async () => {
    const clock = new TestClock()
    const outbound = makeOutbound({ clock, allowPrivate: false, resolve: () => new Promise(() => {}) })
    const asked = outbound.request({ ...REQUEST, url: 'https://a.example/', maxAnswerBytes: 1 })
    const failed = expect(asked).rejects.toMatchObject({ kind: 'timeout' })
    await clock.advance(10_000)
    await failed
  })

  it('ends when it is given up', async () => {
    const target = await targetThat('hang')
    const giving = new AbortController()
    const asked = asking(target.url, { signal: giving.signal })
    await target.receive(1)
    giving.abort()
    expect(await asked).toBe('stopped')
    expect(await asking(target.url, { signal: AbortSignal.abort() })).toBe('stopped')
    expect(target.received).toHaveLength(1)
  })

  it.each(['reset', 'no http'] as const)('says that there was no answer from one that does this: %s', async (fault) => {
    expect(await asking((await targetThat(fault)).url)).toBe('connection')
  })

  it('says that nobody listens', async () => {
    const target = await targetThat({ status: 200 })
    await target.close()
    expect(await asking(target.url)).toBe('connection')
  })

  it('trusts no certificate that nobody signed, and none of another name', async () => {
    const target = await targetThat({ status: 200 }, true)
    expect(await asking(byName(target))).toBe('tls')
    expect(await asking(byName(target, 'other.example.com'), { ca: tls.cert })).toBe('tls')
    expect(await asking(target.url.replace('https', 'http'))).toBe('connection')
    expect(target.received).toEqual([])
  })

  it('trusts the certificate of the name that it asked for, and of the address', async () => {
    const target = await targetThat({ status: 200 }, true)
    expect(await asking(byName(target), { ca: tls.cert })).toMatchObject({ status: 200 })
    expect(await asking(byName(target, 'hooks.example.com.'), { ca: tls.cert })).toMatchObject({ status: 200 })
    expect(await asking(target.url, { ca: tls.cert })).toMatchObject({ status: 200 })
  })
})
