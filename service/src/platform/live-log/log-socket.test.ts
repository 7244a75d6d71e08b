import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { TestClock } from '../../../test/harness/clock.ts'
import { until } from '../../../test/harness/wait.ts'
import type { FrameSocket } from '../http/frame-socket.ts'
import { listen, testServer } from '../http/http.fixture.ts'
import { makeWebSockets } from '../http/web-sockets.ts'
import type { LogLine } from './log-line.ts'
import { LogSocket } from './log-socket.ts'

type Message = { type?: string; count?: number; msg?: string }

/** A reader over a real socket. */
async function following({ mayStay = async () => true }: { mayStay?: () => Promise<boolean> } = {}) {
  const clock = new TestClock()
  const { server } = testServer()
  const webSockets = makeWebSockets(server, { clock })
  const ends: { socket?: FrameSocket; follower?: LogSocket; isClosed: boolean } = { isClosed: false }
  server.get('/log', async (request, reply) => {
    webSockets.accept(request, reply, (socket) => {
      const onClosed = () => {
        ends.isClosed = true
      }
      const follower = new LogSocket(socket, { clock, mayStay, shown: (line) => line, onClosed })
      Object.assign(ends, { socket, follower })
      return follower
    })
  })
  const port = await listen(server)
  onTestFinished(() => webSockets.close())
  const client = new WebSocket(`ws://127.0.0.1:${port}/log`)
  onTestFinished(() => client.terminate())
  const messages: Message[] = []
  client.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString()) as Message))
  client.on('error', () => {})
  await once(client, 'open')
  const follower = await until(() => ends.follower, { what: 'the socket' })
  return { clock, client, messages, ends, follower }
}

const LINE = { time: '', level: 'info', msg: 'x'.repeat(60_000), tenant_id: null } as LogLine

/** Writes to a reader that does not read, until nothing more goes out. Returns how many lines were written. */
async function fill({ client, follower, ends }: Awaited<ReturnType<typeof following>>): Promise<number> {
  client.pause()
  let count = 0
  let before = -1
  const isFull = () => {
    const waiting = ends.socket?.bufferedBytes() ?? 0
    const isStill = waiting > 256 * 1024 && waiting === before
    before = waiting
    if (isStill) return true
    for (let n = 0; n < 10; n += 1) follower.line(LINE)
    count += 10
    return false
  }
  await until(isFull, { what: 'the way to be full' })
  return count
}

describe('a reader that is too slow', () => {
  it('is told how many lines it has missed, once it reads on', async () => {
    const reader = await following()
    const written = await fill(reader)
    reader.client.resume()
    const dropped = () => reader.messages.find(({ type }) => type === 'dropped')
    const told = await until(
      async () => {
        await reader.clock.advance(1_000)
        return dropped()
      },
      { what: 'the count', everyMs: 5 },
    )
    expect(told.count).toBeGreaterThan(0)
    expect(reader.messages.filter(({ msg }) => msg !== undefined)).toHaveLength(written - (told.count ?? 0))
  })

  it('is let go when it takes nothing at all', async () => {
    const reader = await following()
    await fill(reader)
    await reader.clock.advance(14_000)
    expect(reader.ends.isClosed).toBe(false)
    await reader.clock.advance(4_000)
    await until(() => reader.ends.isClosed, { what: 'the end' })
  })
})

describe('a reader that may stay no longer', () => {
  it('is let go, and one of whom that is not known is not', async () => {
    let answer: () => Promise<boolean> = async () => {
      throw new Error('the database is away')
    }
    const { clock, client, ends } = await following({ mayStay: () => answer() })
    await clock.advance(30_000)
    expect(ends.isClosed).toBe(false)
    answer = async () => false
    const closed = once(client, 'close')
    await clock.advance(15_000)
    expect((await closed)[0]).toBe(4401)
  })
})
