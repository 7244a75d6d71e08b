import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { Clock } from './clock.ts'

const CONNECT_TIMEOUT_MS = 10_000
const MOST_MESSAGE_BYTES = 1024 * 1024

/** The socket of a stream, and the connection under it, which can be cut. */
export type StreamSocket = { ws: WebSocket; connection: Socket }

/** Why a stream could not be opened, with the carrier's error number. */
export class StreamRefused extends Error {
  override name = 'StreamRefused'
  code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** What is asked of the server. */
export type StreamHandshake = { clock: Clock; url: string; headers: Record<string, string>; signal: AbortSignal }

/**
 * Opens a stream's socket within 10 s.
 * @throws StreamRefused 31901 too slow, 31902 no connection, 31910 TLS, 31920 an answer other than 101
 */
export function openStreamSocket({ clock, url, headers, signal }: StreamHandshake): Promise<StreamSocket> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(url, { headers, perMessageDeflate: false, maxPayload: MOST_MESSAGE_BYTES })
    let connection: Socket | undefined
    const fail = (refused: StreamRefused) => {
      settle()
      ws.terminate()
      reject(refused)
    }
    const abort = () => fail(new StreamRefused(31921, 'the call ended before the stream began'))
    const cancel = clock.after(CONNECT_TIMEOUT_MS, () => fail(new StreamRefused(31901, 'no answer in time')))
    const settle = () => {
      cancel()
      signal.removeEventListener('abort', abort)
    }
    signal.addEventListener('abort', abort, { once: true })
    // It stays for the socket's life: an error without a listener would end the process, and `close` tells the rest.
    ws.on('error', (error: NodeJS.ErrnoException) => fail(new StreamRefused(codeOf(error), error.message)))
    ws.on('unexpected-response', (_request, response) => {
      response.resume()
      fail(new StreamRefused(31920, `the server answered ${response.statusCode ?? 0} where 101 was due`))
    })
    ws.on('upgrade', (response) => {
      connection = response.socket
    })
    ws.on('open', () => {
      settle()
      if (connection) resolve({ ws, connection })
    })
    if (signal.aborted) abort()
  })
}

function codeOf(error: NodeJS.ErrnoException): number {
  const code = error.code ?? ''
  if (/TLS|CERT|SSL|EPROTO|SELF_SIGNED|UNABLE_TO/.test(code)) return 31910
  return /^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT)/.test(code) ? 31902 : 31924
}
