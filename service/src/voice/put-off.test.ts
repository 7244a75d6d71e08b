import { channel } from 'node:diagnostics_channel'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { agentAudio } from '../../test/virtual/audio.ts'
import { World } from '../../test/virtual/world.ts'
import type { ModelEvent, ModelListener } from '../platform/realtime/port.ts'
import { PutOff } from './put-off.ts'
import type { Plan } from './session/plan.ts'

const PLACE = { responseId: 'r1', itemId: 'item_r1' }
const USAGE = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, audioSeconds: 1 }
const DONE = { status: 'completed', errorCode: null, fault: null, usage: USAGE } as const

/** A call in which the model says what the test makes it; `opened`: when its sessions were, in ms. */
function puppet(plan: Partial<Plan> = {}) {
  const listeners: ModelListener[] = []
  const opened: number[] = []
  const world: World = new World({
    plan,
    openModel: (listener) => {
      listeners.push(listener)
      opened.push(world.clock.monotonicMs())
      return { append: () => {}, bufferedBytes: () => 0, send: () => {}, close: () => {} }
    },
  })
  world.begin()
  const says = (event: ModelEvent) => listeners.at(-1)?.event(event)
  const sounds = () => listeners.at(-1)?.audio(PLACE.responseId, PLACE.itemId, agentAudio(1, 500))
  says({ type: 'ready' })
  says({ type: 'response_started', responseId: 'r1' })
  sounds()
  return { world, says, sounds, opened }
}

/** Sessions of which each takes 0.3 ms to look. */
function busy() {
  const clock = new TestClock()
  let elapsedMs = 0
  const parts = { after: clock.after.bind(clock), every: clock.every.bind(clock), now: () => clock.now() }
  const putOff = new PutOff({ ...parts, monotonicMs: () => clock.monotonicMs() + elapsedMs })
  const session = (look: () => void) => ({
    isPutOff: false,
    catchUp() {
      elapsedMs += 0.3
      look()
    },
  })
  return { clock, putOff, session }
}

/** What the session has looked at: when it happened, in ms, and what. */
function looked(world: World): string[] {
  return world.log.read().steps.map(({ atUs, event }) => `${Math.round(atUs / 1_000)} ${event.type}`)
}

