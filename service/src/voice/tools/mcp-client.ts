import { isJsonObject } from '../../kernel/json-object.ts'
import type { OutboundAnswer } from '../../platform/outbound/exchange.ts'
import { OutboundFault } from '../../platform/outbound/fault.ts'
import type { RuntimeTool } from '../../tenancy/tenant-runtime.ts'
import { shown } from './asking-tool.ts'
import type { AskDeps } from './http-tool.ts'
import { answerIn, isSessionUnknown, McpFault, type RpcAnswer, watchFor } from './mcp-message.ts'
import {
  ASKED_VERSION,
  isOfOtherVersion,
  isSessionless,
  type McpMessage,
  SESSIONLESS_VERSION,
  sessionlessHeaders,
  sessionlessMeta,
  takenVersion,
} from './mcp-version.ts'
import type { ToolRequest } from './tool-request.ts'

export type RuntimeMcpServer = Extract<RuntimeTool, { type: 'mcp' }>

/** A tool as its server describes it. */
export type McpListed = { name: string; description: string; inputSchema: Record<string, unknown> }

/** What became of a call of a tool: what was asked (without what is secret of it), what came, and what it said. */
export type McpCalled = {
  request: ToolRequest
  heard: OutboundAnswer | OutboundFault
  answer: RpcAnswer | McpFault | null
}

/** A server that offers tools over the Model Context Protocol, spoken to over streamable HTTP. It connects when it is first asked. */
export type McpClient = {
  /** All its tools, 500 at most. @throws McpFault or OutboundFault. */
  list(signal: AbortSignal): Promise<McpListed[]>
  /** Calls one of them, once. A session that the server has forgotten, or takes in another version, is begun anew: nothing was done in it. */
  call(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<McpCalled>
}

/** Of one request. */
export const STEP_TIMEOUT_MS = 10_000
const MAX_MESSAGE_BYTES = 262_144
const MAX_PAGES = 10
const MAX_LISTED = 500
const SESSION_HEADER = 'mcp-session-id'

type Session = { id: string | null; version: string }
type Heard = { request: ToolRequest; heard: OutboundAnswer; id: number }

type Deps = Pick<AskDeps, 'ask'> & {
  version: string
  /** Gives up what is on its way for all. */
  stopping: AbortSignal
}

export function makeMcpClient({ ask, version, stopping }: Deps, server: RuntimeMcpServer): McpClient {
  const clientInfo = { name: 'parley', version }
  let session: Promise<Session> | null = null
  let lastId = 0

  /** One message; `id` is null for one that is not answered. @throws OutboundFault */
  async function send(
    message: McpMessage,
    { open, signal }: { open: Session | null; signal: AbortSignal },
    id: number,
  ) {
    const request = requestOf(server, message, open)
    const heard = await ask({
      ...request,
      ...{ timeoutMs: STEP_TIMEOUT_MS, maxAnswerBytes: MAX_MESSAGE_BYTES, signal },
      isEnough: watchFor(id),
    })
    return { request, heard, id }
  }

  function question(
    method: string,
    params: Record<string, unknown>,
    how: { open: Session | null; signal: AbortSignal },
  ): Promise<Heard> {
    lastId += 1
    const whole = hasNone(how.open) ? { ...params, _meta: sessionlessMeta(clientInfo) } : params
    return send(rpc({ method, params: whole }, lastId), how, lastId)
  }

  /** @throws McpFault or OutboundFault. */
  async function begin(): Promise<Session> {
    const signal = stopping
    const params = { protocolVersion: ASKED_VERSION, capabilities: {}, clientInfo }
    const { heard, id } = await question('initialize', params, { open: null, signal })
    if (isSessionless(heard)) return { id: null, version: SESSIONLESS_VERSION }
    const { protocolVersion } = resultOf(answerIn(heard, id))
    const taken = takenVersion(protocolVersion)
    const sessionId = heard.headers[SESSION_HEADER]
    const open = { id: typeof sessionId === 'string' ? sessionId : null, version: taken }
    await send(rpc({ method: 'notifications/initialized' }), { open, signal }, NO_ID)
    return open
  }

  /** Of those who want one at the same time the first begins it, for all: that one's hanging up ends only its own wait. */
  function opened(): Promise<Session> {
    const known = session
    if (known) return known
    const beginning: Promise<Session> = begin().catch((error: unknown) => {
      if (session === beginning) session = null
      throw error
    })
    session = beginning
    return beginning
  }

  async function inSession(method: string, params: Record<string, unknown>, signal: AbortSignal): Promise<Heard> {
    const asking = opened()
    const open = await waitedFor(asking, signal)
    const first = await question(method, params, { open, signal })
    if (!isOutdated(first.heard, open)) return first
    if (session === asking) session = null
    return question(method, params, { open: await waitedFor(opened(), signal), signal })
  }

  return {
    async list(signal) {
      const tools: McpListed[] = []
      let cursor: string | null = null
      for (let page = 0; page < MAX_PAGES && tools.length < MAX_LISTED; page += 1) {
        const asking = opened()
        const { heard, id } = await inSession('tools/list', cursor === null ? {} : { cursor }, signal)
        // What it does not take may be the session: the next list is asked for in another.
        if ((heard.status === 400 || heard.status === 404) && session === asking) session = null
        const result = resultOf(answerIn(heard, id))
        tools.push(...(Array.isArray(result['tools']) ? result['tools'].flatMap(listedIn) : []))
        const { nextCursor } = result
        if (typeof nextCursor !== 'string') break
        cursor = nextCursor
      }
      return tools.slice(0, MAX_LISTED)
    },
    async call(name, args, signal) {
      const params = { name, arguments: args }
      const asked = requestOf(server, rpc({ method: 'tools/call', params }, lastId + 1), null)
      try {
        const { request, heard, id } = await inSession('tools/call', params, signal)
        return { request: shown(request, server.headers), heard, answer: readOrFault(heard, id) }
      } catch (error) {
        const request = shown(asked, server.headers)
        if (error instanceof OutboundFault) return { request, heard: error, answer: null }
        if (!(error instanceof McpFault)) throw error
        return { request, heard: new OutboundFault('connection', error.message), answer: error }
      }
    },
  }
}

/** What others wait for, too. @throws OutboundFault when the signal says so first. */
async function waitedFor<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>()
  const stop = () => reject(new OutboundFault('stopped', 'The request was given up.'))
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  return Promise.race([work, over]).finally(() => signal.removeEventListener('abort', stop))
}

