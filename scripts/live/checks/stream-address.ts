import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { streamAddress } from '../addresses.ts'
import type { Check } from '../check.ts'
import { Trouble } from '../faults.ts'
import { timed } from '../timed.ts'

/** The service's own code for a stream without a token: nobody in between would close with it. */
const NO_TOKEN = 4401

/** How a connection attempt ended. */
type Ending = { kind: 'refused'; status: number } | { kind: 'closed'; openMs: number; code: number }

/**
 * Whether a WebSocket gets through the public address: opens one as the carrier does, sends the start of a stream that
 * has no token, and waits for the service to close it for that.
 */
export const streamAddressCheck: Check = {
  name: 'stream address',
  needs: ['public address'],
  limitMs: 12_000,
  async run({ publicUrl }, signal) {
    const url = streamAddress(publicUrl)
    const ending = await attempt(url, signal)
    if (ending.kind === 'refused') throw refused(url, ending.status)
    if (ending.code !== NO_TOKEN) throw cutOff(url, ending.code)
    return { state: 'ok', found: `${url} opens in ${ending.openMs} ms, and is closed without a token.` }
  },
}

async function attempt(url: string, signal: AbortSignal): Promise<Ending> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  const abort = () => socket.terminate()
  signal.addEventListener('abort', abort, { once: true })
  try {
    const { value, ms } = await timed(opened(socket))
    if (value !== null) return { kind: 'refused', status: value.statusCode ?? 0 }
    const code = closed(socket)
    for (const frame of START) socket.send(JSON.stringify(frame))
    return { kind: 'closed', openMs: ms, code: await code }
  } finally {
    signal.removeEventListener('abort', abort)
    socket.terminate()
  }
}

/** Null when it is open, else the answer that came in place of 101. */
function opened(socket: WebSocket): Promise<IncomingMessage | null> {
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(null))
    socket.once('unexpected-response', (_request, response: IncomingMessage) => resolve(response))
    // Stays: an error without a listener would end the process.
    socket.on('error', reject)
  })
}

function closed(socket: WebSocket): Promise<number> {
  return new Promise((resolve) => socket.once('close', resolve))
}

const STREAM_SID = `MZ${'0'.repeat(32)}`

/** The first two frames of a carrier. */
const START = [
  { event: 'connected', protocol: 'Call', version: '1.0.0' },
  {
    event: 'start',
    sequenceNumber: '1',
    streamSid: STREAM_SID,
    start: {
      accountSid: `AC${'0'.repeat(32)}`,
      streamSid: STREAM_SID,
      callSid: `CA${'0'.repeat(32)}`,
      tracks: ['inbound'],
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
      customParameters: {},
    },
  },
]

const NO_UPGRADE =
  'The proxy does not pass the upgrade on: let it send the headers Upgrade and Connection, over HTTP/1.1 (docs/going-live.md has the lines).'

const REFUSALS: Record<number, string> = {
  200: NO_UPGRADE,
  400: NO_UPGRADE,
  426: NO_UPGRADE,
  404: 'The proxy leads /media-stream somewhere else, or this version of the service is older.',
  429: 'To the service all callers seem to come from the proxy: set TRUST_PROXY, so that they are counted apart.',
}
function refused(url: string, status: number): Trouble {
  const todo = REFUSALS[status] ?? 'See the log of the tunnel or proxy, then that of the service.'
  return new Trouble(`${url} answers ${status}, not 101.`, todo)
}

function cutOff(url: string, code: number): Trouble {
  return new Trouble(
    `${url} opens and is closed with ${code}, not ${NO_TOKEN}: what answers is not the service, or something cuts the connection.`,
    'See that the tunnel or proxy leads /media-stream to the service and leaves open connections alone.',
  )
}
