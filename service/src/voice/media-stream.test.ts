import { duplexPair } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { until } from '../../test/harness/wait.ts'
import { AppError } from '../kernel/errors.ts'
import { FrameSocket } from '../platform/http/frame-socket.ts'
import { makeLog } from '../platform/log.ts'
import { mediaStreamsCodec } from '../platform/telephony/twilio/codec.ts'
import { MediaStream, type MediaStreamDeps } from './media-stream.ts'
import { StreamWatch } from './media-stream-watch.ts'
import { PreStartSeats } from './pre-start.ts'

const LIMITS = { maxMessageBytes: 65_536, maxFragments: 64, checksText: true }
const START = Buffer.from(JSON.stringify({ event: 'start', start: { streamSid: 'MZ1', callSid: 'CA1' } }))
const ADDRESS = '192.0.2.1'

/** A stream whose call is looked for with `join`, and the addresses that have failed by then. */
function opened(join: MediaStreamDeps['join']) {
  const [clock, failed] = [new TestClock(), [] as string[]]
  const seats = new PreStartSeats({ clock, failed: (address) => void failed.push(address) })
  const [, raw] = duplexPair()
  const socket = new FrameSocket(raw, { limits: LIMITS, clock, closeTimeoutMs: 1_000 })
  const watch = new StreamWatch(clock)
  const log = makeLog({ level: 'silent', secrets: [] })
  const seat = seats.take(ADDRESS)
  const stream = new MediaStream(socket, { clock, log, codec: mediaStreamsCodec, watch, seat, join })
  socket.listen(stream, Buffer.alloc(0), () => {})
  const over = () => until(() => seats.taken === 0, { what: 'the end of the seat' }).finally(() => watch.close())
  return { clock, failed, raw, stream, over }
}

describe('the address of a stream that is not let in', () => {
  it('has failed when the stream has shown nothing in time, or goes away before', async () => {
    for (const end of ['late', 'gone']) {
      const { clock, failed, raw, over } = opened(() => new Promise(() => {}))
      if (end === 'late') await clock.advance(5_000)
      else raw.destroy()
      await over()
      expect(failed).toEqual([ADDRESS])
    }
  })

  it.each([
    ['the database does not answer', new AppError('unavailable', 'The database is not reachable.')],
    ['something of ours is wrong', new Error('a fault')],
  ])('has not when %s', async (_why, error) => {
    const { failed, stream, over } = opened(() => Promise.reject(error))
    stream.frame(START, false)
    await over()
    expect(failed).toEqual([])
  })

  it('has not when we are too slow, or the stream goes away meanwhile', async () => {
    for (const end of ['late', 'gone']) {
      const { clock, failed, raw, stream, over } = opened(() => new Promise(() => {}))
      stream.frame(START, false)
      if (end === 'late') await clock.advance(60_000)
      else raw.destroy()
      await over()
      expect(failed).toEqual([])
    }
  })
})
