import type { Clips } from '../../agents/clips.ts'
import type { ResolveAgent } from '../../agents/resolve.ts'
import type { Clock } from '../../kernel/clock.ts'
import { readNumber } from '../../kernel/dialled-number.ts'
import { costlyKind } from '../../kernel/premium-numbers.ts'
import { makeTools } from '../../voice/tools/registry.ts'
import type { TenantTools } from '../../voice/tools/tenant-tools.ts'
import type { Tool } from '../../voice/tools/tool.ts'

type Deps = {
  clock: Clock
  resolveAgent: ResolveAgent
  tenantTools: Pick<TenantTools, 'of'>
  clips: Pick<Clips, 'of'>
}

/** Stands in for the id of a callback task that nobody has made. */
const NO_TASK = 'simulated'

/**
 * The built-in tools as an agent has them in a call, whose arguments are checked and which answer as ever, and which do nothing:
 * no task is made, no number listed, no session noted, nobody told.
 */
export function makeSimulatedBuiltIns(deps: Deps): Tool[] {
  return makeTools({
    ...deps,
    costlyKind: (phone) => costlyKind(readNumber(phone)),
    outcomes: { record: async (_tenantId, _sessionId, { tags }) => [...new Set(tags)].sort() },
    kept: {
      tasks: { schedule: async (_tenant, { dueAt }) => ({ id: NO_TASK as never, due_at: dueAt }) },
      escalations: { escalate: async () => {} },
      doNotCall: { add: async () => {} },
    },
  })
}
