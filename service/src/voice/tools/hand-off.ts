import { Type } from 'typebox'
import type { Clips } from '../../agents/clips.ts'
import type { ResolveAgent } from '../../agents/resolve.ts'
import { stickyCaller } from '../../agents/sticky-caller.ts'
import { strict } from '../../platform/http/schemas.ts'
import type { TenantTools } from './tenant-tools.ts'
import { defineTool, type Tool, ToolRefusal } from './tool.ts'

type Deps = { resolveAgent: ResolveAgent; tenantTools: Pick<TenantTools, 'of'>; clips: Pick<Clips, 'of'> }

const PARAMETERS = strict({
  agent_key: Type.String({ minLength: 1, maxLength: 63, description: 'The key of the other agent.' }),
  summary: Type.Optional(Type.String({ maxLength: 2_000, description: 'What the other agent has to know.' })),
})

/** Lets another agent of the tenant go on with the caller. */
export function handOff({ resolveAgent, tenantTools, clips }: Deps): Tool {
  return defineTool({
    name: 'hand_off',
    description:
      'Hands the caller to another agent, who goes on in this call and knows what was said. Say before that you do so, and say nothing after it.',
    parameters: PARAMETERS,
    maxPerCall: 10,
    async run({ agent_key: agentKey, summary = '' }, { tenant, controls, customerPhone: from, callSid }) {
      const agent = await resolveAgent(tenant, { agentKey, caller: stickyCaller({ from, callSid }) })
      if (agent?.agentKey !== agentKey) throw new ToolRefusal('there is no agent with this key')
      const [own, ofAgent] = await Promise.all([
        tenantTools.of(tenant, agent.config.tools),
        clips.of(tenant, agent.config),
      ])
      // Those that are called behind this one are still the first agent's to use.
      await controls.toolsCalled?.()
      if (!controls.handOff(agent, { own, clips: ofAgent, summary }))
        throw new ToolRefusal('the call cannot be handed over now')
      return { output: { ok: true, note: 'You are this agent now. Greet the caller in a few words, and go on.' } }
    },
  })
}
