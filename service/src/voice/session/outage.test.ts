import { describe, expect, it } from 'vitest'
import { Call, planWith } from './call.fixture.ts'
import type { Plan } from './plan.ts'

function lose(call: Call): void {
  call.model({ type: 'closed', code: '1006', message: 'gone', fault: 'retry' })
}

/** For `ms` every session that is opened is refused at once; how long after the first loss each of them was opened. */
function refused(call: Call, ms: number): number[] {
  const lostAtMs = call.nowMs
  const before = call.all('open_model').length
  const triesMs: number[] = []
  lose(call)
  while (call.nowMs - lostAtMs < ms) {
    while (call.all('open_model').length > before + triesMs.length) {
      triesMs.push(call.nowMs - lostAtMs)
      lose(call)
    }
    call.wait(10)
  }
  return triesMs
}

/** The next session that is opened is set up, unless the call is given up before. */
function isBack(call: Call): void {
  while (!call.timers.includes('model_setup') && call.all('apologise').length === 0) call.wait(10)
  call.model({ type: 'ready' })
}

function asked(plan: Partial<Plan> = {}): Call {
  const call = Call.greeted(plan)
  call.says('turn_1', 500, 'Is it open?')
  return call
}

const lastAsked = (call: Call) => call.commands('respond').at(-1)?.instructions

