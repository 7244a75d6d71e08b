import { describe, expect, it } from 'vitest'
import { FRAME_BYTES, silence } from '../audio/mulaw.ts'
import { tone } from '../audio/tone.ts'
import type { Speech } from '../speech/speech.ts'
import { prepareCaller } from './caller.ts'
import type { CallerScript } from './caller-script.ts'

// A voice whose words last 400 ms each: it is the timing that is tried here, not the sound.
const speech: Speech = {
  say: (text) => Promise.resolve(tone([300], text.split(' ').length * 400, 8000)),
  close: () => Promise.resolve(),
}
const talk = tone([500], 20, 8000)
const quiet = silence(20)

async function call(script: CallerScript) {
  const events: string[] = []
  let nowMs = 0
  const note = (what: string) => events.push(`${nowMs} ${what}`)
  const caller = (await prepareCaller(script, speech))({
    pressed: (key) => note(`key ${key}`),
    hungUp: (reason) => note(`hang-up ${reason}`),
    speaks: (text) => note(`says ${text ?? 'a sound'}`),
    stopped: () => note('stopped'),
    agentBegan: () => note('agent began'),
    agentEnded: () => note('agent ended'),
  })
  /** Lets the agent talk, or be quiet, for a while. */
  const pass = (durationMs: number, line: Uint8Array) => {
    for (let i = 0; i < durationMs; i += 20) {
      nowMs += 20
      expect(caller.speak()).toHaveLength(FRAME_BYTES)
      caller.hear(line)
    }
  }
  return { events, pass, caller, mine: () => events.filter((event) => !event.includes('agent')) }
}

const after = (quietMs: number, text: string) => ({
  when: { kind: 'after-agent', quietMs } as const,
  does: { kind: 'say', text } as const,
})

describe('a scripted caller', () => {
  it('answers when the agent has been quiet for long enough, and not in a pause', async () => {
    const { pass, mine } = await call({ steps: [after(700, 'one two')] })
    pass(1000, talk)
    pass(500, quiet)
    pass(500, talk)
    pass(1000, quiet)
    expect(mine()).toEqual(['2720 says one two'])
  })

  it('says nothing before the agent has spoken', async () => {
    const { pass, mine } = await call({ steps: [after(200, 'one')] })
    pass(5000, quiet)
    expect(mine()).toEqual([])
  })

  it('waits with the next turn for the agent to speak again', async () => {
    const { pass, mine } = await call({ steps: [after(200, 'one'), after(200, 'two')] })
    pass(400, talk)
    pass(5000, quiet)
    expect(mine()).toHaveLength(2)
    pass(400, talk)
    pass(1000, quiet)
    expect(mine()).toEqual(['620 says one', '1000 stopped', '6020 says two', '6400 stopped'])
  })

  it('talks over the agent at the wanted moment, and takes what is cut off for no answer', async () => {
    const { pass, caller, mine } = await call({
      steps: [{ when: { kind: 'over-agent', intoMs: 600 }, does: { kind: 'say', text: 'stop' } }, after(300, 'go on')],
    })
    pass(1300, talk)
    expect(mine()).toEqual(['620 says stop', '1000 stopped'])
    caller.agentWasCut()
    pass(2000, quiet)
    expect(mine()).toHaveLength(2)
    pass(500, talk)
    pass(1000, quiet)
    expect(mine()[2]).toBe('4120 says go on')
  })

  it('presses keys one by one, and hangs up at the wanted time', async () => {
    const { pass, mine } = await call({
      steps: [
        { when: { kind: 'then', delayMs: 100 }, does: { kind: 'press', keys: '1w#' } },
        { when: { kind: 'at', atMs: 2000 }, does: { kind: 'hang-up' } },
      ],
    })
    pass(3000, quiet)
    expect(mine()).toEqual(['100 key 1', '760 key #', '2000 hang-up script'])
  })

  it('gives up when the agent stays silent for too long, and not while it talks', async () => {
    const { pass, mine } = await call({ steps: [after(10_000, 'one')], patienceMs: 3000 })
    pass(4000, talk)
    expect(mine()).toEqual([])
    pass(4000, quiet)
    expect(mine()).toEqual(['7040 hang-up gave-up'])
  })

  it('hears the agent’s utterances, pauses between sentences included', async () => {
    const { pass, events } = await call({ steps: [] })
    pass(400, talk)
    pass(240, quiet)
    pass(400, talk)
    pass(400, quiet)
    expect(events).toEqual(['20 agent began', '1340 agent ended'])
  })
})
