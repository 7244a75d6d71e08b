import type { JournaledTool } from '../../records/journal-entry.ts'
import type { SimulatedCall } from '../../records/simulations/run-store.ts'
import type { Scenario } from '../../records/simulations/scenario.ts'
import { storable } from '../../records/storable.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import type { Tool, ToolCall } from '../../voice/tools/tool.ts'
import { expectTarget } from '../transfer-target.ts'
import { answeringTools } from './simulated-tools.ts'

/** The tools of a call that is simulated by voice: its session runs them, and nothing is done to anybody. */
export type SpokenTools = {
  builtIns: readonly Tool[]
  own: readonly Tool[]
  /** Every tool that was called, in the order in which they were done. */
  readonly calls: SimulatedCall[]
  /** Whether the call was put through to somebody, as far as the agent knows. */
  readonly isTransferred: boolean
  /** The session writes down that a call of a tool has begun, which says nothing yet, or how it ended. */
  done(tool: JournaledTool): void
}

type Setup = {
  tenant: TenantRuntime
  own: readonly Tool[]
  builtIns: readonly Tool[]
  results: NonNullable<Scenario['tool_results']>
  /** Whether the tenant's own tools are really called. */
  runsTools: boolean
  /** Begins the names of calls of tools, which a model may give twice: each is another one. */
  name: string
}

export function makeSpokenTools({ tenant, own, builtIns, results, runsTools, name: runName }: Setup): SpokenTools {
  const calls: SimulatedCall[] = []
  /** Those that were answered and are not written down yet. */
  const answered: { name: string; by: SimulatedCall['answeredBy'] }[] = []
  let isTransferred = false
  const { builtIn, ownTool } = answeringTools(results, {
    runsTools,
    answered: (name, by) => void answered.push({ name, by }),
  })

  /** The call as its session has it, but that nobody is rung, and that another agent has tools like these. */
  function harmless(call: ToolCall): ToolCall {
    const { controls } = call
    return {
      ...{ tenant: call.tenant, callSid: call.callSid, sessionId: call.sessionId, streamSid: call.streamSid },
      ...{ agentName: call.agentName, customerPhone: call.customerPhone },
      callId: `${runName}-${call.callId ?? answered.length}`,
      controls: {
        async transfer({ target }) {
          expectTarget(tenant, target)
          isTransferred = true
        },
        press: (keys) => controls.press(keys),
        pauseRecording: () => tenant.compliance.record_calls,
        escalated: () => undefined,
        toolsCalled: async () => controls.toolsCalled?.(),
        handOff: (agent, { own: itsOwn, ...others }) =>
          controls.handOff(agent, { own: itsOwn.map((tool) => inCall(ownTool(tool))), ...others }),
      },
    }
  }

  const inCall = (tool: Tool): Tool => ({
    ...tool,
    run: (args, call, signal) => tool.run(args, harmless(call), signal),
  })

  return {
    builtIns: builtIns.map((tool) => inCall(builtIn(tool))),
    own: own.map((tool) => inCall(ownTool(tool))),
    calls,
    get isTransferred() {
      return isTransferred
    },
    done({ name, argumentsText, result, status }) {
      if (result === null) return
      const at = answered.findIndex((each) => each.name === name)
      // Of arguments that do not fit nobody was asked.
      const by = at === -1 ? 'nobody' : (answered.splice(at, 1)[0]?.by ?? 'nobody')
      const written = { name: storable(name), arguments: storable(argumentsText), result: storable(result) }
      calls.push({ ...written, status, answeredBy: by })
    },
  }
}
