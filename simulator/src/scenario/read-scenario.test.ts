import { readdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { makeFaults } from '../carrier/faults.ts'
import { callerOf } from './caller-of.ts'
import { camelCased } from './carrier-fault-shape.ts'
import { parseScenario, readScenario } from './read-scenario.ts'
import { ScenarioError } from './scenario-error.ts'

const FOLDER = new URL('../../scenarios/', import.meta.url).pathname

const ALL_SWITCHES = `
name: All switches of the carrier
caller: { steps: [] }
faults:
  stream:
    jitter_ms: 3
    ending: stop-and-close
    stop_missing_share: 0.1
    cut: { at_ms: 1, how: fin }
    after_loss: silence
    second_start: { at_ms: 1 }
    media_before_start: 1
    marks_echoed: false
    marks_late_ms: 3000
    timestamp_jump: { at_ms: 1, by_ms: 200 }
    media_pause: { at_ms: 1, for_ms: 5000 }
    skip_silent_frames: true
    slow_reader: { at_ms: 1, for_ms: 1000 }
    malformed: { at_ms: 1, kind: binary }
    burst: { at_ms: 1, frames: 500 }
  callbacks: { copies: 5, order: reversed, delivery: never, delay_ms: 1, signature: forged }
  rest: { create: normal, modify: normal, fetch: normal, strikes: 1, hang_ms: 1, ended_on_modify: true, list_lag_ms: 1 }
`

describe('reading a scenario', () => {
  it('can write every switch that the carrier has', () => {
    const written = camelCased(parseScenario(ALL_SWITCHES, 'test').faults) as Record<string, object>
    const { stream, callbacks, rest } = makeFaults()
    expect(Object.keys(written['stream'] ?? {}).sort()).toEqual(Object.keys(stream).sort())
    expect(Object.keys(written['callbacks'] ?? {}).sort()).toEqual(Object.keys(callbacks).sort())
    expect(Object.keys(written['rest'] ?? {}).sort()).toEqual(Object.keys(rest).sort())
  })

  it('takes all scenarios that come with it', async () => {
    const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.yaml'))
    const scenarios = await Promise.all(files.map((file) => readScenario(`${FOLDER}${file}`)))
    expect(scenarios.map(({ caller }) => callerOf(caller)).length).toBeGreaterThan(3)
  })

  it.each([
    ['caller: {}', "a.yaml: Missing required parameter: 'name'."],
    ['name: A\ncaller: { step: [] }', "a.yaml: Unknown parameter: 'caller.step'."],
    [
      'name: A\ncaller: {}\nagent: { rules: [{ when: { turn: 0 } }] }',
      "'agent.rules[0].when.turn': integer below minimum value",
    ],
    ['name: A\ncaller: {}\nexpect: { clears: many }', "Invalid type for 'expect.clears'"],
    [
      'name: A\ncaller: {}\nfaults: { model: [{ cut: { manner: axe } }] }',
      "Supported values are: 'close', 'fin', 'rst', and 'black_hole'.",
    ],
    [
      'name: A\ncaller: {}\nfaults: { model: [{ cut: { manner: axe } }] }',
      "a.yaml: faults.model[0].cut.manner: Invalid value: 'axe'.",
    ],
    ['name: A\ncaller: { steps: [{}] }', 'a.yaml: caller.steps[0]: give one of say'],
    ['name: A\ncaller: {}\nparties: [{ number: "1", steps: [{}] }]', 'a.yaml: parties[0].steps[0]: give one of say'],
    ['', 'a.yaml: A scenario is an object with a name and a caller.'],
    ['name: [', 'a.yaml: '],
    ['name: A\ncaller: { steps: [{ press: *9 }] }', 'a.yaml: Unresolved alias'],
  ])('says what is wrong in %j', (yaml, message) => {
    expect(() => parseScenario(yaml, 'a.yaml')).toThrow(message)
    expect(() => parseScenario(yaml, 'a.yaml')).toThrow(ScenarioError)
  })

  it('names a file that is not there', async () => {
    await expect(readScenario('/nowhere/b.yaml')).rejects.toThrow('/nowhere/b.yaml: ENOENT')
  })
})

describe('the caller of a scenario', () => {
  const stepsOf = (steps: string) => callerOf(parseScenario(`name: A\ncaller: { steps: ${steps} }`, 'a').caller).steps

  it('speaks after the agent unless told otherwise, in a voice of its own', () => {
    expect(
      stepsOf(
        '[{ say: Hi }, { press: "1", at_ms: 5 }, { wait: true, after_ms: 6 }, { say: Stop, over_agent_ms: 7, voice: slt }]',
      ),
    ).toEqual([
      { when: { kind: 'after-agent', quietMs: 700 }, does: { kind: 'say', text: 'Hi', voice: 'rms' } },
      { when: { kind: 'at', atMs: 5 }, does: { kind: 'press', keys: '1' } },
      { when: { kind: 'then', delayMs: 6 }, does: { kind: 'nothing' } },
      { when: { kind: 'over-agent', intoMs: 7 }, does: { kind: 'say', text: 'Stop', voice: 'slt' } },
    ])
  })

  it('greets as a machine in the voice that it is given, beeps where it is to, and has no other steps', () => {
    const machineOf = (fields: string) => callerOf(parseScenario(`name: A\ncaller: { ${fields} }`, 'a').caller)
    const machine = machineOf('machine: { greeting: Hi, beep: false }, voice: rms')
    expect([machine.voice, machine.steps.map(({ does }) => does.kind)]).toEqual(['rms', ['say', 'nothing']])
    const steps = machineOf('machine: { greeting: Hi }').steps.map(({ does }) => does.kind)
    expect(steps).toEqual(['say', 'sound', 'nothing'])
    expect(() => machineOf('machine: { greeting: Hi }, steps: [{ say: Bye }]')).toThrow('steps or machine')
  })

  it.each(['[{}]', '[{ say: Hi, press: "1" }]', '[{ say: Hi, at_ms: 1, after_ms: 1 }]'])(
    'makes no sense of %s',
    (steps) => {
      expect(() => stepsOf(steps)).toThrow('caller.steps[0]: give one of')
    },
  )
})
