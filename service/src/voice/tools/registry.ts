import type { Clock } from '../../kernel/clock.ts'
import type { CallbackTasks } from '../../operators/callback-tasks.ts'
import type { Outcomes } from '../../records/outcomes.ts'
import { endCall } from './end-call.ts'
import { recordOutcome } from './record-outcome.ts'
import { scheduleCallback } from './schedule-callback.ts'
import type { Tool } from './tool.ts'

/** What the built-in tools work with. Without `tasks` nobody can be promised a callback. */
export type ToolDeps = { outcomes: Outcomes; tasks: CallbackTasks | null; clock: Clock }

/** Every tool that there is: a further one is a file and a line here. */
export function makeTools({ tasks, ...deps }: ToolDeps): Tool[] {
  return [endCall, recordOutcome(deps), ...(tasks ? [scheduleCallback({ ...deps, tasks })] : [])]
}

/** Those of `tools` that an agent may use, by the names in its config; names that are none are left out. */
export function toolsOf(tools: readonly Tool[], names: readonly string[]): Tool[] {
  return tools.filter(({ declaration }) => names.includes(declaration.name))
}
