import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocketServer } from 'ws'
import { scratchFolder } from '../../../test/harness/scratch.ts'
import { until } from '../../../test/harness/wait.ts'
import { acceptKey } from './accept.ts'
import { connectWebSocket, type Handshake } from './connect.ts'

type Told =
  | { how: 'opened'; socket: Socket }
  | { how: 'refused'; response: IncomingMessage }
  | { how: 'failed'; error: Error }

/** Begins a handshake and writes down what is told of it. */
function begin(url: string, headers: Record<string, string> = {}): { told: Told[]; handshake: Handshake } {
  const told: Told[] = []
  const handshake = connectWebSocket(
    { url: new URL(url), headers },
    {
      opened: (socket) => {
        socket.on('error', () => {})
        onTestFinished(() => void socket.destroy())
        told.push({ how: 'opened', socket: socket as Socket })
      },
      refused: (response) => void told.push({ how: 'refused', response }),
      failed: (error) => void told.push({ how: 'failed', error }),
    },
  )
  return { told, handshake }
}

async function outcome(told: Told[]): Promise<Told> {
  return until(() => told[0], { what: 'the outcome' })
}

type Serving = { url: string; sockets: Socket[]; requests: IncomingMessage[] }

/** A server that answers upgrades in its own words; null: not at all. */
async function serving(answer: ((key: string) => string) | null): Promise<Serving> {
  const [sockets, requests]: [Socket[], IncomingMessage[]] = [[], []]
  const server = createServer()
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    sockets.push(socket)
    requests.push(request)
    socket.on('error', () => {})
    socket.on('end', () => socket.end()).resume()
    if (answer) socket.write(answer(request.headers['sec-websocket-key'] ?? ''))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/path?query=1`, sockets, requests }
}

const good = (key: string, more = '') =>
  `HTTP/1.1 101 Ok\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Accept: ${acceptKey(key)}\r\n${more}\r\n`

describe('A handshake', () => {
  it('says where it wants to go, and what it was told to say', async () => {
    const { url, requests } = await serving((key) => good(key))
    const { told } = begin(url, { authorization: 'Bearer x' })
    expect((await outcome(told)).how).toBe('opened')
    const [request] = requests
    expect(request?.url).toBe('/path?query=1')
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer x',
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': expect.stringMatching(/^[+/0-9A-Za-z]{22}==$/),
    })
  })

  it('shows a key that is another each time', async () => {
    const { url, requests } = await serving((key) => good(key))
    for (const { told } of [begin(url), begin(url)]) await outcome(told)
    expect(new Set(requests.map(({ headers }) => headers['sec-websocket-key'])).size).toBe(2)
  })

  it.each([
    ['the key of another', (key: string) => good(`${key}x`)],
    ['another protocol', (key: string) => good(key).replace('WebSocket', 'h2c')],
    ['no upgrade', (key: string) => good(key).replace(/Upgrade: .*?\r\n/, '')],
    ['an extension', (key: string) => good(key, 'Sec-WebSocket-Extensions: permessage-deflate\r\n')],
    ['a subprotocol', (key: string) => good(key, 'Sec-WebSocket-Protocol: chat\r\n')],
    ['no HTTP', () => 'hello\r\n\r\n'],
  ])('fails when it is answered with %s, and leaves no connection', async (_what, answer) => {
    const { url, sockets } = await serving(answer)
    const { told } = begin(url)
    expect((await outcome(told)).how).toBe('failed')
    await until(() => sockets[0]?.destroyed, { what: 'the end of the connection' })
    expect(told).toHaveLength(1)
  })

  it.each([401, 302, 200, 503])('hands over an answer with status %i, its body unread', async (status) => {
    const { url } = await serving(() => `HTTP/1.1 ${status} No\r\nContent-Length: 2\r\nLocation: /other\r\n\r\nno`)
    const { told } = begin(url)
    const refused = await outcome(told)
    if (refused.how !== 'refused') throw new Error(refused.how)
    expect([refused.response.statusCode, await text(refused.response), told.length]).toEqual([status, 'no', 1])
  })

  it('fails with the code of its error when nobody is there', async () => {
    const { told } = begin('ws://127.0.0.1:1/')
    const failed = await outcome(told)
    expect(failed).toMatchObject({ how: 'failed', error: { code: 'ECONNREFUSED' } })
  })

  it('fails when the server hangs up', async () => {
    const { url, sockets } = await serving(null)
    const { told } = begin(url)
    await until(() => sockets[0], { what: 'the request' })
    sockets[0]?.destroy()
    expect(await outcome(told)).toMatchObject({ how: 'failed', error: { code: 'ECONNRESET' } })
  })

  it('tells nothing and leaves nothing once it was abandoned', async () => {
    const { url, sockets } = await serving(null)
    const { told, handshake } = begin(url)
    await until(() => sockets[0], { what: 'the request' })
    handshake.abandon()
    handshake.abandon()
    await until(() => sockets[0]?.destroyed, { what: 'the end of the connection' })
    expect(told).toEqual([])
  })

  it('can be abandoned while the body of a refusal is read', async () => {
    const { url, sockets } = await serving(() => 'HTTP/1.1 401 No\r\nContent-Length: 9\r\n\r\nno')
    const { told, handshake } = begin(url)
    await outcome(told)
    handshake.abandon()
    await until(() => sockets[0]?.destroyed, { what: 'the end of the connection' })
    expect(told).toHaveLength(1)
  })

  it('goes to no other kind of address', () => {
    expect(() => begin('ftp://127.0.0.1/')).toThrow(TypeError)
  })

  it('reaches a server over TLS whose certificate is trusted, and no other', async () => {
    const { url, certificate } = await secureServer()
    expect(await outcome(begin(url).told)).toMatchObject({ error: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } })
    const trusted = getCACertificates('default')
    setDefaultCACertificates([...trusted, certificate])
    onTestFinished(() => setDefaultCACertificates(trusted))
    const opened = await outcome(begin(url).told)
    if (opened.how !== 'opened') throw new Error(opened.how)
    const [greeting] = (await once(opened.socket, 'data')) as [Buffer]
    expect(greeting.toString('latin1')).toBe('\x81\x05hello')
  })
})

/** A server of `ws` that greets, with a certificate that it has signed itself. */
async function secureServer(): Promise<{ url: string; certificate: string }> {
  const folder = await scratchFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile]
  const name = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', ...newKey, ...name, '-out', certFile], { stdio: 'ignore' })
  const certificate = await readFile(certFile, 'utf8')
  const server = createSecureServer({ key: await readFile(keyFile), cert: certificate })
  const webSockets = new WebSocketServer({ server })
  webSockets.on('connection', (client) => client.send('hello'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const client of webSockets.clients) client.terminate()
    server.close()
  })
  return { url: `wss://127.0.0.1:${(server.address() as AddressInfo).port}/`, certificate }
}
