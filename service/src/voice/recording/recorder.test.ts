import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { RecordedCall, sound } from './recording.fixture.ts'

const [A, B] = [0x10, 0x20]
const SILENCE = 0xff

let call: RecordedCall
let clock: TestClock

beforeEach(() => {
  clock = new TestClock()
  call = new RecordedCall(clock)
})

describe('the caller in a recording', () => {
  it('is continuous, and stands where it was heard', async () => {
    await clock.advance(1_000)
    await call.caller(A, 500)
    await call.caller(B, 500)
    await call.settle()
    expect(call.left).toEqual([
      [A, 1_000, 1_500],
      [B, 1_500, 2_000],
    ])
    expect(call.right).toEqual([])
  })

  it('is not torn by frames that come unevenly', async () => {
    await call.caller(A, 200)
    for (const lateMs of [120, 0, 0, 0, 0, 0, 45, 10, 5]) {
      await clock.advance(lateMs)
      call.recorder.caller(sound(A))
    }
    await call.settle()
    expect(call.left).toEqual([[A, 0, 380]])
  })

  it('is silent where frames were lost', async () => {
    await call.caller(A, 400)
    await clock.advance(1_000)
    await call.caller(B, 400)
    await call.settle()
    expect(call.left).toEqual([
      [A, 0, 400],
      [B, 1_400, 1_800],
    ])
  })

  it('is whole when frames were only held up', async () => {
    await call.caller(A, 400)
    await clock.advance(600)
    for (let n = 0; n < 30; n++) call.recorder.caller(sound(B))
    await call.caller(A, 200)
    await call.settle()
    expect(call.left).toEqual([
      [A, 0, 400],
      [B, 400, 1_000],
      [A, 1_000, 1_200],
    ])
  })

  it('is where it was heard again once audio was held up for longer than can be put right', async () => {
    await call.caller(A, 400)
    await clock.advance(5_000)
    for (let n = 0; n < 250; n++) call.recorder.caller(sound(B))
    await call.caller(SILENCE, 4_000)
    await call.caller(A, 400)
    await call.settle()
    expect(call.left.at(-1)).toEqual([A, 9_400, 9_800])
    const [, from = 0, until = 0] = call.left[1] ?? []
    expect(until - from).toBe(5_000)
  })

  it("begins with the carrier's start where the stream was let in late", async () => {
    await clock.advance(1_000)
    const late = new RecordedCall(clock, { waitedMs: 1_000 })
    for (let n = 0; n < 50; n++) late.recorder.caller(sound(A))
    late.agent(B, 100)
    await late.settle()
    expect(late.left).toEqual([[A, 0, 1_000]])
    expect(late.right).toEqual([[B, 1_000, 1_100]])
    await late.recorder.close()
    expect(late.ended?.startedAt).toEqual(new Date(Date.UTC(2030, 0, 1)))
  })

  it('begins before that where what was said was held up on its way', async () => {
    call.agent(A, 100)
    for (let n = 0; n < 50; n++) call.recorder.caller(sound(A))
    await call.caller(B, 200)
    await call.settle()
    expect(call.left).toEqual([
      [A, 0, 1_000],
      [B, 1_000, 1_200],
    ])
    expect(call.right).toEqual([[A, 1_000, 1_100]])
    await call.recorder.close()
    expect(call.ended?.startedAt).toEqual(new Date(Date.UTC(2030, 0, 1) - 1_000))
  })

  it('cannot be further ahead of time than some seconds, whatever a sender does', async () => {
    await call.caller(A, 4_000)
    for (let n = 0; n < 1_000; n++) call.recorder.caller(sound(A))
    await clock.advance(20_000)
    expect(call.left[0]?.[2]).toBeLessThan(10_500)
    expect(call.troubles).toEqual([])
  })
})

describe('the agent in a recording', () => {
  it('stands where it plays, however early it was sent', async () => {
    await clock.advance(500)
    call.agent(A, 2_000)
    call.agent(B, 2_000)
    await clock.advance(5_000)
    call.agent(A, 1_000)
    await clock.advance(1_000)
    await call.settle()
    expect(call.right).toEqual([
      [A, 500, 2_500],
      [B, 2_500, 4_500],
      [A, 5_500, 6_500],
    ])
  })

  it('stops where the caller stopped hearing it, while the caller goes on', async () => {
    const mark = call.agent(A, 500)
    call.agent(B, 4_000)
    await call.caller(0x30, 600)
    call.echo(mark)
    await call.caller(0x30, 600)
    call.clear()
    await call.caller(0x30, 1_000)
    call.agent(A, 300)
    await call.settle()
    expect(call.left).toEqual([[0x30, 0, 2_200]])
    // The echo took 100 ms, which is the way there and back: what leaves now arrives as late as the audio did.
    expect(call.right).toEqual([
      [A, 0, 500],
      [B, 500, 1_200],
      [A, 2_200, 2_500],
    ])
  })

  it('is not heard at all when it was silenced before its time', async () => {
    call.agent(A, 1_000)
    await clock.advance(200)
    call.agent(B, 1_000)
    await clock.advance(300)
    call.clear()
    await call.settle()
    expect(call.right).toEqual([[A, 0, 500]])
  })

  it('is later where play-out has stood still', async () => {
    const marks = Array.from({ length: 20 }, () => call.agent(A, 200))
    await clock.advance(220)
    call.echo(marks[0] ?? '')
    await clock.advance(700)
    call.echo(marks[1] ?? '')
    await clock.advance(4_000)
    await call.settle()
    expect(call.right).toEqual([
      [A, 0, 400],
      [A, 900, 4_500],
    ])
  })

  it('stays where it plays when one echo of it comes late', async () => {
    const marks = Array.from({ length: 20 }, () => call.agent(A, 200))
    await clock.advance(220)
    call.echo(marks[0] ?? '')
    await clock.advance(500)
    call.echo(marks[1] ?? '')
    call.echo(marks[2] ?? '')
    await clock.advance(100)
    call.echo(marks[3] ?? '')
    call.agent(B, 1_000)
    await clock.advance(4_500)
    await call.settle()
    expect(call.right).toEqual([
      [A, 0, 4_000],
      [B, 4_000, 5_000],
    ])
  })

  it('is not heard twice, nor later, when all echoes are held up for some seconds', async () => {
    const marks = Array.from({ length: 40 }, () => call.agent(A, 200))
    await clock.advance(220)
    call.echo(marks[0] ?? '')
    await clock.advance(5_000)
    for (const mark of marks.slice(1, 26)) call.echo(mark)
    await clock.advance(3_000)
    await call.settle()
    expect(call.right).toEqual([[A, 0, 8_000]])
  })

  it('ends with the call', async () => {
    call.agent(A, 3_000)
    await clock.advance(1_000)
    call.hangUp()
    call.recorder.caller(sound(B))
    await clock.advance(2_000)
    await call.recorder.close()
    expect(call.right).toEqual([[A, 0, 1_000]])
    expect(call.left).toEqual([])
    expect(call.ended?.frames).toBe(8_000)
  })
})

