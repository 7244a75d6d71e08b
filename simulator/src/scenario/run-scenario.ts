import type { CallerScript } from '../carrier/caller-script.ts'
import type { FaultOptions, Faults } from '../carrier/faults.ts'
import type { SimulatedCall } from '../carrier/simulated-call.ts'
import type { Script } from '../model/script.ts'
import type { Simulator } from '../simulator.ts'
import { type CallFacts, factsOf, factsOfNone } from './call-facts.ts'
import { partiesOf } from './caller-of.ts'
import { camelCased } from './carrier-fault-shape.ts'
import { checkExpectations, type Finding } from './check-expectations.ts'
import type { ScenarioReport } from './report.ts'
import type { Scenario } from './scenario-shape.ts'

export { parseScenario, readScenario } from './read-scenario.ts'
export { reportJson, reportText, type ScenarioReport } from './report.ts'
export { ScenarioError } from './scenario-error.ts'
export type { Scenario } from './scenario-shape.ts'

/** How a scenario is run. */
export type RunOptions = {
  /** Where the bridge answers incoming calls. */
  voiceUrl: string
  /** Where the bridge wants to know what became of an incoming call. */
  statusCallback?: string
  voiceFallbackUrl?: string
  /** Makes the bridge place the call of an outbound scenario; without it, it is waited for. */
  placeCall?: (call: { from: string; to: string }) => Promise<void>
  /** Looks at what the bridge stored; given the scenario's `expect.stored`. */
  checkStored?: (stored: unknown, facts: CallFacts) => Promise<Finding[]>
  /** Told of the call as soon as there is one. */
  onCall?: (call: SimulatedCall) => void
}

const USUAL_FROM = '+15550100100'
const USUAL_TO = '+15550100199'
const USUAL_MAX_SECONDS = 120
/** How long a bridge has to close what belonged to a call that is over. */
const SETTLING_MS = 3_000
const EMPTY_SCRIPT: Script = { rules: [] }

/**
 * Runs one scenario against a bridge and compares. The simulator's brain, faults and the numbers that it names are the scenario's
 * meanwhile, so run one at a time. A call that is waited for in vain is reported, too: the bridge did not place it.
 * @throws ScenarioError when the scenario makes no sense.
 */
export async function runScenario(
  simulator: Simulator,
  scenario: Scenario,
  options: RunOptions,
): Promise<ScenarioReport> {
  const { carrier, model } = simulator
  const { caller, others } = partiesOf(scenario)
  const before = structuredClone(carrier.faults)
  const known = new Set(model.sessions)
  const giveBrainBack = model.scripts.setDefault(scenario.agent ?? EMPTY_SCRIPT, { isShared: true })
  const giveFaultsBack = model.setFaults(scenario.faults?.model ?? [])
  setFaults(carrier.faults, switchesOf(scenario))
  const called = isOutbound(scenario) ? [{ number: numbersOf(scenario).to, script: caller }] : []
  const leave = [...others, ...called].map(({ number, script }) => carrier.subscribe(number, script))
  try {
    const call = await startCall(simulator, { scenario, caller, options })
    if (!call) return neverCalled(scenario)
    options.onCall?.(call)
    const end = await finish(call, maxMs(scenario))
    const sessions = model.sessions.filter((session) => !known.has(session)).map(({ record }) => record)
    const facts = factsOf(call, end, sessions, simulator.phraseBook)
    const findings = checkExpectations(facts, scenario.expect ?? {})
    if (scenario.expect?.stored !== undefined)
      findings.push(...(await storedFindings(scenario.expect.stored, facts, options)))
    const { recording } = call
    const audio = recording && { caller: recording.caller, agent: recording.agent }
    return { name: scenario.name, ok: findings.every(({ state }) => state !== 'failed'), findings, facts, audio }
  } finally {
    giveBrainBack()
    giveFaultsBack()
    setFaults(carrier.faults, before)
    for (const goes of leave.reverse()) goes()
  }
}

type Start = { scenario: Scenario; caller: CallerScript; options: RunOptions }

/** Null when the bridge was to call, and did not in the scenario's time. */
async function startCall({ carrier }: Simulator, { scenario, caller, options }: Start): Promise<SimulatedCall | null> {
  const { from, to } = numbersOf(scenario)
  if (!isOutbound(scenario)) {
    const { voiceUrl, voiceFallbackUrl, statusCallback } = options
    const optional = { ...(voiceFallbackUrl && { voiceFallbackUrl }), ...(statusCallback && { statusCallback }) }
    return carrier.ring({ from, to, caller, voiceUrl, timeLimitMs: maxMs(scenario), ...optional })
  }
  const known = new Set(carrier.calls)
  await options.placeCall?.({ from, to })
  return awaitedCall(() => carrier.calls.find((call) => !known.has(call) && call.to === to), maxMs(scenario))
}

function awaitedCall(find: () => SimulatedCall | undefined, withinMs: number): Promise<SimulatedCall | null> {
  return new Promise((resolve) => {
    const untilMs = performance.now() + withinMs
    const look = () => {
      const call = find()
      if (call || performance.now() >= untilMs) resolve(call ?? null)
      else setTimeout(look, 20)
    }
    look()
  })
}

function neverCalled(scenario: Scenario): ScenarioReport {
  const { from, to } = numbersOf(scenario)
  const detail = `nobody called ${to} within ${maxMs(scenario) / 1000} seconds`
  const findings: Finding[] = [{ what: 'call', state: 'failed', detail }]
  return { name: scenario.name, ok: false, findings, facts: factsOfNone(from, to), audio: null }
}

function isOutbound({ call }: Scenario): boolean {
  return call?.direction === 'outbound'
}

function numbersOf({ call }: Scenario): { from: string; to: string } {
  return { from: call?.from ?? USUAL_FROM, to: call?.to ?? USUAL_TO }
}

/** Waits for the end of a call, and makes one after `maxMs`; then for what belongs to it to be over, within bounds. */
async function finish(call: SimulatedCall, maxMs: number): Promise<Awaited<SimulatedCall['ended']>> {
  const impatient = setTimeout(() => call.hangUp(), maxMs)
  const end = await call.ended
  clearTimeout(impatient)
  await within(call.settled, SETTLING_MS)
  return end
}

function within(work: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

async function storedFindings(stored: unknown, facts: CallFacts, { checkStored }: RunOptions): Promise<Finding[]> {
  if (checkStored) return checkStored(stored, facts)
  return [{ what: 'stored', state: 'skipped', detail: 'only who knows what the bridge stores can look' }]
}

function switchesOf({ faults }: Scenario): FaultOptions {
  const { model: _, ...groups } = faults ?? {}
  return camelCased(groups) as FaultOptions
}

// Group by group, in place: the carrier's parts hold the groups.
function setFaults(faults: Faults, { stream, callbacks, rest }: FaultOptions): void {
  Object.assign(faults.stream, stream)
  Object.assign(faults.callbacks, callbacks)
  Object.assign(faults.rest, rest)
}

function maxMs(scenario: Scenario): number {
  return (scenario.call?.max_seconds ?? USUAL_MAX_SECONDS) * 1_000
}
