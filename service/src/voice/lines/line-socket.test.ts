import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { mediaStreamsCodec } from '../../platform/telephony/twilio/codec.ts'
import { StreamWatch } from '../media-stream-watch.ts'
import type { LineEnd, LineListener } from './line.ts'
import { LineSocket } from './line-socket.ts'

const START = JSON.stringify({ event: 'start', streamSid: 'MZ1', start: { callSid: 'CA1', streamSid: 'MZ1' } })
const BATCH = { atMs: 0, inbound: Buffer.alloc(800, 1).toString('base64'), outbound: '' }

/** A person's socket that takes nothing, as far as `waiting` says. */
function listening(kind: 'listen' | 'takeover' = 'listen') {
  const clock = new TestClock()
  const watch = new StreamWatch(clock)
  const seen = { waiting: 0, sent: 0, closedWith: 0, left: '', noted: [] as string[] }
  const socket = {
    send() {
      seen.sent += 1
    },
    sendAll(messages: readonly unknown[]) {
      seen.sent += messages.length
    },
    bufferedBytes: () => seen.waiting,
    exempt: () => {},
    close: (code: number) => {
      seen.closedWith = code
    },
    terminate: () => {
      seen.closedWith = 1006
    },
  }
  let listener: LineListener | null = null
  const leave = (how: string) => {
    seen.left = how
  }
  const grant = { kind, tenant: 'acme' as TenantId, stream_sid: 'MZ1', supervisor: null }
  const line = new LineSocket(socket, grant, {
    ...{ clock, watch, codec: mediaStreamsCodec, log: { error: () => {} } },
    open: async (_wanted, heard) => {
      listener = heard
      return { callSid: 'CA1', speak: () => {}, close: leave }
    },
    note: async ({ action, reason }) => {
      seen.noted.push(`${action}: ${reason}`)
    },
    mayStay: async () => true,
  })
  return { clock, watch, seen, line, hear: () => listener?.audio(BATCH), over: (why: LineEnd) => listener?.over(why) }
}

describe('the socket of who listens', () => {
  it('is closed when its peer is two seconds behind, and nothing waits for it', async () => {
    const { watch, seen, hear } = listening()
    await Promise.resolve()
    await Promise.resolve()
    hear()
    expect(seen.sent).toBe(2 + 5)
    seen.waiting = 70_000
    hear()
    expect(seen).toMatchObject({ sent: 7, closedWith: 1013, left: 'lost' })
    hear()
    expect(seen.sent).toBe(7)
    expect(watch.size).toBe(0)
    watch.close()
  })

  it('leaves its line when the peer goes, also while that is being opened', async () => {
    const open = listening()
    open.line.closed(1006)
    await Promise.resolve()
    await Promise.resolve()
    expect(open.seen.left).toBe('lost')
    open.watch.close()
  })

  it('does not take what no person says', async () => {
    const { clock, watch, seen, line } = listening()
    await Promise.resolve()
    await Promise.resolve()
    for (let second = 0; second < 3; second += 1) {
      for (let n = 0; n < 300; n += 1) line.frame(Buffer.from('{}'), false)
      await clock.advance(1_000)
    }
    expect(seen.closedWith).toBe(1008)
    watch.close()
  })
})

describe('the socket of who has a call', () => {
  it.each([
    ['ended', 1000, ['takeover: null', 'release: the call is over']],
    ['broken', 1013, ['takeover: null', 'release: the call moved, or could not be reached']],
    // By an action, which is kept as such.
    ['released', 1000, ['takeover: null']],
  ] as const)('is closed, and its end is noted once, when the line is %s', async (why, code, noted) => {
    const { watch, seen, line, over } = listening('takeover')
    line.frame(Buffer.from(START), false)
    await Promise.resolve()
    await Promise.resolve()
    over(why)
    line.closed(code)
    expect(seen).toMatchObject({ closedWith: code, noted })
    watch.close()
  })
})