/** What a notification is sent by: no answer has it. */
const NO_ID = 0

function rpc(message: McpMessage, id?: number): McpMessage & { jsonrpc: string; id?: number } {
  return { jsonrpc: '2.0', ...(id !== undefined && { id }), ...message }
}

/** Whether a server has forgotten the session, or was exchanged for one that begins them otherwise, and so has done nothing. */
function isOutdated(heard: OutboundAnswer, open: Session): boolean {
  return isOfOtherVersion(heard) || (isSessionUnknown(heard) && (open.id !== null || hasNone(open)))
}

function hasNone(open: Session | null): boolean {
  return open?.version === SESSIONLESS_VERSION
}

function requestOf({ url, headers }: RuntimeMcpServer, message: McpMessage, open: Session | null): ToolRequest {
  const body = JSON.stringify(message)
  const ours = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    accept: 'application/json, text/event-stream',
    'user-agent': 'Parley-Tools/1',
    ...(open && { 'mcp-protocol-version': open.version }),
    ...(hasNone(open) && sessionlessHeaders(message)),
    ...(open?.id && { [SESSION_HEADER]: open.id }),
  }
  const taken = new Set(Object.keys(ours))
  const own = Object.entries(headers).filter(([name]) => !taken.has(name.toLowerCase()))
  return { method: 'POST', url, headers: { ...ours, ...Object.fromEntries(own) }, body }
}

/** @throws McpFault for an error. */
function resultOf(answer: RpcAnswer): Record<string, unknown> {
  if ('error' in answer) throw new McpFault(`The server refused: ${answer.error.message}`)
  return answer.result
}

function readOrFault(heard: OutboundAnswer, id: number): RpcAnswer | McpFault {
  try {
    return answerIn(heard, id)
  } catch (error) {
    if (error instanceof McpFault) return error
    throw error
  }
}

/** One that has no name or no schema of an object is no tool that can be called. */
function listedIn(given: unknown): McpListed[] {
  if (!isJsonObject(given)) return []
  const { name, description, inputSchema } = given
  if (typeof name !== 'string' || name === '' || name.length > 128 || !isJsonObject(inputSchema)) return []
  return [{ name, description: typeof description === 'string' ? description : '', inputSchema }]
}