describe('a recording that is paused', () => {
  it('is silent on both sides, also of what was sent before, and time goes on', async () => {
    call.agent(A, 4_000)
    await call.caller(B, 1_000)
    call.recorder.pause(true)
    call.recorder.pause(true)
    await call.caller(B, 1_500)
    call.recorder.pause(false)
    await call.caller(B, 500)
    await call.settle()
    expect(call.left).toEqual([
      [B, 0, 1_000],
      [B, 2_500, 3_000],
    ])
    expect(call.right).toEqual([
      [A, 0, 1_000],
      [A, 2_500, 4_000],
    ])
  })

  it('is silent to its end when it is not gone on with', async () => {
    await call.caller(A, 500)
    call.recorder.pause(true)
    await call.caller(A, 5_000)
    call.hangUp()
    await call.recorder.close()
    expect(call.left).toEqual([[A, 0, 500]])
    expect(call.writtenMs).toBe(5_500)
  })

  it('by an earlier process has nothing of what was said before the stream was let in either', async () => {
    call = new RecordedCall(clock, { isPaused: true })
    for (let n = 0; n < 50; n++) call.recorder.caller(sound(A))
    await call.caller(A, 500)
    call.recorder.pause(false)
    await call.caller(B, 200)
    await call.settle()
    expect(call.left).toEqual([[B, 1_500, 1_700]])
  })
})

describe('the disk of a recording', () => {
  it('is written to once a second, two seconds behind', async () => {
    await call.caller(A, 2_980)
    expect(call.writtenMs).toBe(0)
    await call.caller(A, 20)
    expect(call.writtenMs).toBe(1_000)
    await call.caller(A, 1_000)
    expect(call.writtenMs).toBe(2_000)
  })

  it('that is slow for some seconds costs nothing', async () => {
    let go = () => {}
    call.disk = () => new Promise((resolve) => (go = resolve))
    await call.caller(A, 6_000)
    call.disk = async () => {}
    go()
    await call.caller(A, 3_000)
    await call.settle()
    expect(call.left).toEqual([[A, 0, 9_000]])
    expect(call.troubles).toEqual([])
  })

  it('that does not answer costs silence, told once, and no more memory', async () => {
    let go = () => {}
    call.disk = () => new Promise((resolve) => (go = resolve))
    await call.caller(A, 30_000)
    expect(call.troubles).toHaveLength(1)
    call.disk = async () => {}
    go()
    await call.caller(B, 3_000)
    await call.settle()
    // The first block was on its way; of the rest there is what could be kept.
    expect(call.left).toEqual([
      [A, 0, 1_000],
      [A, 28_000, 30_000],
      [B, 30_000, 33_000],
    ])
    expect(call.troubles).toHaveLength(1)
  })

  it('loses nothing to a process that stood still for some seconds', async () => {
    await call.caller(A, 4_000)
    call.agent(B, 6_000)
    await call.caller(A, 900)
    clock.skip(4_500)
    await clock.advance(0)
    for (let n = 0; n < 225; n++) call.recorder.caller(sound(A))
    await call.caller(A, 1_000)
    await call.settle()
    expect(call.right).toEqual([[B, 4_000, 10_000]])
    expect(call.left[0]).toEqual([A, 0, 4_900])
    expect(call.troubles).toEqual([])
  })

  it('is asked again for what it did not take', async () => {
    let fails = 2
    call.disk = async () => {
      fails -= 1
      if (fails >= 0) throw new Error('ENOSPC')
    }
    await call.caller(A, 5_000)
    await call.settle()
    expect(call.left).toEqual([[A, 0, 5_000]])
    expect(call.troubles).toHaveLength(1)
    expect(call.opened).toBe(1)
  })

  it('has everything when the recording is closed, which happens once', async () => {
    await call.caller(A, 1_500)
    await Promise.all([call.recorder.close(), call.recorder.close()])
    expect(call.left).toEqual([[A, 0, 1_500]])
    expect(call.ended).toEqual({ startedAt: new Date(Date.UTC(2030, 0, 1)), frames: 12_000 })
    expect(clock.pendingTimers).toBe(0)
  })

  it('is not asked for a call that ended at once', async () => {
    await call.recorder.close()
    expect(call.opened).toBe(0)
    expect(call.ended?.frames).toBe(0)
  })
})
