import { request as askHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as askHttps, type RequestOptions } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Destination } from './destination.ts'
import { OutboundFault } from './fault.ts'

/** What is asked of an address. */
export type OutboundRequest = {
  url: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers: Record<string, string>
  body?: string
  /** For all of it, names and answer included. */
  timeoutMs: number
  /** More of an answer is not read. */
  maxAnswerBytes: number
  /** Given each piece of an answer that comes as events, once: as soon as it says so, the rest is not waited for. */
  isEnough?: (piece: Buffer) => boolean
  /** Gives up when it is aborted. */
  signal?: AbortSignal
}

/**
 * What it said. `isWhole` is false where the answer was longer than asked for, which `isTooLong` tells, or was too slow or broke off
 * after its head.
 */
export type OutboundAnswer = {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
  isWhole: boolean
  isTooLong: boolean
}

/** Servers say once or twice before their answer that it will come (1xx); each costs as much to read as an answer. */
const MAX_PROMISES = 20

type Exchange = { request: OutboundRequest; ca: string | undefined; signal: AbortSignal }

/**
 * Makes one request over a connection of its own, to the addresses that were checked; resolves with the head of the answer.
 * The connection ends with the signal, or once `readAnswer` is done. @throws OutboundFault
 */
export function askFor({ url, addresses }: Destination, { request, ca, signal }: Exchange): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const host = url.hostname.replace(/\.$/, '')
  const options: RequestOptions = {
    ...{ method: request.method, headers: request.headers, signal },
    // Of its own: a connection that is kept could be to another address.
    agent: false,
    lookup: pinnedTo(addresses),
    ...(isIP(host.replace(/^\[|\]$/g, '')) === 0 && { servername: host }),
    ...(ca !== undefined && { ca }),
  }
  const asked: ClientRequest = url.protocol === 'https:' ? askHttps(url, options) : askHttp(url, options)
  asked.on('error', (error) => reject(faultOf(error)))
  asked.on('close', () => reject(new OutboundFault('connection', 'The connection ended without an answer.')))
  asked.on('response', (response) => {
    endWhenBroken(response)
    resolve(response)
  })
  let promises = 0
  asked.on('information', () => {
    promises += 1
    if (promises <= MAX_PROMISES) return
    reject(new OutboundFault('connection', 'The address only says that it will answer, over and over.'))
    asked.destroy()
  })
  asked.end(request.body)
  return promise
}

/**
 * Node takes whatever ends a connection for the end of a body whose length was not told: the end of our time too, and a connection that
 * breaks. Only that the server has closed it tells that all of it is there.
 */
function endWhenBroken(response: IncomingMessage): void {
  // Before Node hears of it.
  response.socket.prependOnceListener('error', (error) => {
    if (!response.complete) response.destroy(error)
  })
}

/** Whatever name is looked up: the addresses of the destination. */
function pinnedTo(addresses: string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, options, done) => {
    const [first] = all
    if (options.all || !first) done(null, all)
    else done(null, first.address, first.family)
  }
}

type Reading = Pick<OutboundRequest, 'maxAnswerBytes' | 'isEnough'>

/** Reads the rest of an answer, as far as it is wanted. Never rejects: its head has said what there is to know. */
export async function readAnswer(response: IncomingMessage, reading: Reading): Promise<OutboundAnswer> {
  const { statusCode: status = 0, headers } = response
  const isEnough = headers['content-type']?.startsWith('text/event-stream') ? reading.isEnough : undefined
  const chunks: Buffer[] = []
  let left = reading.maxAnswerBytes
  const answer = (isWhole: boolean) => {
    return { status, headers, body: Buffer.concat(chunks), isWhole, isTooLong: left < 0 }
  }
  try {
    // Ending the loop early ends the connection too.
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, left))
      left -= chunk.length
      if (left < 0) return answer(false)
      if (isEnough?.(chunk)) return answer(true)
    }
    return answer(response.complete)
  } catch {
    return answer(false)
  }
}

const TLS_CODE = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO|HOSTNAME_MISMATCH|INVALID_CA)/

function faultOf(error: Error): OutboundFault {
  const code = 'code' in error ? String(error.code) : ''
  if (error.name === 'AbortError') return new OutboundFault('stopped', 'The request was given up.', { cause: error })
  if (TLS_CODE.test(code)) {
    return new OutboundFault('tls', `There is no safe connection to the address (${code}).`, { cause: error })
  }
  const shown = /^[A-Z_]{1,40}$/.test(code) ? ` (${code})` : ''
  return new OutboundFault('connection', `The address did not answer${shown}.`, { cause: error })
}
