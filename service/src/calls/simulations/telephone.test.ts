import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import type { SessionEvent } from '../../voice/session/events.ts'
import { Telephone } from './telephone.ts'

/** A second of the agent, as base64. */
const SECOND = Buffer.from(Buffer.alloc(8_000, 0x10).toString('base64'))
let clock: TestClock
let telephone: Telephone
let heard: Buffer[]
let told: SessionEvent[]

beforeEach(() => {
  clock = new TestClock()
  telephone = new Telephone(clock)
  heard = []
  told = []
  telephone.begin({
    fromCaller: (payload) => void heard.push(Buffer.from(payload.toString('latin1'), 'base64')),
    dispatch: (event) => void told.push(event),
  })
})

const { codec } = new Telephone(new TestClock())
const { head, tail } = codec.mediaFrame('MZ1')
const says = (name: string) => telephone.carrier.sendAll([[head, SECOND, tail], [codec.mark('MZ1', name)]])

describe('the telephone of a simulated caller', () => {
  it('hears a second in a second, and tells of a mark when all before it was heard', async () => {
    says('first')
    says('second')
    await clock.advance(980)
    expect([telephone.heardMs, told, telephone.quietMs]).toEqual([980, [], 0])
    await clock.advance(60)
    expect([told, telephone.heardMs]).toEqual([[{ type: 'mark', name: 'first' }], 1_040])
    await clock.advance(2_000)
    expect(told).toEqual([
      { type: 'mark', name: 'first' },
      { type: 'mark', name: 'second' },
    ])
    expect(telephone.heardMs).toBe(2_000)
    expect(telephone.quietMs).toBeGreaterThan(900)
  })

  it('forgets what was not heard when its buffer is emptied, and tells of its marks', async () => {
    says('first')
    await clock.advance(500)
    telephone.carrier.send([codec.clear('MZ1')])
    expect(told).toEqual([{ type: 'mark', name: 'first' }])
    await clock.advance(1_000)
    expect([telephone.heardMs, telephone.quietMs]).toEqual([500, 1_000])
  })

  it('sends a frame each 20 ms, of silence or of what is said, and keys as they are pressed', async () => {
    await clock.advance(100)
    const before = heard.length
    telephone.say(Buffer.alloc(400, 0x20))
    expect(telephone.isSpeaking).toBe(true)
    await clock.advance(100)
    const frames = heard.slice(before)
    expect([frames.length, telephone.isSpeaking]).toEqual([5, false])
    expect(frames.map((frame) => [frame.length, frame.filter((byte) => byte === 0x20).length])).toEqual([
      [160, 160],
      [160, 160],
      [160, 80],
      [160, 0],
      [160, 0],
    ])
    telephone.press('4#')
    telephone.hangUp()
    expect(told).toEqual([{ type: 'dtmf', digit: '4' }, { type: 'dtmf', digit: '#' }, { type: 'hung_up' }])
  })

  it('is dead once it is closed, and keeps no timer', async () => {
    says('first')
    telephone.close()
    telephone.begin({ fromCaller: () => {}, dispatch: () => {} })
    await clock.advance(2_000)
    telephone.hangUp()
    expect([told, telephone.heardMs, clock.pendingTimers]).toEqual([[], 0, 0])
  })
})
