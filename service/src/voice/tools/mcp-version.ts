import { isJsonObject } from '../../kernel/json-object.ts'
import type { OutboundAnswer } from '../../platform/outbound/exchange.ts'
import { McpFault, parsed } from './mcp-message.ts'

/** One message to a server. */
export type McpMessage = { method: string; params?: Record<string, unknown> }

/** The version in which a session is asked for: in the next one a server may end an answer before it has come, to be asked for its rest. */
export const ASKED_VERSION = '2025-06-18'
/** What of those that begin a session is spoken all the same where a server answers with it. */
const TAKEN_VERSIONS = ['2025-11-25', ASKED_VERSION, '2025-03-26', '2024-11-05']
/** In which there are no sessions: each request says in which version it is and from whom, and its headers what it is. */
export const SESSIONLESS_VERSION = '2026-07-28'

const UNSUPPORTED_VERSION = -32_022
/** To one that asks for a session: there is no such thing, or a header is missing that only requests without one have. */
const NO_SESSIONS = new Set<unknown>([-32_601, -32_020])
const REFUSED = [200, 400, 404]
const OF_VERSION = /protocol version/i
const PREFIX = 'io.modelcontextprotocol'
/** Text that goes into a header as it is. */
const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/
const ENCODED = /^=\?base64\?.*\?=$/

/** The version in which a server begins a session. @throws McpFault when it is none that we speak. */
export function takenVersion(version: unknown): string {
  const taken = TAKEN_VERSIONS.find((one) => one === version)
  if (taken === undefined) throw new McpFault('The server speaks no version of the protocol that this service does.')
  return taken
}

/** Whether a server that was asked to begin a session begins none: it knows the version alone in which there are none. */
export function isSessionless(answer: OutboundAnswer): boolean {
  const { code, data } = (REFUSED.includes(answer.status) && refusalIn(answer)?.error) || {}
  if (code !== UNSUPPORTED_VERSION || !isJsonObject(data)) return NO_SESSIONS.has(code)
  const { supported } = data
  return Array.isArray(supported) && supported.includes(SESSIONLESS_VERSION)
}

/**
 * Whether a server does not speak the version of what it was sent any more, and so has done nothing. Before there was a code for that
 * they said so in words alone, in an error that is no answer to the request.
 */
export function isOfOtherVersion(answer: OutboundAnswer): boolean {
  const { id, error = {} } = (answer.status === 400 && refusalIn(answer)) || {}
  const { code, message } = error
  return (
    code === UNSUPPORTED_VERSION || (typeof id !== 'number' && typeof message === 'string' && OF_VERSION.test(message))
  )
}

function refusalIn({ body }: OutboundAnswer): { id: unknown; error: Record<string, unknown> } | null {
  const told = parsed(body.toString())
  return isJsonObject(told) && isJsonObject(told['error']) ? { id: told['id'], error: told['error'] } : null
}

/** What a request without a session tells of itself. */
export function sessionlessMeta(clientInfo: { name: string; version: string }): Record<string, unknown> {
  return {
    [`${PREFIX}/protocolVersion`]: SESSIONLESS_VERSION,
    [`${PREFIX}/clientInfo`]: clientInfo,
    [`${PREFIX}/clientCapabilities`]: {},
  }
}

/** What its headers tell of it, without which servers refuse it. */
export function sessionlessHeaders({ method, params }: McpMessage): Record<string, string> {
  const name = params?.['name']
  return { 'mcp-method': method, ...(typeof name === 'string' && { 'mcp-name': headerText(name) }) }
}

function headerText(text: string): string {
  if (PLAIN.test(text) && !ENCODED.test(text)) return text
  return `=?base64?${Buffer.from(text).toString('base64')}?=`
}
