import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Message = { id?: number; method: string; params?: Record<string, unknown> }
type Refused = { id: number | undefined; status: number; error: object }
type Tool = { name: string; description?: string; inputSchema: Record<string, unknown> }

/** A server of the Model Context Protocol on this machine, spoken to over streamable HTTP. Whoever starts it closes it. */
export type McpServerDouble = {
  url: string
  /** What was asked, in order, with the headers that it came with. */
  asked: { method: string; params: Record<string, unknown>; headers: IncomingMessage['headers'] }[]
  tools: Tool[]
  /** How it answers: as one message, as a stream that ends, or as one that stays open. */
  as: 'json' | 'events' | 'open events'
  /** The protocol's version that it insists on; null for the one that it is asked for. */
  version: string | null
  /** Whether it knows no sessions, and refuses whatever does not say so in each request. */
  isSessionless: boolean
  /** How it refuses those then. */
  refusal: { status: number; error: { code: number; message: string; data?: object } }
  /** How many tools a page of its list has. */
  pageSize: number
  /** What comes of a tool: the result of a call, or a fault. */
  result: Record<string, unknown> | { rpcError: string } | 'hang' | 'drip' | 'reset' | { status: number; body: string }
  /** Answers nothing any more. */
  isSilent: boolean
  /** Keeps those waiting who begin a session, until this is false again. */
  isHeld: boolean
  /** Forgets all sessions, as a restart does, and says so in this way, if not as the protocol has it. */
  forget(by?: { status: number; body: string }): void
  /** What was asked of this method. */
  of(method: string): McpServerDouble['asked']
  close(): Promise<void>
}

/** The version of the protocol in which there are no sessions. */
const SESSIONLESS = '2026-07-28'
const SECRET = 'Bearer key-of-the-mcp-tests'

export async function startMcpServer(): Promise<McpServerDouble> {
  const sessions = new Set<string>()
  let begun = 0
  let unknown = { status: 404, body: '' }
  let held: (() => void)[] | null = null
  const http = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => answer(JSON.parse(Buffer.concat(chunks).toString()) as Message, request, response))
  })
  const server: McpServerDouble = {
    url: '',
    asked: [],
    tools: [
      {
        name: 'look_up',
        description: 'Looks an order up.',
        inputSchema: {
          $schema: 'x',
          type: 'object',
          properties: { id: { type: 'string', pattern: '^(a+)+$' } },
          required: ['id'],
        },
      },
      { name: 'pay.bill', inputSchema: { type: 'object' } },
    ],
    as: 'json',
    version: null,
    isSessionless: false,
    refusal: {
      status: 400,
      error: { code: -32_022, message: 'Unsupported protocol version', data: { supported: [SESSIONLESS] } },
    },
    pageSize: 100,
    result: { content: [{ type: 'text', text: 'It is on its way.' }] },
    isSilent: false,
    get isHeld() {
      return held !== null
    },
    set isHeld(isHeld) {
      const waiting = held
      held = isHeld ? [] : null
      for (const begin of waiting ?? []) begin()
    },
    forget(by) {
      sessions.clear()
      unknown = by ?? unknown
    },
    of: (method) => server.asked.filter((message) => message.method === method),
    async close() {
      http.closeAllConnections()
      http.close()
      if (http.listening) await once(http, 'close')
    },
  }

  function answer(message: Message, request: IncomingMessage, response: ServerResponse): void {
    const { method, params = {}, id } = message
    server.asked.push({ method, params, headers: request.headers })
    if (server.isSilent) return
    if (request.headers.authorization !== SECRET) return void response.writeHead(401).end()
    if (server.isSessionless) return answerAlone(message, request, response)
    const asked = { id, version: params['protocolVersion'] }
    if (method === 'initialize') return held ? void held.push(() => begin(response, asked)) : begin(response, asked)
    if (!sessions.has(String(request.headers['mcp-session-id']))) {
      return void response.writeHead(unknown.status).end(unknown.body)
    }
    if (method === 'notifications/initialized') return void response.writeHead(202).end()
    if (method === 'tools/list') return say(response, { id, result: pageOf(Number(params['cursor'] ?? 0)) })
    called(response, request, id)
  }

  function answerAlone({ method, params = {}, id }: Message, request: IncomingMessage, response: ServerResponse): void {
    const { headers } = request
    const meta = params['_meta'] as Record<string, unknown> | undefined
    const versions = [meta?.['io.modelcontextprotocol/protocolVersion'], headers['mcp-protocol-version']]
    if (!versions.every((version) => version === SESSIONLESS)) {
      return refuse(response, { id, ...server.refusal })
    }
    const isTold = headers['mcp-method'] === method && headers['mcp-name'] === params['name']
    if (!isTold || headers['mcp-session-id'] !== undefined) {
      return refuse(response, { id, status: 400, error: { code: -32_020, message: 'Header mismatch' } })
    }
    if (method === 'tools/list') return say(response, { id, result: pageOf(Number(params['cursor'] ?? 0)) })
    called(response, request, id)
  }

  function refuse(response: ServerResponse, { status, ...message }: Refused): void {
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  function begin(response: ServerResponse, { id, version }: { id: number | undefined; version: unknown }): void {
    begun += 1
    sessions.add(`s${begun}`)
    response.setHeader('mcp-session-id', `s${begun}`)
    const protocolVersion = server.version ?? version
    say(response, { id, result: { protocolVersion, capabilities: {}, serverInfo: { name: 'x', version: '1' } } })
  }

  function pageOf(from: number) {
    const next = from + server.pageSize
    return {
      tools: server.tools.slice(from, next),
      ...(next < server.tools.length && { nextCursor: String(next) }),
    }
  }

  function called(response: ServerResponse, request: IncomingMessage, id: number | undefined): void {
    const { result } = server
    if (result === 'hang') return
    if (result === 'drip') return void response.setHeader('content-type', 'text/event-stream').write(': soon\n\n')
    if (result === 'reset') return void request.socket.resetAndDestroy()
    if ('status' in result && 'body' in result)
      return saidAsIs(response, result as { status: number; body: string }, id)
    if ('rpcError' in result) return say(response, { id, error: { code: -32_602, message: result.rpcError } })
    say(response, { id, result })
  }

  function say(response: ServerResponse, message: object): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    if (server.as === 'json') return void response.setHeader('content-type', 'application/json').end(text)
    response.setHeader('content-type', 'text/event-stream')
    response.write(': hello\n\nevent: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n')
    response.write(`event: message\nid: 1\ndata: ${text}\n\n`)
    if (server.as === 'events') response.end()
  }

  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  server.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  return server
}

/** `ID` stands for that of the question. */
function saidAsIs(response: ServerResponse, { status, body }: { status: number; body: string }, id?: number): void {
  response.writeHead(status).end(body.replace('"id":ID', `"id":${id}`))
}

/** How a tenant's document names the server, with what it wants to be shown. */
export function mcpDocument(server: McpServerDouble, tools: string[] | null = null) {
  return { type: 'mcp' as const, name: 'orders', url: server.url, headers: { Authorization: SECRET }, tools }
}
