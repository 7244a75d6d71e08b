import type { Clip } from '../../agents/clips.ts'
import { type Clock, withDeadline, withTimeout } from '../../kernel/clock.ts'
import { newId } from '../../kernel/ids.ts'
import { ChatFault, type ChatModel } from '../../platform/chat/port.ts'
import type { Log } from '../../platform/log.ts'
import type { RealtimeDriver } from '../../platform/realtime/port.ts'
import type { SharedSpeech } from '../../platform/speech/guarded.ts'
import { type Speech, SpeechFault } from '../../platform/speech/port.ts'
import { makeTracing } from '../../platform/tracing.ts'
import type { SessionId } from '../../records/call-values.ts'
import type { JournaledTurn } from '../../records/journal-entry.ts'
import type { SimulatedTurn } from '../../records/simulations/run-store.ts'
import type { EndedBy } from '../../records/simulations/scenario.ts'
import { storable } from '../../records/storable.ts'
import type { CompleteAgentConfig } from '../../tenancy/agent-config-defaults.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import type { CallSession } from '../../voice/call-session.ts'
import type { LiveMetrics } from '../../voice/live-metrics.ts'
import type { EndReason } from '../../voice/session/events.ts'
import { type EndedCall, makeSessionBuilder } from '../../voice/session-builder.ts'
import type { CallFacts } from '../../voice/session-builder-setup.ts'
import type { StreamedCall } from '../../voice/streamed-call.ts'
import type { Tool } from '../../voice/tools/tool.ts'
import type { CallTransfer } from '../../voice/transfer/transfer.ts'
import { pause, unlessAborted } from '../pause.ts'
import { callByVoice, type SpokenCall } from './caller-by-voice.ts'
import type { RunFacts } from './check-run.ts'
import { type Purse, TooCostly } from './purse.ts'
import { makeSpokenTools, type SpokenTools } from './spoken-tools.ts'
import { Telephone } from './telephone.ts'
import type { WantedRun } from './wanted-run.ts'

/** What calls by voice need beside what all simulations do. */
export type VoiceDeps = {
  realtime: RealtimeDriver
  fallback: RealtimeDriver | null
  /** The secondary provider of voices; null where there is none. */
  secondVoice: SharedSpeech | null
  /** Speaks the words of callers. */
  speech: Speech
  /** What was spoken ahead of an agent's first words; soon, and never rejects. */
  clipsOf(tenant: TenantRuntime, config: CompleteAgentConfig): Promise<readonly Clip[]>
  modelSessionMs: number
}

type Deps = { clock: Clock; log: Log; voice: VoiceDeps; builtIns: readonly Tool[] }

/** A model of the call by voice was not there: it is tried again, as where a chat model does not answer. */
export class VoiceFault extends ChatFault {}

const MOMENT_MS = 40
/** The run is kept, and what it costs written down, this often. */
const KEEP_EVERY_MS = 3_000
/** The last words are being written down: no longer than a session waits for that itself. */
const OVER_WITHIN_MS = 20_000
const SPOKEN_WITHIN_MS = 30_000
/** Behind it the caller hangs up. */
const MAX_CALL_MS = 600_000
const MAX_TOOL_CALLS = 200
const EPOCH = 1

/**
 * Has a real session talk with a caller who is played over a telephone of this process. No record is made of it but that of its run,
 * and no metric counts it.
 *
 * @throws VoiceFault when a model is not there; CallLost, and the signal's reason.
 */
export async function simulateByVoice(
  deps: Deps,
  wanted: WantedRun,
  { facts, model, purse }: { facts: CallFacts; model: ChatModel; purse: Purse },
): Promise<RunFacts & { isSpent: boolean }> {
  const { clock, voice } = deps
  const { scenario, agent, signal } = wanted
  const telephone = new Telephone(clock)
  const tenant = privateTenant(wanted.tenant, purse)
  const own = { tenant, own: wanted.own, builtIns: deps.builtIns, name: wanted.name }
  const tools = makeSpokenTools({
    ...own,
    results: scenario.tool_results ?? [],
    runsTools: wanted.simulation.runs_tools,
  })
  const turns = new Map<string, JournaledTurn>()
  const clips = await voice.clipsOf(tenant, agent.config)
  const { promise: ended, resolve: onEnded } = Promise.withResolvers<EndedCall>()
  let end: EndReason | null = null
  const { session } = builderFor(deps, { tools, turns, telephone }).build(
    { ...streamedCall(wanted, facts, telephone), tenant, tools: tools.own, clips },
    (over) => {
      end = over.reason
      telephone.close()
      onEnded(over)
    },
  )
  const startedMs = clock.monotonicMs()
  const counting = countingFor(session, wanted, purse)
  let keptMs = startedMs
  const call: SpokenCall = {
    ...{ clock, telephone, state: () => session.state, turns: () => said(turns) },
    isOver: () => end !== null,
    isTransferred: () => tools.isTransferred,
    isTooLong: () => clock.monotonicMs() - startedMs > MAX_CALL_MS || tools.calls.length >= MAX_TOOL_CALLS,
    async moment() {
      await pause(clock, MOMENT_MS, signal)
      signal.throwIfAborted()
      if (clock.monotonicMs() - keptMs < KEEP_EVERY_MS) return
      keptMs = clock.monotonicMs()
      await wanted.keep()
      await counting.pay()
    },
    speak: (text) => spoken(deps, text, signal),
    ask: (request) => model.complete({ ...request, signal }),
    callerModel: wanted.simulation.caller_model ?? (agent.config.chat_model || null),
  }
  try {
    session.dispatch({ type: 'opened' })
    telephone.begin(session.leg())
    let isSpent = false
    const endedBy = await callByVoice(call, scenario).catch((err: unknown) => {
      // Who plays the caller cannot be paid any more: what was said so far is the call.
      if (!(err instanceof TooCostly)) throw err
      isSpent = true
      telephone.hangUp()
      return 'limit' as const
    })
    const late = () => new Error('the session does not end')
    const { reason, state } = await withTimeout(clock, unlessAborted(ended, signal), OVER_WITHIN_MS, late)
    if (reason === 'model_lost' || reason === 'carrier_lost') throw new VoiceFault(`the session ended: ${reason}`)
    isSpent ||= state.budget === 'spent'
    return { turns: said(turns), calls: tools.calls, endedBy: endedBy ?? ENDED_BY[reason] ?? 'limit', isSpent }
  } finally {
    if (end === null) session.dispatch({ type: 'hung_up' })
    // Of a run that is somebody else's by now, too: what was paid for is paid.
    await counting.pay()
  }
}

