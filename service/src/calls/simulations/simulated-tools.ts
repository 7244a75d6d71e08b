import { isDeepStrictEqual } from 'node:util'
import type { ResolvedAgent } from '../../agents/resolve.ts'
import type { Clock } from '../../kernel/clock.ts'
import { objectIn } from '../../kernel/json-object.ts'
import type { Log } from '../../platform/log.ts'
import type { ToolDeclaration } from '../../platform/realtime/port.ts'
import type { SessionId } from '../../records/call-values.ts'
import type { SimulatedCall } from '../../records/simulations/run-store.ts'
import type { Scenario } from '../../records/simulations/scenario.ts'
import { storable } from '../../records/storable.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { toolsOf } from '../../voice/tools/registry.ts'
import { makeToolRunner } from '../../voice/tools/run.ts'
import { type Tool, type ToolCall, ToolRefusal, type ToolResult } from '../../voice/tools/tool.ts'
import { expectTarget } from '../transfer-target.ts'

/**
 * What came of a tool: what the model is told, and what it does to the call. `goesOn`: it has failed, or given the call to another
 * agent, so that what the same answer ends the call with is too early.
 */
export type ToolEnd = {
  output: string
  endsCall: boolean
  isTransferred: boolean
  isSilent: boolean
  goesOn: boolean
}

/** The tools of one simulated call. */
export type SimulatedTools = {
  /** Who speaks: another one after the call was handed over. */
  readonly agent: ResolvedAgent
  /** Every tool that was called, in this order. */
  readonly calls: SimulatedCall[]
  declarations(): ToolDeclaration[]
  /** Never rejects: what goes wrong is told to the model, as in a call. */
  run(name: string, argumentsText: string): Promise<ToolEnd>
}

export type ToolSetup = {
  tenant: TenantRuntime
  agent: ResolvedAgent
  /** The agent's own among the tenant's tools. */
  own: readonly Tool[]
  builtIns: readonly Tool[]
  results: NonNullable<Scenario['tool_results']>
  /** Whether the tenant's own tools are really called. */
  runsTools: boolean
  customerPhone: string
  /** Begins the names of calls of tools, of which each is another one. */
  name: string
}

type Deps = { clock: Clock; log: Pick<Log, 'error'> }

const NOT_DONE = { ok: true, note: 'This is a simulation: nothing was done. Go on as if it had been.' }
const SIMULATED = 'simulated'

export function makeSimulatedTools(deps: Deps, setup: ToolSetup): SimulatedTools {
  const { tenant, builtIns, results, runsTools, customerPhone, name: callName } = setup
  const calls: SimulatedCall[] = []
  let { agent, own } = setup
  let isTransferred = false
  let answeredBy: SimulatedCall['answeredBy'] = 'built_in'

  const controls: ToolCall['controls'] = {
    async transfer({ target }) {
      expectTarget(tenant, target)
      isTransferred = true
    },
    press: () => true,
    pauseRecording: () => tenant.compliance.record_calls,
    escalated: () => undefined,
    handOff(next, withWhat) {
      agent = next
      own = withWhat.own
      return true
    },
  }

  const { builtIn, ownTool } = answeringTools(results, {
    runsTools,
    answered: (_name, by) => {
      answeredBy = by
    },
  })
  const tools = (): Tool[] => [...toolsOf(builtIns, agent.config.tools).map(builtIn), ...own.map(ownTool)]

  const call = {
    ...{ tenant, callSid: SIMULATED, sessionId: SIMULATED as SessionId, streamSid: SIMULATED },
    ...{ customerPhone, controls },
    /** Of whoever speaks now. */
    get agentName() {
      return agent.agentName
    },
  }
  const runner = makeToolRunner({
    ...deps,
    get tools() {
      return tools()
    },
    call,
    journal: {
      tool({ name, argumentsText, result, status }) {
        if (result === null) return
        const written = { name: storable(name), arguments: storable(argumentsText), result: storable(result) }
        calls.push({ ...written, status, answeredBy })
      },
    },
  })

  return {
    get agent() {
      return agent
    },
    calls,
    declarations: () => tools().map(({ declaration }) => declaration),
    async run(name, argumentsText) {
      answeredBy = 'nobody'
      const callId = `${callName}-${calls.length + 1}`
      const before = agent
      const ended = await runner.run({ callId, name, argumentsText, atMs: 0 })
      const { output, status, endsCall, isSilent = false } = ended
      return { output, endsCall, isTransferred, isSilent, goesOn: status !== 'ok' || agent !== before }
    },
  }
}

/** Tools as they are in a simulation. */
export type AnsweringTools = { builtIn(tool: Tool): Tool; ownTool(tool: Tool): Tool }

/**
 * Tools that the scenario answers where it has an answer; else a built-in does what it is given to do, and one of the tenant's is
 * really called, or nobody is. Whoever answers is told before the tool has.
 */
export function answeringTools(
  results: NonNullable<Scenario['tool_results']>,
  { runsTools, answered }: { runsTools: boolean; answered(name: string, by: SimulatedCall['answeredBy']): void },
): AnsweringTools {
  function answering(tool: Tool, by: SimulatedCall['answeredBy'], run: Tool['run']): Tool {
    const { name } = tool.declaration
    return {
      ...tool,
      async run(args, call, signal) {
        const result = results.find((each) => each.name === name && hasAll(args, each.arguments ?? {}))
        answered(name, result ? 'scenario' : by)
        return result ? resultOf(result) : run(args, call, signal)
      },
    }
  }
  const notDone = async (): Promise<ToolResult> => ({ output: NOT_DONE })
  return {
    builtIn: (tool) => answering(tool, 'built_in', tool.run),
    ownTool: (tool) => (runsTools ? answering(tool, 'tool', tool.run) : answering(tool, 'nobody', notDone)),
  }
}

/** @throws ToolRefusal where the scenario has the tool fail. */
function resultOf({ output, error }: NonNullable<Scenario['tool_results']>[number]): ToolResult {
  if (error !== undefined) throw new ToolRefusal(error)
  return { output: output ?? { ok: true } }
}

/** Whether all of these are among the arguments, and equal. */
export function hasAll(args: unknown, wanted: Record<string, unknown>): boolean {
  const given = typeof args === 'string' ? objectIn(args) : (args as Record<string, unknown> | null)
  return Object.entries(wanted).every(([name, value]) => isDeepStrictEqual(given?.[name], value))
}
