import { isJsonObject } from '../../kernel/json-object.ts'
import type { OutboundAnswer } from '../../platform/outbound/exchange.ts'

/** A server of the Model Context Protocol did not do what it was asked; the message is a sentence for the tenant. */
export class McpFault extends Error {
  override readonly name = 'McpFault'
}

/** What a server says to one request, as JSON-RPC has it. */
export type RpcAnswer = { result: Record<string, unknown> } | { error: { code: number; message: string } }

const MAX_TOLD_CHARS = 500
/** Of one answer: to read what a server can put into its bytes takes half a second in which no call is heard. */
const MAX_EVENTS = 1_000

/**
 * Finds the answer to a request in what a server sent: one message, or a stream of events in which it is one among others.
 *
 * @throws McpFault when it is not there.
 */
export function answerIn({ status, headers, body, isWhole, isTooLong }: OutboundAnswer, id: number): RpcAnswer {
  if (status < 200 || status > 299) throw new McpFault(`The server answered ${status}.`)
  const text = body.toString()
  const events = isStream(headers) ? eventTexts(text) : null
  const found = events ? messagesIn(events).find((message) => isFor(message, id)) : parsed(text)
  if (isFor(found, id)) return readAnswer(found)
  if (events?.length === MAX_EVENTS)
    throw new McpFault(
      `No answer is among the first ${MAX_EVENTS} messages of the server. It is not known whether it was done.`,
    )
  if (isWhole) throw new McpFault('The server sent no answer of the protocol.')
  throw new McpFault(
    isTooLong ? 'The answer of the server is too long.' : 'The answer of the server did not come to its end.',
  )
}

/**
 * Whether a server does not know the session of what it was sent, and so has done nothing: 404, or, as many answer who were made after
 * the examples of the official kit, 400 with an error about it that is no answer to the request.
 */
export function isSessionUnknown({ status, body }: OutboundAnswer): boolean {
  if (status !== 400) return status === 404
  const told = parsed(body.toString())
  const error = isJsonObject(told) && typeof told['id'] !== 'number' ? told['error'] : null
  return isJsonObject(error) && typeof error['message'] === 'string' && /session/i.test(error['message'])
}

/**
 * Watches a stream of events for the answer to a request. To be given its pieces one by one; true once the answer was in them, or as
 * many events as are looked at: what a server sends behind that is not waited for. Each byte is read once, however small the pieces are.
 */
export function watchFor(id: number): (piece: Buffer) => boolean {
  let event: Buffer[] = []
  let hasLine = false
  let events = 0
  return (piece) => {
    let [eventAt, lineAt] = [0, 0]
    for (let at = piece.indexOf(LINE_FEED); at !== -1; at = piece.indexOf(LINE_FEED, lineAt)) {
      const endsEvent = !hasLine && isBlank(piece.subarray(lineAt, at))
      lineAt = at + 1
      hasLine = false
      if (!endsEvent) continue
      event.push(piece.subarray(eventAt, lineAt))
      const text = Buffer.concat(event).toString()
      if (messagesIn([text]).some((message) => isFor(message, id))) return true
      events += 1
      if (events >= MAX_EVENTS) return true
      event = []
      eventAt = lineAt
    }
    hasLine ||= !isBlank(piece.subarray(lineAt))
    event.push(piece.subarray(eventAt))
    return false
  }
}

/** An event ends with an empty line. */
function isBlank(line: Buffer): boolean {
  return line.length === 0 || (line.length === 1 && line[0] === CARRIAGE_RETURN)
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13

function isStream(headers: OutboundAnswer['headers']): boolean {
  const type = headers['content-type']
  return typeof type === 'string' && type.startsWith('text/event-stream')
}

/** The first events of a stream. */
function eventTexts(text: string): string[] {
  return text.split(/\r?\n\r?\n/, MAX_EVENTS)
}

/** The messages of events, in order; what is none is left out. */
function messagesIn(events: string[]): unknown[] {
  return events.flatMap((event) => {
    const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'))
    const message = lines.length === 0 ? null : parsed(lines.map((line) => line.slice(5)).join('\n'))
    return message === null ? [] : [message]
  })
}

/** What a text holds as JSON; null when it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

type Message = { id: number; result?: unknown; error?: unknown }

function isFor(message: unknown, id: number): message is Message {
  if (!isJsonObject(message)) return false
  return message['id'] === id && ('result' in message || 'error' in message)
}

function readAnswer({ result, error }: Message): RpcAnswer {
  if (isJsonObject(result)) return { result }
  const { code, message } = isJsonObject(error) ? error : { code: 0, message: '' }
  const told = typeof message === 'string' && message !== '' ? message : 'The server refused without a reason.'
  return { error: { code: typeof code === 'number' ? code : 0, message: told.slice(0, MAX_TOLD_CHARS).toWellFormed() } }
}
