import type { ResolvedAgent } from '../../agents/resolve.ts'
import { type Clock, withDeadline } from '../../kernel/clock.ts'
import { ChatFault, type ChatModel, type ChatRequest } from '../../platform/chat/port.ts'
import type { Log } from '../../platform/log.ts'
import { asking } from '../../records/evaluations/asking.ts'
import { assess, NoAssessment, type Verdict } from '../../records/evaluations/assessment.ts'
import { whyUnheard } from '../../records/evaluations/conversation.ts'
import { lowerFirst } from '../../records/evaluations/evaluations.ts'
import { REFUSED } from '../../records/evaluations/findings.ts'
import type { RunResult } from '../../records/simulations/run-store.ts'
import type { EndedBy } from '../../records/simulations/scenario.ts'
import { storable } from '../../records/storable.ts'
import { type CallFacts, greetingOf, instructionsOf } from '../../voice/session-builder-setup.ts'
import type { Tool } from '../../voice/tools/tool.ts'
import type { AskModel } from './agent-turn.ts'
import { simulateByVoice, type VoiceDeps } from './call-by-voice.ts'
import { checkRun, type RunFacts, slowestMs } from './check-run.ts'
import { converse } from './converse.ts'
import { Line } from './line.ts'
import { NO_VOICE } from './no-voice.ts'
import type { PatternReasons } from './pattern-reasons.ts'
import { Purse, TooCostly } from './purse.ts'
import { notRun } from './settle.ts'
import { makeSimulatedTools } from './simulated-tools.ts'
import type { WantedRun } from './wanted-run.ts'

type Deps = {
  clock: Clock
  log: Log
  model: ChatModel
  /** Null where nobody can be called by voice. */
  voice: VoiceDeps | null
  builtIns: readonly Tool[]
  patternReasons: PatternReasons
}

/** The run was cancelled, or somebody else has it. */
export class CallLost extends Error {
  override readonly name = 'CallLost'
}

export const ANSWER_WITHIN_MS = 30_000
/** Behind it the call comes to its end with the turn that is under way. */
const MAX_CALL_MS = 600_000
const MAX_TOOL_CALLS = 200
const CALLER = '+12025550147'

/** Simulates a call and judges it. @throws ChatFault when a model does not answer, CallLost, and the signal's reason. */
export async function runScenario(deps: Deps, wanted: WantedRun): Promise<RunResult> {
  const { simulation, scenario } = wanted
  const purse = new Purse(wanted.tenant.limits.budget_per_call, wanted.spentUsd)
  const model = payingFor(deps, wanted, purse)
  const { voice } = deps
  if (simulation.mode === 'voice' && voice === null) return notRun(NO_VOICE)
  const call =
    simulation.mode === 'voice' && voice !== null
      ? await byVoice({ ...deps, voice }, wanted, { model, purse })
      : await simulate(deps, wanted, model)
  const verdict = simulation.is_scored ? await verdictOn(deps, wanted, { call, model }) : null
  const reasons = [
    ...call.reasons,
    ...checkRun(scenario.expect ?? {}, call),
    ...(await deps.patternReasons(`${simulation.id} ${scenario.name}`, scenario.expect ?? {}, call)),
    ...scoreReasons(simulation.min_score, verdict),
  ]
  const judged = typeof verdict === 'string' ? null : verdict
  return {
    status: reasons.length === 0 ? 'passed' : 'failed',
    // Phrases of the scenario and what the model wrote, cut: half a character cannot be stored.
    reasons: reasons.map(storable),
    transcript: call.turns,
    function_calls: call.calls,
    ended_by: call.endedBy,
    score: judged?.score ?? null,
    criteria: judged?.criteria ?? null,
    summary: judged?.summary ?? null,
    slowest_ms: slowestMs(call.turns),
  }
}

type Call = RunFacts & { reasons: string[] }

const SPENT = "It cost as much as a call may: the tenant's budget_per_call."

async function byVoice(
  deps: Deps & { voice: VoiceDeps },
  wanted: WantedRun,
  { model, purse }: { model: ChatModel; purse: Purse },
): Promise<Call> {
  const nothing = { turns: [], calls: [], endedBy: 'limit' as const }
  if (purse.isEmpty) return { ...nothing, reasons: [SPENT] }
  const facts = factsOf(wanted, new Date(deps.clock.now()))
  const ask = { complete: (request: ChatRequest) => askingFor(deps, wanted, model)(request) }
  const { isSpent, ...call } = await simulateByVoice(deps, wanted, { facts, model: ask, purse })
  return { ...call, reasons: isSpent ? [SPENT] : [] }
}

