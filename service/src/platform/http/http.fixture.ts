import { connect } from 'node:net'
import { onTestFinished } from 'vitest'
import { until } from '../../../test/harness/wait.ts'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import { CoarseClock } from '../../kernel/coarse-clock.ts'
import { type Log, makeLog } from '../log.ts'
import type { HttpLimits } from './limits.ts'
import { makeMetrics } from './metrics.ts'
import type { RateLimits } from './rate-limits.ts'
import { buildServer, type HttpServer, stopServer } from './server.ts'
import type { TrustProxy } from './trust.ts'

type Options = {
  limits?: Partial<HttpLimits>
  trustProxy?: TrustProxy
  secrets?: string[]
  rateLimits?: RateLimits
  clock?: Clock
}

export type LogLine = Record<string, unknown> & { level: string; msg: string }

/** A server of a test: it logs into memory, and is stopped when the test ends. */
export type TestServer = {
  server: HttpServer
  log: Log
  /** What was logged, as it was written. */
  logText(): string
  logLines(): LogLine[]
  metricsText(): Promise<string>
}

export function testServer({
  limits,
  trustProxy = false,
  secrets = [],
  rateLimits,
  clock = systemClock,
}: Options = {}): TestServer {
  const lines: string[] = []
  const log = makeLog({ level: 'debug', secrets, destination: { write: (line) => lines.push(line) } })
  const metrics = makeMetrics(new CoarseClock(systemClock))
  const own = { ...(limits && { limits }), ...(rateLimits && { rateLimits }) }
  const server = buildServer({ log, clock, metrics, trustProxy, ...own })
  onTestFinished(async () => {
    await stopServer(server, 0)
    metrics.stop()
  })
  return {
    server,
    log,
    logText: () => lines.join(''),
    logLines: () => lines.map((line) => JSON.parse(line) as LogLine),
    metricsText: () => metrics.text(),
  }
}

/** Listens on a free port of the loopback address, which it returns. */
export async function listen(server: HttpServer): Promise<number> {
  return Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port)
}

/** How many connections are open. */
export function connectionsOf({ server }: HttpServer): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}

export type RawAnswer = { status: number; headers: Record<string, string>; body: string }

/** A connection whose bytes the test writes itself. */
export class RawConnection {
  readonly #socket
  #received = ''
  #closed = false

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1' })
    this.#socket.setEncoding('utf8')
    this.#socket.on('data', (text: string) => {
      this.#received += text
    })
    this.#socket.on('close', () => {
      this.#closed = true
    })
    // A reset is one of the ways in which a server may end a connection.
    this.#socket.on('error', () => {})
    onTestFinished(() => void this.#socket.destroy())
  }

  get received(): string {
    return this.#received
  }

  get isClosed(): boolean {
    return this.#closed
  }

  write(text: string): this {
    this.#socket.write(text)
    return this
  }

  /** Reads nothing. */
  deaf(): this {
    this.#socket.pause()
    return this
  }

  destroy(): void {
    this.#socket.destroy()
  }

  async opened(): Promise<this> {
    await until(() => this.#socket.readyState === 'open', { what: 'the connection' })
    return this
  }

  async closed(): Promise<this> {
    await until(() => this.#closed, { what: 'the end of the connection' })
    return this
  }

  /** The first answer, once its body is there in full. */
  answer(): Promise<RawAnswer> {
    return until(() => parsed(this.#received), { what: 'an answer' })
  }
}

function parsed(text: string): RawAnswer | null {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return null
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(lines.map((line) => line.toLowerCase().split(/: (.*)/s, 2)))
  const body = text.slice(end + 4)
  if (body.length < Number(headers['content-length'] ?? 0)) return null
  return { status: Number(statusLine.split(' ')[1]), headers, body }
}
