import type { Clips } from '../../agents/clips.ts'
import type { ResolveAgent } from '../../agents/resolve.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import type { Escalations } from '../../records/escalations.ts'
import type { Outcomes } from '../../records/outcomes.ts'
import { addToDnc, type DncDesk } from './add-to-dnc.ts'
import { endCall } from './end-call.ts'
import { escalateToHuman } from './escalate-to-human.ts'
import { handOff } from './hand-off.ts'
import { pauseRecording } from './pause-recording.ts'
import { recordOutcome } from './record-outcome.ts'
import { type CallbackDesk, scheduleCallback } from './schedule-callback.ts'
import { sendDtmf } from './send-dtmf.ts'
import type { TenantTools } from './tenant-tools.ts'
import type { Tool } from './tool.ts'
import { transferCall } from './transfer-call.ts'

/** What the built-in tools work with. Without `kept` nothing outlasts a call: nobody is promised a callback. */
export type ToolDeps = {
  outcomes: Outcomes
  clock: Clock
  resolveAgent: ResolveAgent
  tenantTools: Pick<TenantTools, 'of'>
  /** Of the agent to whom a call is handed. */
  clips: Pick<Clips, 'of'>
  /** Why a number is never called, or null. Not given: every number is. */
  costlyKind?(phone: PhoneNumber): string | null
  kept: { tasks: CallbackDesk; escalations: Escalations; doNotCall: DncDesk } | null
}

/** Every tool that there is: a further one is a file and a line here. */
export function makeTools({ kept, ...deps }: ToolDeps): Tool[] {
  const ofCall = [endCall, recordOutcome(deps), transferCall, sendDtmf, pauseRecording, handOff(deps)]
  if (!kept) return ofCall
  return [...ofCall, scheduleCallback({ ...deps, ...kept }), escalateToHuman(kept), addToDnc(kept)]
}

/** Those of `tools` that an agent may use, by the names in its config; names that are none are left out. */
export function toolsOf(tools: readonly Tool[], names: readonly string[]): Tool[] {
  return tools.filter(({ declaration }) => names.includes(declaration.name))
}