describe('what sessions put off', () => {
  it('is looked at by all of them together, a tenth of a second after the first', async () => {
    const clock = new TestClock()
    const putOff = new PutOff(clock)
    const looked: string[] = []
    const session = (name: string) => ({
      isPutOff: false,
      catchUp: () => void looked.push(`${name} ${clock.monotonicMs()}`),
    })
    const [a, b, c] = [session('a'), session('b'), session('c')]
    putOff.add(a)
    await clock.advance(60)
    putOff.add(b)
    putOff.add(a)
    putOff.add(c)
    putOff.remove(c)
    await clock.advance(500)
    expect(looked).toEqual(['a 100', 'b 100'])
    expect(clock.pendingTimers).toBe(0)
  })

  it('takes half a millisecond at a time, and then lets others go first', async () => {
    const { clock, putOff, session } = busy()
    const looked: number[] = []
    for (let count = 0; count < 5; count += 1) putOff.add(session(() => void looked.push(clock.monotonicMs())))
    await clock.advance(500)
    expect(looked).toEqual([100, 100, 101, 101, 102])
    expect(clock.pendingTimers).toBe(0)
  })

  it('waits for the next time when it is put off while the others look, however long those take', async () => {
    const { clock, putOff, session } = busy()
    const looked: string[] = []
    // Each puts something off again at once: a turn of 400 takes 200 slices, which is longer than until the next one begins.
    const all = Array.from({ length: 400 }, (_, nth) => {
      const own = session(() => {
        looked.push(`${nth} ${clock.monotonicMs()}`)
        if (looked.length <= 400) putOff.add(own)
      })
      return own
    })
    for (const each of all) putOff.add(each)
    await clock.advance(1_000)
    const expected = Array.from({ length: 800 }, (_, count) => `${count % 400} ${100 + Math.floor(count / 2)}`)
    expect(looked).toEqual(expected)
    expect(clock.pendingTimers).toBe(0)
  })

  it('is looked at once in a turn, whatever it puts off meanwhile', async () => {
    const { clock, putOff, session } = busy()
    const looked: string[] = []
    for (const name of ['a', 'b']) {
      const own = session(() => {
        looked.push(`${name} ${clock.monotonicMs()}`)
        if (looked.length <= 2) putOff.add(own)
      })
      putOff.add(own)
    }
    await clock.advance(500)
    expect(looked).toEqual(['a 100', 'b 100', 'a 200', 'b 200'])
  })

  it('is left alone once it has nothing to catch up with, also when its turn has begun', async () => {
    const { clock, putOff, session } = busy()
    const looked: number[] = []
    const gone = session(() => void looked.push(-1))
    for (let count = 0; count < 2; count += 1) putOff.add(session(() => void looked.push(count)))
    putOff.add(gone)
    await clock.advance(100)
    putOff.remove(gone)
    expect(clock.pendingTimers).toBe(0)
    putOff.add(gone)
    putOff.remove(gone)
    await clock.advance(500)
    expect(looked).toEqual([0, 1])
    expect(clock.pendingTimers).toBe(0)
    for (let count = 2; count < 5; count += 1) putOff.add(session(() => void looked.push(count)))
    await clock.advance(500)
    expect(looked).toEqual([0, 1, 2, 3, 4])
  })

  it('is looked at by the others, too, when one of them fails', async () => {
    const clock = new TestClock()
    const putOff = new PutOff(clock)
    const looked: number[] = []
    putOff.add({
      isPutOff: false,
      catchUp() {
        throw new Error('a fault')
      },
    })
    putOff.add({ isPutOff: false, catchUp: () => void looked.push(clock.monotonicMs()) })
    await expect(clock.advance(100)).rejects.toThrow('a fault')
    await clock.advance(500)
    expect(looked).toEqual([101])
  })

  it('holds no timer for sessions that have nothing to catch up with, and has one again for the next', async () => {
    const clock = new TestClock()
    const putOff = new PutOff(clock)
    const looked: number[] = []
    const session = { isPutOff: false, catchUp: () => void looked.push(clock.monotonicMs()) }
    putOff.add(session)
    putOff.remove(session)
    putOff.remove(session)
    expect(clock.pendingTimers).toBe(0)
    putOff.add(session)
    await clock.advance(500)
    expect(looked).toEqual([100])
  })
})

describe('What turns of many sessions make', () => {
  it('is gone with the quick collector', () => {
    setFlagsFromString('--expose-gc')
    const collect: (how: { type: 'minor' }) => void = runInNewContext('gc')
    const old = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')?.space_used_size ?? 0
    const tasks: (() => void)[] = []
    const after = (_ms: number, task: () => void) => {
      tasks.push(task)
      return () => {}
    }
    const putOff = new PutOff({ after, every: after, now: () => 0, monotonicMs: () => 0 })
    const sessions = Array.from({ length: 100 }, () => ({ isPutOff: false, catchUp: () => {} }))
    const turns = (count: number) => {
      for (let turn = 0; turn < count; turn += 1) {
        for (const session of sessions) putOff.add(session)
        tasks.pop()?.()
      }
      for (let times = 0; times < 3; times += 1) collect({ type: 'minor' })
    }
    turns(10)
    const before = old()
    turns(500)
    expect(old() - before).toBeLessThan(256 * 1024)
  })
})