const ENDED_BY: Partial<Record<EndReason, EndedBy>> = {
  agent_hangup: 'agent',
  idle_timeout: 'agent',
  voicemail: 'agent',
  caller_hangup: 'caller',
  transferred: 'transfer',
  max_duration: 'limit',
}

/** The tenant with what is left for this call; who calls is made up, and needs no redaction. */
function privateTenant(tenant: TenantRuntime, purse: Purse): TenantRuntime {
  return {
    ...tenant,
    limits: { ...tenant.limits, budget_per_call: purse.leftUsd },
    compliance: { ...tenant.compliance, redact_pii: false },
  }
}

function streamedCall(
  { agent, prompt }: WantedRun,
  facts: CallFacts,
  telephone: Telephone,
): Omit<StreamedCall, 'tenant'> {
  const { direction, from, to, orgId, metadata = {} } = facts
  const id = newId<SessionId>(facts.now.getTime())
  return {
    ...{ agent, prompt, direction, from, to, orgId, metadata, epoch: EPOCH },
    ...{ callSid: 'simulated', streamSid: `simulated-${id}`, sessionId: id, spentToday: null, before: null },
    ...{ codec: telephone.codec, carrier: telephone.carrier },
  }
}

type Heard = { tools: SpokenTools; turns: Map<string, JournaledTurn>; telephone: Telephone }

/** A session as calls have it, whose words stay here. */
function builderFor({ clock, log, voice }: Deps, { tools, turns, telephone }: Heard) {
  return makeSessionBuilder({
    ...{ clock, log, model: voice.realtime, fallback: voice.fallback, secondVoice: voice.secondVoice },
    ...{ tools: tools.builtIns, metrics: UNCOUNTED, tracing: makeTracing(clock), modelSessionMs: voice.modelSessionMs },
    journal: {
      of: () => ({
        append: (turn) => void turns.set(turn.itemId, turn),
        forget: (itemId) => void turns.delete(itemId),
        tool: (tool) => tools.done(tool),
      }),
    },
    carrierCalls: {
      async hangUp() {
        telephone.hangUp()
        return 'ended'
      },
      apologise: () => telephone.hangUp(),
    },
    isHeld: async () => true,
    transferOf: () => NO_TRANSFER,
    checkpoint: () => undefined,
  })
}

const UNCOUNTED: LiveMetrics = { noted() {}, modelFault() {}, spoken() {}, ended() {} }

/** The tools that put a call through do not ask for it here. */
const NO_TRANSFER: CallTransfer = {
  expectTarget() {},
  begin: () => Promise.reject(new Error('nobody is rung in a simulation')),
  putThrough() {},
}

/** What the session costs, as far as it was not written down yet. */
function countingFor(session: CallSession, { pay }: WantedRun, purse: Purse) {
  let [input, cached, output, usd] = [0, 0, 0, 0]
  return {
    async pay(): Promise<void> {
      const { usage, costUsd } = session.state
      if (usage.inputTokens === input && usage.outputTokens === output) return
      const more = {
        inputTokens: usage.inputTokens - input,
        cachedTokens: usage.cachedTokens - cached,
        outputTokens: usage.outputTokens - output,
        costUsd: costUsd === null ? null : costUsd - usd,
      }
      ;[input, cached, output, usd] = [usage.inputTokens, usage.cachedTokens, usage.outputTokens, costUsd ?? usd]
      purse.spend(more.costUsd ?? 0)
      await pay(more)
    },
  }
}

/** In the order in which it was said. How long an answer took is what its caller has waited for the first sound of it. */
function said(turns: Map<string, JournaledTurn>): SimulatedTurn[] {
  return [...turns.values()]
    .sort((a, b) => a.seq - b.seq)
    .map(({ role, text, timeline }) => ({
      role: role === 'supervisor' ? 'system' : role,
      text: storable(text),
      replyMs: timeline ? Math.round(timeline.heardMs - timeline.speechEndMs) : null,
    }))
}

/** @throws VoiceFault */
async function spoken({ clock, voice }: Deps, text: string, signal: AbortSignal): Promise<Buffer> {
  const speak = (until: AbortSignal) => voice.speech.speak({ text, voice: null, speed: 1, signal: until })
  try {
    return await withDeadline(clock, SPOKEN_WITHIN_MS, speak, signal)
  } catch (err) {
    signal.throwIfAborted()
    if (!(err instanceof SpeechFault)) throw err
    throw new VoiceFault("the caller's voice was not there", { cause: err, isRefusal: err.isLasting })
  }
}
