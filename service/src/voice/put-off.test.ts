import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { agentAudio } from '../../test/virtual/audio.ts'
import { World } from '../../test/virtual/world.ts'
import type { ModelEvent, ModelListener } from '../platform/realtime/port.ts'
import { PutOff } from './put-off.ts'

/** A call in which the model says what the test makes it. */
function puppet() {
  const listeners: ModelListener[] = []
  const world = new World({
    openModel: (listener) => {
      listeners.push(listener)
      return { append: () => {}, bufferedBytes: () => 0, send: () => {}, close: () => {} }
    },
  })
  world.begin()
  const says = (event: ModelEvent) => listeners.at(-1)?.event(event)
  const sounds = () => listeners.at(-1)?.audio('r1', 'item_r1', agentAudio(1, 500))
  says({ type: 'ready' })
  says({ type: 'response_started', responseId: 'r1' })
  sounds()
  return { world, says, sounds }
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
    const session = (name: string) => ({ catchUp: () => void looked.push(`${name} ${clock.monotonicMs()}`) })
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

  it('holds no timer for sessions that have nothing to catch up with', () => {
    const clock = new TestClock()
    const putOff = new PutOff(clock)
    const session = { catchUp: () => {} }
    putOff.add(session)
    putOff.remove(session)
    putOff.remove(session)
    expect(clock.pendingTimers).toBe(0)
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

  it('looks at it before anything else that happens, and before anybody looks at the session', async () => {
    const { world, says, sounds } = puppet()
    await world.clock.advance(1_000)
    sounds()
    await world.clock.advance(10)
    says({ type: 'speech_started', itemId: 'i1', audioStartMs: 0 })
    expect(looked(world).slice(-2)).toEqual(['1000 sent', '1010 model'])
    await world.clock.advance(1_000)
    says({ type: 'agent_transcript', responseId: 'r1', itemId: 'item_r1', text: 'Hello', final: false })
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

  it('has nothing put off once it has ended', async () => {
    const { world, sounds } = puppet()
    await world.clock.advance(1_000)
    sounds()
    world.endStream()
    await world.run(10_000)
    expect(world.isOver).toBe(true)
    expect(looked(world)).toContain('1000 sent')
    expect(world.clock.pendingTimers).toBe(0)
  })
})
