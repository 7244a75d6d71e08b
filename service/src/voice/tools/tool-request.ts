import type { OutboundRequest } from '../../platform/outbound/exchange.ts'
import type { RuntimeTool } from '../../tenancy/tenant-runtime.ts'
import { fillPlaceholders, placeholdersIn } from '../../tenancy/tool-placeholders.ts'
import { type CallFacts, ToolRefusal } from './tool.ts'

export type RuntimeHttpTool = Extract<RuntimeTool, { type: 'http' }>

/** What is asked of the address of a tenant's tool. */
export type ToolRequest = {
  method: OutboundRequest['method']
  url: string
  headers: Record<string, string>
  body?: string
}

const MAX_URL_CHARS = 8_000
/** Of all that is filled into the headers: servers take some 16,000 of all headers, and fewer. */
const MAX_HEADERS_CHARS = 64_000
const MAX_KEY_CHARS = 255
const HEADER_VALUE = /^[\t\x20-\x7e]*$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: a value with one of them would begin another header.
const NO_LINE = /[\x00-\x08\x0a-\x1f\x7f]/
/** What is percent-encoded of a value that a header cannot hold, the sign of that among it. */
const NOT_IN_HEADER = /[^\t\x20-\x24\x26-\x7e]/gu
/** Parts of a path that an address swallows with the part before it, however they are spelled. */
const DOTS = /^(?:\.|%2e){1,2}$/i

/**
 * Writes the request of a tool: `{{…}}` in its address and headers filled in, and what of the arguments these do not name as the
 * body, or in the query where a method has none.
 *
 * What is filled in never leaves its place: in the address it is percent-encoded, and may be neither nothing nor a step up in the
 * path; in a header it must be on one line, and with a character beyond ASCII in it, it is percent-encoded: servers do not agree on
 * what else bytes mean there.
 *
 * @throws ToolRefusal for a value that cannot stand where it is wanted.
 */
export function requestOf(tool: RuntimeHttpTool, args: Record<string, unknown>, call: CallFacts): ToolRequest {
  const values = new Map<string, unknown>([...Object.entries(args), ...Object.entries(factsOf(call))])
  const named = new Set([tool.url, ...Object.values(tool.headers)].flatMap(placeholdersIn))
  const rest = Object.fromEntries(Object.entries(args).filter(([name]) => !named.has(name)))
  const { method } = tool
  const hasBody = method === 'POST' || method === 'PUT' || method === 'PATCH'
  const filled = filledUrl(tool.url, values)
  const url = hasBody ? filled : withQuery(filled, rest)
  if (url.length > MAX_URL_CHARS) throw tooLong('an address')
  const own = filledHeaders(tool.headers, values)
  const body = hasBody ? JSON.stringify(rest) : undefined
  return { method, url, headers: { ...ourHeaders(own, { call, body }), ...own }, ...(body !== undefined && { body }) }
}

/** What the service says of itself and of the call; a header that the tool sets is the tool's. */
function ourHeaders(own: Record<string, string>, { call, body }: { call: CallFacts; body: string | undefined }) {
  const ours: Record<string, string> = {
    accept: 'application/json, text/*;q=0.8, */*;q=0.1',
    'user-agent': 'Parley-Tools/1',
    'idempotency-key': keyOf(call),
    'parley-call-sid': encodeURIComponent(call.callSid),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const taken = new Set(Object.keys(own).map((name) => name.toLowerCase()))
  const sent = Object.fromEntries(Object.entries(ours).filter(([name]) => !taken.has(name)))
  return body === undefined ? sent : { ...sent, 'content-length': String(Buffer.byteLength(body)) }
}

/** One call of a tool is one key, however often it is asked; call ids are the model's, and need not differ between sessions. */
function keyOf({ sessionId, callId = '' }: CallFacts): string {
  return `${sessionId}.${encodeURIComponent(callId.toWellFormed())}`.slice(0, MAX_KEY_CHARS)
}

function factsOf({ customerPhone, callSid, sessionId, tenant, agentName }: CallFacts) {
  return {
    'call.caller': customerPhone,
    'call.call_sid': callSid,
    'call.session_id': sessionId,
    'call.tenant': tenant.tenant_id,
    'call.agent_name': agentName,
  }
}

function filledUrl(template: string, values: Map<string, unknown>): string {
  const query = template.indexOf('?')
  const path = query < 0 ? template : template.slice(0, query)
  const inAddress = (name: string) => encoded(textOf(values.get(name)))
  const inPath = (name: string) => {
    const value = inAddress(name)
    if (value === '') throw new ToolRefusal(`${name} must not be empty`)
    return value
  }
  const limits = { maxChars: MAX_URL_CHARS, where: 'an address' }
  const filledPath = fillPlaceholders(path, within(limits, inPath))
  const isStep = filledPath.split('/').some((part) => DOTS.test(part))
  if (isStep && filledPath !== path) throw new ToolRefusal('the arguments do not make an address')
  const filledQuery = query < 0 ? '' : fillPlaceholders(template.slice(query), within(limits, inAddress))
  return filledPath + filledQuery
}

function withQuery(url: string, args: Record<string, unknown>): string {
  const pairs = Object.entries(args).map(([name, value]) => `${encoded(name)}=${encoded(textOf(value))}`)
  if (pairs.length === 0) return url
  const [address = '', fragment] = url.split('#', 2)
  const joint = address.includes('?') ? '&' : '?'
  return `${address}${joint}${pairs.join('&')}${fragment === undefined ? '' : `#${fragment}`}`
}

function filledHeaders(headers: Record<string, string>, values: Map<string, unknown>): Record<string, string> {
  const inHeader = within({ maxChars: MAX_HEADERS_CHARS, where: 'a header' }, (name) => {
    const value = textOf(values.get(name))
    if (NO_LINE.test(value)) throw new ToolRefusal(`${name} has characters that cannot be sent`)
    return HEADER_VALUE.test(value) ? value : value.toWellFormed().replaceAll(NOT_IN_HEADER, encodeURIComponent)
  })
  const filled = Object.entries(headers).map(([header, template]) => [header, fillPlaceholders(template, inHeader)])
  return Object.fromEntries(filled) as Record<string, string>
}

/** Each value is written once, however often it is named, and no more is made of all of them than can be sent. */
function within(
  { maxChars, where }: { maxChars: number; where: string },
  textFor: (name: string) => string,
): (name: string) => string {
  const known = new Map<string, string>()
  let leftChars = maxChars
  return (name) => {
    const text = known.get(name) ?? textFor(name)
    known.set(name, text)
    leftChars -= text.length
    if (leftChars < 0) throw tooLong(where)
    return text
  }
}

function tooLong(where: string): ToolRefusal {
  return new ToolRefusal(`the arguments are too long for ${where}`)
}

/** What was not given is nothing; an object or a list is written as JSON. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
