import { tone } from '../audio/tone.ts'
import {
  type Action,
  answeringMachine,
  type CallerScript,
  type CallerStep,
  type When,
} from '../carrier/caller-script.ts'
import type { Voice } from '../speech/speech.ts'
import { ScenarioError } from './scenario-error.ts'
import type { Scenario, WrittenCaller, WrittenStep } from './scenario-shape.ts'

const USUAL_QUIET_MS = 700
const BEEP_HZ = 1_000
const BEEP_MS = 500
const BEEP_AMPLITUDE = 8_000
/** The caller sounds unlike the agent unless told, so that a recording is easy to follow. */
const USUAL_VOICE: Voice = 'rms'

/** Everybody in a scenario: who calls, or is called, and who answers at other numbers. @throws ScenarioError as `callerOf` does. */
export function partiesOf(scenario: Scenario): {
  caller: CallerScript
  others: { number: string; script: CallerScript }[]
} {
  const others = (scenario.parties ?? []).map((party, index) => ({
    number: party.number,
    script: callerOf(party, `parties[${index}]`),
  }))
  return { caller: callerOf(scenario.caller), others }
}

/** The caller that is described at `path`. @throws ScenarioError for a step that says nothing or two things at once, and for steps of a machine. */
export function callerOf(written: WrittenCaller, path = 'caller'): CallerScript {
  const rung = {
    ...(written.answers && { whenRung: written.answers }),
    ...(written.ring_ms !== undefined && { ringMs: written.ring_ms }),
    ...(written.patience_ms !== undefined && { patienceMs: written.patience_ms }),
  }
  if (written.machine) {
    if (written.steps) throw new ScenarioError(`${path}: give steps or machine, a machine has its own`)
    return { ...machineOf(written.machine), ...rung, ...(written.voice && { voice: written.voice }) }
  }
  const voice = written.voice ?? USUAL_VOICE
  const steps = (written.steps ?? []).map((step, index) => stepOf(step, `${path}.steps[${index}]`, voice))
  return { ...rung, voice, steps, hangsUpAtEnd: !written.stays }
}

function machineOf({ greeting, beep = true }: NonNullable<WrittenCaller['machine']>): CallerScript {
  return answeringMachine(greeting, beep ? tone([BEEP_HZ], BEEP_MS, BEEP_AMPLITUDE) : null)
}

function stepOf(step: WrittenStep, path: string, voice: Voice): CallerStep {
  const actions: Action[] = []
  if (step.say !== undefined) actions.push({ kind: 'say', text: step.say, voice: step.voice ?? voice })
  if (step.press !== undefined) actions.push({ kind: 'press', keys: step.press })
  if (step.tone) actions.push({ kind: 'sound', audio: tone([step.tone.hz], step.tone.ms, BEEP_AMPLITUDE) })
  if (step.hang_up) actions.push({ kind: 'hang-up' })
  if (step.wait) actions.push({ kind: 'nothing' })
  const [does] = actions
  if (!does || actions.length > 1) throw new ScenarioError(`${path}: give one of say, press, tone, hang_up and wait`)
  return { when: whenOf(step, path), does }
}

function whenOf(step: WrittenStep, path: string): When {
  const whens: When[] = []
  if (step.after_agent_ms !== undefined) whens.push({ kind: 'after-agent', quietMs: step.after_agent_ms })
  if (step.over_agent_ms !== undefined) whens.push({ kind: 'over-agent', intoMs: step.over_agent_ms })
  if (step.at_ms !== undefined) whens.push({ kind: 'at', atMs: step.at_ms })
  if (step.after_ms !== undefined) whens.push({ kind: 'then', delayMs: step.after_ms })
  if (whens.length > 1)
    throw new ScenarioError(`${path}: give one of after_agent_ms, over_agent_ms, at_ms and after_ms`)
  return whens[0] ?? { kind: 'after-agent', quietMs: USUAL_QUIET_MS }
}
