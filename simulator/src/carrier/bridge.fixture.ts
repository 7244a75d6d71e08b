import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

/** A form that the bridge was sent. */
export type SeenForm = { path: string; form: URLSearchParams; signature: string; atMs: number }

/** A message of the carrier, parsed, with the moment it came. */
export type SeenMessage = {
  atMs: number
  event: string
  sequenceNumber?: string
  streamSid?: string
  media?: { track: string; chunk: string; timestamp: string; payload: string }
  mark?: { name: string }
  dtmf?: { track: string; digit: string }
  start?: { streamSid: string; callSid: string; customParameters: Record<string, string> }
  stop?: { accountSid: string; callSid: string }
  protocol?: string
}

/** A stream as the bridge sees it. */
export type SeenStream = {
  ws: WebSocket
  url: string
  signature: string
  raw: string[]
  binaryMessages: number
  messages: SeenMessage[]
  of: (event: string) => SeenMessage[]
  streamSid: () => string
  send: (message: object) => void
  /** Sends audio, and a mark after it when one is named. */
  play: (audio: Uint8Array, mark?: string) => void
  clear: () => void
  closeCode: () => number | null
}

/** The smallest bridge there is: it answers webhooks with what the test says and takes streams. */
export type TestBridge = {
  url: string
  wsUrl: string
  forms: SeenForm[]
  streams: SeenStream[]
  /** Answers a path with a document, or with what a function gives. */
  answer: (path: string, answer: Answer) => void
  formsOf: (path: string) => URLSearchParams[]
  close: () => Promise<void>
}

type Answered = { status: number; type?: string; location?: string; body?: Uint8Array }
type Answer = string | ((form: URLSearchParams) => string | Answered)

/** Starts a bridge on a free port of this machine. `refuseStreams` answers handshakes with 403. */
export async function startTestBridge({ refuseStreams = false } = {}): Promise<TestBridge> {
  const answers = new Map<string, Answer>()
  const forms: SeenForm[] = []
  const streams: SeenStream[] = []
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const url = new URL(request.url ?? '/', 'http://bridge')
      const form = new URLSearchParams(request.method === 'GET' ? url.search : body)
      forms.push({ path: url.pathname, form, signature: signatureOf(request), atMs: performance.now() })
      const configured = answers.get(url.pathname) ?? '<Response/>'
      const answer = typeof configured === 'function' ? configured(form) : configured
      const answered: Answered = typeof answer === 'string' ? document(answer) : answer
      const { status, type = 'text/xml', location, body: sent } = answered
      response.writeHead(status, { 'content-type': type, ...(location && { location }) }).end(sent)
    })
  })
  const sockets = new WebSocketServer({
    server,
    verifyClient: (_: unknown, reply: (ok: boolean, code: number) => void) => reply(!refuseStreams, 403),
  })
  sockets.on('connection', (ws, request) => streams.push(watch(ws, request)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}/media-stream`,
    forms,
    streams,
    answer: (path, answer) => answers.set(path, answer),
    formsOf: (path) => forms.filter((seen) => seen.path === path).map(({ form }) => form),
    close: async () => {
      for (const { ws } of streams) ws.terminate()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The document that opens a stream, and what is after it. */
export function connectStream(bridge: TestBridge, { query = '', parameters = '', after = '' } = {}): string {
  return `<Response><Connect><Stream url="${bridge.wsUrl}${query}">${parameters}</Stream></Connect>${after}</Response>`
}

function document(text: string): { status: number; type?: string; body: Uint8Array } {
  return { status: 200, body: Buffer.from(text) }
}

function watch(ws: WebSocket, request: IncomingMessage): SeenStream {
  const messages: SeenMessage[] = []
  const raw: string[] = []
  let closeCode: number | null = null
  const of = (event: string) => messages.filter((message) => message.event === event)
  const streamSid = () => of('start')[0]?.streamSid ?? ''
  const send = (message: object) => ws.send(JSON.stringify(message))
  const seen: SeenStream = {
    ws,
    url: request.url ?? '',
    signature: signatureOf(request),
    raw,
    binaryMessages: 0,
    messages,
    of,
    streamSid,
    send,
    play: (audio, mark) => {
      send({ event: 'media', streamSid: streamSid(), media: { payload: Buffer.from(audio).toString('base64') } })
      if (mark) send({ event: 'mark', streamSid: streamSid(), mark: { name: mark } })
    },
    clear: () => send({ event: 'clear', streamSid: streamSid() }),
    closeCode: () => closeCode,
  }
  ws.on('message', (data: Buffer, isBinary) => {
    if (isBinary) seen.binaryMessages++
    else raw.push(data.toString())
    const message = isBinary ? null : tryParse(data.toString())
    if (message) messages.push({ ...message, atMs: performance.now() })
  })
  ws.on('error', () => {})
  ws.on('close', (code) => {
    closeCode = code
  })
  return seen
}

function tryParse(text: string): SeenMessage | null {
  try {
    return JSON.parse(text) as SeenMessage
  } catch {
    return null
  }
}

function signatureOf(request: IncomingMessage): string {
  return String(request.headers['x-twilio-signature'] ?? '')
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const part of request) body += String(part)
  return body
}