describe('A session', () => {
  it('puts off what nobody waits for, and looks at it as of when it was', async () => {
    const { world, sounds } = puppet()
    await world.clock.advance(1_000)
    const before = looked(world).length
    sounds()
    await world.clock.advance(60)
    sounds()
    expect(looked(world).slice(before)).toEqual([])
    await world.clock.advance(60)
    expect(looked(world).slice(before)).toEqual(['1000 sent', '1060 sent'])
    expect(world.session.state.playback.sentMs).toBe(1_500)
  })

  it('puts off nothing while it is found out who answered', async () => {
    const { world, sounds } = puppet({ readsParty: true })
    await world.clock.advance(1_000)
    const before = looked(world).length
    sounds()
    expect(looked(world).slice(before)).toEqual(['1000 sent'])
    expect(await world.until(() => world.session.state.party?.phase === 'settled')).toBe(true)
    sounds()
    const settled = looked(world).length
    sounds()
    expect(looked(world).slice(settled)).toEqual([])
  })

  it('looks at it before anything else that happens, and before anybody looks at the session', async () => {
    const { world, says, sounds } = puppet()
    await world.clock.advance(1_000)
    sounds()
    await world.clock.advance(10)
    says({ type: 'speech_started', itemId: 'i1', audioStartMs: 0 })
    expect(looked(world).slice(-2)).toEqual(['1000 sent', '1010 model'])
    await world.clock.advance(1_000)
    says({ type: 'agent_transcript', ...PLACE, text: 'Hello', final: false })
    expect(world.session.state.transcript.entries.at(-1)?.unheard).toBe('Hello')
  })

  it('does not take a model for dead because of audio that it has not looked at', async () => {
    const { world, sounds } = puppet()
    const { modelStallMs } = world.session.state.plan
    // Just before the watch over the answer wakes, whose end this puts off.
    await world.clock.advance(modelStallMs - 10)
    sounds()
    await world.clock.advance(modelStallMs - 10)
    expect(looked(world).filter((step) => step.endsWith(' fired'))).toEqual([])
    await world.clock.advance(20)
    expect(looked(world).filter((step) => step.endsWith(' fired'))).toHaveLength(1)
  })

  it('puts off nothing that somebody else is waiting for: who has the call next', async () => {
    const { world, says, sounds } = puppet()
    sounds()
    says({ type: 'audio_done', ...PLACE })
    world.session.dispatch({ type: 'transfer', id: 't1', target: '+1', isWarm: false, isAgents: true })
    says({ type: 'response_done', responseId: 'r1', ...DONE })
    const began = () => world.log.read().steps.find(({ sketch }) => sketch.includes('begin_transfer'))
    expect(await world.until(() => began() !== undefined)).toBe(true)
    expect(world.clock.monotonicMs() - (began()?.atUs ?? 0) / 1_000).toBe(0)
  })

  it('opens the next model session at the instant from which it counts its audio', async () => {
    const { world, says, sounds, opened } = puppet({ modelSessionMs: 3_000 })
    // Until the session is too old, so that the next pause is the end of this.
    for (let pieces = 0; pieces < 9; pieces += 1) sounds()
    says({ type: 'audio_done', ...PLACE })
    says({ type: 'response_done', responseId: 'r1', ...DONE })
    expect(await world.until(() => opened.length === 2)).toBe(true)
    expect(world.session.state.model.next?.sinceMs).toBe(opened[1])
  })

  it('counts a timer from the instant of what was put off', async () => {
    const { world, sounds } = puppet()
    const { modelStallMs } = world.session.state.plan
    await world.clock.advance(1_000)
    sounds()
    // The watch over the answer, which that begins anew: it is looked at a tenth of a second later.
    await world.clock.advance(modelStallMs)
    const fired = world.log.read().steps.filter(({ event }) => event.type === 'fired')
    expect(fired.map(({ atUs }) => atUs / 1_000)).toEqual([1_000 + modelStallMs])
  })

  it('has nothing put off once it has ended', async () => {
    const { world, says } = puppet()
    says({ type: 'audio_done', ...PLACE })
    says({ type: 'response_done', responseId: 'r1', ...DONE })
    await world.clock.advance(2_000)
    const timers: number[] = []
    const finished = channel('parley.session.finished')
    const look = () => void timers.push(world.sessionClock.pendingTimers)
    finished.subscribe(look)
    says({ type: 'agent_transcript', ...PLACE, text: 'Hello', final: true })
    expect(looked(world).at(-1)).not.toBe('2000 model')
    world.endStream()
    finished.unsubscribe(look)
    expect(looked(world)).toContain('2000 model')
    expect(timers).toEqual([0])
  })
})