async function simulate(deps: Deps, wanted: WantedRun, model: ChatModel): Promise<Call> {
  const { clock } = deps
  const { tenant, scenario, agent, simulation } = wanted
  const facts = factsOf(wanted, new Date(clock.now()))
  const line = new Line()
  const tools = makeSimulatedTools(deps, {
    ...{ tenant, agent, own: wanted.own, builtIns: deps.builtIns, runsTools: simulation.runs_tools, name: wanted.name },
    results: scenario.tool_results ?? [],
    customerPhone: facts.direction === 'outbound' ? facts.to : facts.from,
  })
  const startedMs = clock.monotonicMs()
  const call = {
    ...{ clock, line, tools, callerModel: simulation.caller_model, greeting: greetingOf(tenant, agent.config) },
    ask: askingFor(deps, wanted, model),
    keep: wanted.keep,
    instructions: (speaker: ResolvedAgent) => instructionsOf(tenant, speaker, facts),
    isTooLong: () => clock.monotonicMs() - startedMs > MAX_CALL_MS || tools.calls.length >= MAX_TOOL_CALLS,
  }
  const ended = (endedBy: EndedBy, reasons: string[] = []) => ({
    turns: line.turns,
    calls: tools.calls,
    endedBy,
    reasons,
  })
  try {
    return ended(await converse(call, scenario))
  } catch (error) {
    if (!(error instanceof TooCostly)) throw error
    return ended('limit', [SPENT])
  }
}

function factsOf({ scenario: { call = {} }, agent, prompt }: WantedRun, now: Date): CallFacts {
  const { direction = 'inbound', org_id: orgId = null, metadata = {} } = call
  const own = agent.agentKey ?? agent.agentName
  const [from, to] = direction === 'inbound' ? [CALLER, own] : [own, CALLER]
  return { direction, from: call.from ?? from, to: call.to ?? to, orgId, metadata, prompt, now, callSid: 'simulated' }
}

/** The model, as long as there is money for one call: each of its answers is written down as spent. @throws TooCostly, CallLost. */
function payingFor({ model }: Deps, { keep, pay }: WantedRun, purse: Purse): ChatModel {
  return {
    async complete(request) {
      await keep()
      if (purse.isEmpty) throw new TooCostly()
      const answer = await model.complete(request)
      purse.spend(answer.usage?.costUsd ?? 0)
      await pay(answer.usage)
      return answer
    },
  }
}

/** Asks the model within the time that there is. */
function askingFor({ clock }: Deps, { signal }: WantedRun, model: ChatModel): AskModel {
  return (request) =>
    withDeadline(clock, ANSWER_WITHIN_MS, (stopping) => model.complete({ ...request, signal: stopping }), signal)
}

/** What the model says of it; why it has not, in a sentence. */
async function verdictOn(
  { clock }: Deps,
  { simulation, scenario, agent, signal }: WantedRun,
  { call, model }: { call: Call; model: ChatModel },
): Promise<Verdict | string> {
  const { criteria, chat_model } = agent.config
  if (criteria.length === 0) return 'the agent names no criteria.'
  const whyNot = whyUnheard(call.turns)
  if (whyNot !== null) return lowerFirst(whyNot)
  const ask = asking(model, (work) => withDeadline(clock, ANSWER_WITHIN_MS, work, signal))
  const session = {
    ...{ agent_name: simulation.agent_name, direction: scenario.call?.direction ?? ('inbound' as const) },
    ...{ duration_seconds: null, end_reason: END_REASONS[call.endedBy] },
  }
  const turns = call.turns.map(({ role, text }) => ({ role, text, interrupted: false }))
  const asked = { criteria, chatModel: chat_model || null, conversation: { session, turns, calls: call.calls } }
  return assess(ask, asked).catch((error: unknown) => {
    if (error instanceof NoAssessment) return 'the chat model answered twice with something that is no assessment.'
    if (error instanceof TooCostly) return "the tenant's budget_per_call was spent."
    // The call is over, and has been paid for: it is not begun anew for its score.
    if (error instanceof ChatFault && !signal.aborted)
      return error.isRefusal ? lowerFirst(REFUSED) : 'the chat model did not answer.'
    throw error
  })
}

const END_REASONS = {
  agent: 'agent_hangup',
  caller: 'caller_hangup',
  transfer: 'transferred',
  limit: 'max_duration',
} as const satisfies Record<EndedBy, string>

function scoreReasons(minScore: number | null, verdict: Verdict | string | null): string[] {
  if (minScore === null || verdict === null) return []
  if (typeof verdict === 'string') return [`It was not scored: ${verdict}`]
  const isEnough = verdict.score >= minScore
  return isEnough ? [] : [`The score is ${verdict.score}: at least ${minScore} was expected.`]
}
