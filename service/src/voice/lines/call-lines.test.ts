import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { CallLines } from './call-lines.ts'

it('A person who has a call hears its caller at the time that was spoken for, whatever the length of the frames', () => {
  const lines: CallLines = new CallLines({
    clock: new TestClock(),
    media: { hearBy: () => {}, play: () => 0 },
    callSid: 'CA1',
    dispatch: ({ type }) => type === 'take_over' && lines.connect('person-1'),
    leftMs: () => 0,
    openScribe: null,
  })
  const heardAtMs: number[] = []
  lines.takeOver({ audio: ({ atMs }) => heardAtMs.push(atMs), over: () => {} }, null)
  for (const ms of [20, 200, 10, 60]) lines.caller(Buffer.from(Buffer.alloc(8 * ms, 0xff).toString('base64')))
  expect(heardAtMs).toEqual([0, 20, 220, 230])
})

describe('Who speaks with a caller after the network held their words up', () => {
  const SPEECH = Buffer.from(Buffer.alloc(160, 0x10).toString('base64'))
  const PAUSE = Buffer.from(Buffer.alloc(160, 0xff).toString('base64'))

  /** A call that somebody has: what of theirs was sent to its caller, who hears it at the speed of the clock. */
  function taken() {
    const clock = new TestClock()
    const sent: Buffer[] = []
    let heardUntilMs = 0
    const lines: CallLines = new CallLines({
      clock,
      media: {
        hearBy: () => {},
        play: (_id, payload) => {
          sent.push(payload)
          heardUntilMs = Math.max(heardUntilMs, clock.monotonicMs()) + 20
        },
      },
      callSid: 'CA1',
      dispatch: ({ type }) => type === 'take_over' && lines.connect('person-1'),
      leftMs: () => heardUntilMs - clock.monotonicMs(),
      openScribe: null,
    })
    const line = lines.takeOver({ audio: () => {}, over: () => {} }, null)
    const speak = async (frame: Buffer, ms: number) => {
      for (let at = 0; at < ms; at += 20) {
        line.speak(frame)
        await clock.advance(20)
      }
    }
    const burst = (frame: Buffer, ms: number) => {
      for (let at = 0; at < ms; at += 20) line.speak(frame)
    }
    return { sent, speak, burst, lateMs: () => heardUntilMs - clock.monotonicMs() }
  }

  it('is heard in time again behind their next pause', async () => {
    const { sent, speak, burst, lateMs } = taken()
    burst(SPEECH, 900)
    await speak(SPEECH, 2_000)
    expect(sent).toHaveLength(145)
    expect(lateMs()).toBeGreaterThan(800)
    await speak(PAUSE, 1_000)
    expect(lateMs()).toBeLessThanOrEqual(200)
  })

  it('has nothing left out that is late for a moment', async () => {
    const { sent, speak, burst } = taken()
    burst(SPEECH, 180)
    await speak(PAUSE, 3_000)
    expect(sent).toHaveLength(159)
  })
})