describe('A model that stays away, where no other one waits', () => {
  it('F30: is tried at once, then further and further apart, and given up after fifteen seconds', () => {
    const call = asked()
    const triesMs = refused(call, 14_900)
    const pausesMs = triesMs.map((ms, at) => ms - (triesMs[at - 1] ?? 0))
    const wanted = [0, 300, 1_000, 2_000, 3_000, 3_000, 3_000]
    expect(pausesMs.length).toBeGreaterThanOrEqual(6)
    for (const [at, pauseMs] of pausesMs.entries()) {
      expect(pauseMs).toBeGreaterThanOrEqual(wanted[at] ?? Number.NaN)
      expect(pauseMs).toBeLessThanOrEqual((wanted[at] ?? Number.NaN) + 210)
    }
    expect(call.all('apologise')).toEqual([])
    call.wait(150)
    expect(call.all('apologise')).toHaveLength(1)
  })

  it('and is back after twelve seconds goes on with the call: its caller has heard that somebody is there', () => {
    const call = asked()
    const triesMs = refused(call, 12_000)
    expect(triesMs.length).toBeLessThan(8)
    expect(call.all('play_chords').length).toBeGreaterThanOrEqual(4)
    isBack(call)
    expect([call.all('apologise'), lastAsked(call)]).toEqual([[], null])
    call.answer('resp_1', 'item_1', 1_000, 'Yes, it is.')
    call.wait(8_000)
    expect(call.all('apologise')).toEqual([])
  })

  it('has its caller say again what it lost in the middle, also where it is back in a long word that bridges the wait', () => {
    const call = Call.greeted({ clips: [{ kind: 'filler', text: 'One moment, please.', ms: 3_000 }] })
    call.speaks('turn_1', 500)
    lose(call)
    call.wait(2_600)
    isBack(call)
    call.wait(1_100)
    expect([call.all('play_clip').length, lastAsked(call)]).toEqual([1, expect.stringContaining('say it again')])
  })

  it('is given up as late where it is never set up, whatever its tries take', () => {
    const call = asked()
    lose(call)
    call.wait(14_900)
    expect([call.all('apologise'), call.all('open_model').length]).toEqual([[], 4])
    call.wait(150)
    expect(call.all('apologise')).toHaveLength(1)
  })

  it('is given up as late where it is set up again and again, and lost before it answers', () => {
    const call = asked()
    const lostAtMs = call.nowMs
    lose(call)
    while (call.all('apologise').length === 0 && call.nowMs - lostAtMs < 30_000) {
      call.wait(500)
      if (call.timers.includes('model_setup')) call.model({ type: 'ready' })
      else if (!call.state.model.isReady) continue
      call.wait(500)
      lose(call)
    }
    expect(Math.abs(call.nowMs - lostAtMs - 15_000)).toBeLessThanOrEqual(1_000)
  })

  it.each(['has answered', 'was there for long'])('and %s has all that time again when it is lost', (what) => {
    const call = asked()
    refused(call, 10_000)
    isBack(call)
    if (what === 'has answered') call.answer('resp_1', 'item_1', 1_000, 'Yes, it is.')
    else call.wait(5_000)
    refused(call, 14_800)
    expect(call.all('apologise')).toEqual([])
    call.wait(300)
    expect(call.all('apologise')).toHaveLength(1)
  })

  it('is given up as late where each session says a little of the answer, and is lost', () => {
    const call = asked()
    const lostAtMs = call.nowMs
    lose(call)
    for (let at = 0; call.all('apologise').length === 0 && call.nowMs - lostAtMs < 60_000; at += 1) {
      isBack(call)
      call.begins(`resp_${at}`)
      call.audio(`resp_${at}`, `item_${at}`, 200)
      call.wait(500)
      lose(call)
    }
    expect(call.nowMs - lostAtMs).toBeLessThanOrEqual(19_000)
  })

  it('is given up where it comes and goes, a little longer each time than a try', () => {
    const call = asked()
    const beganMs = call.nowMs
    lose(call)
    for (let at = 0; call.all('apologise').length === 0 && call.nowMs - beganMs < 300_000; at += 1) {
      isBack(call)
      call.begins(`resp_${at}`)
      call.audio(`resp_${at}`, `item_${at}`, 200)
      call.wait(5_500)
      lose(call)
    }
    expect(call.nowMs - beganMs).toBeLessThanOrEqual(70_000)
  })

  it('has answered, too, where its caller has cut it short', () => {
    const call = asked()
    refused(call, 12_000)
    isBack(call)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 3_000)
    call.wait(500)
    call.speaks('turn_2', 500)
    call.ends('resp_1', { status: 'cancelled' })
    refused(call, 10_000)
    expect(call.all('apologise')).toEqual([])
  })

  it('is no longer away once it is there: what takes its place has all the time of a first session', () => {
    const idle = { afterMs: 600_000, prompts: [], goodbye: '' }
    const call = Call.greeted({ idle })
    lose(call)
    isBack(call)
    call.wait(20_000)
    call.do({ type: 'hand_off', plan: planWith({ idle }), agentName: 'Sam', summary: '' })
    call.wait(4_900)
    expect([call.timers.includes('model_setup'), call.all('apologise')]).toEqual([true, []])
  })

  it.each([
    ['has heard nobody yet', () => new Call()],
    ['was owed nothing', () => Call.greeted()],
    [
      'was speaking',
      () => {
        const call = Call.greeted()
        call.speaks('turn_1', 500)
        return call
      },
    ],
  ])('is not silence for a caller who %s', (_who, begun) => {
    const call = begun()
    refused(call, 9_000)
    expect(call.all('play_chords').length).toBeGreaterThanOrEqual(3)
    const heard = call.all('play_chords').length
    isBack(call)
    call.wait(4_000)
    expect(call.all('play_chords').length - heard).toBeLessThanOrEqual(1)
  })

  it('is waited for in vain no longer where it says that trying again cannot help', () => {
    const call = asked()
    refused(call, 5_000)
    call.wait(3_000)
    call.model({ type: 'closed', code: 'handshake_401', message: 'no', fault: 'fatal' })
    expect(call.all('apologise')).toHaveLength(1)
  })

  it('is looked for as long again once the call is the agent’s, which somebody else had', () => {
    const call = Call.greeted()
    call.do({ type: 'take_over' })
    refused(call, 20_000)
    call.do({ type: 'person_lost' })
    call.do({ type: 'release' })
    refused(call, 14_800)
    expect(call.all('apologise')).toEqual([])
  })
})

describe('A caller whom nobody has heard for longer than is kept of them', () => {
  it('is asked to say it again, unless they are heard in what is kept', () => {
    const silent = Call.greeted()
    refused(silent, 5_000)
    silent.echoAll()
    isBack(silent)
    silent.wait(1_000)
    expect(lastAsked(silent)).toContain('say it again')
    const speaking = Call.greeted()
    refused(speaking, 5_000)
    isBack(speaking)
    speaking.says('turn_1', 800)
    speaking.wait(1_000)
    expect([lastAsked(speaking), speaking.commands('respond').length]).toEqual([null, 2])
  })

  it('is asked nothing after a shorter while, of which all is kept', () => {
    const call = Call.greeted()
    refused(call, 1_200)
    isBack(call)
    call.wait(3_000)
    expect(call.commands('respond')).toHaveLength(1)
  })
})
