import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { Clock } from './clock.ts'

/** An answer, read to its end. `location` is where it redirects to; empty without one. */
export type HttpReply = { status: number; contentType: string; location: string; body: Uint8Array }

/** Why there is no answer: no connection, none in time, one that broke off, one that is too long, or nothing but redirects. */
export class HttpFailure extends Error {
  override name = 'HttpFailure'
  reason: 'connect' | 'read' | 'too-long' | 'redirects' | 'aborted'
  constructor(reason: HttpFailure['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/** One request. `mostBytes` bounds the answer's body. */
export type HttpExchange = {
  url: URL
  method: string
  headers: Record<string, string>
  body: string
  connectTimeoutMs: number
  readTimeoutMs: number
  mostBytes: number
  signal: AbortSignal
}

/**
 * Sends one request on a connection of its own and reads the answer; redirects are not followed.
 * @throws HttpFailure
 */
export function exchange(clock: Clock, options: HttpExchange): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    const send = options.url.protocol === 'https:' ? tlsRequest : plainRequest
    const request = send(options.url, { method: options.method, headers: options.headers, agent: false })
    let connected = false
    const fail = (reason: HttpFailure['reason'], message: string) => {
      settle()
      request.destroy()
      reject(new HttpFailure(reason, message))
    }
    const abort = () => fail('aborted', 'the call went on without it')
    const timers = [
      clock.after(options.connectTimeoutMs, () => connected || fail('connect', 'no connection in time')),
      clock.after(options.readTimeoutMs, () => fail(connected ? 'read' : 'connect', 'no answer in time')),
    ]
    const settle = () => {
      for (const cancel of timers) cancel()
      options.signal.removeEventListener('abort', abort)
    }
    options.signal.addEventListener('abort', abort, { once: true })
    request.on('error', (error: Error) => fail(connected ? 'read' : 'connect', error.message))
    onConnected(request, () => {
      connected = true
    })
    request.on('response', (response) => {
      readBody(response, options.mostBytes).then(
        (body) => {
          settle()
          const { 'content-type': contentType = '', location = '' } = response.headers
          resolve({ status: response.statusCode ?? 0, contentType, location, body })
        },
        (error: HttpFailure) => fail(error.reason, error.message),
      )
    })
    if (options.signal.aborted) abort()
    else request.end(options.body)
  })
}

function onConnected(request: ClientRequest, run: () => void): void {
  request.on('socket', (socket) => {
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', run)
  })
}

async function readBody(response: IncomingMessage, mostBytes: number): Promise<Uint8Array> {
  const parts: Buffer[] = []
  let sizeBytes = 0
  try {
    for await (const part of response) {
      if (!Buffer.isBuffer(part)) continue
      sizeBytes += part.length
      if (sizeBytes > mostBytes) throw new HttpFailure('too-long', `the answer is over ${mostBytes} bytes`)
      parts.push(part)
    }
  } catch (error) {
    if (error instanceof HttpFailure) throw error
    throw new HttpFailure('read', 'the answer broke off')
  }
  return Buffer.concat(parts)
}
