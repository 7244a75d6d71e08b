import type { CallVerb } from '../platform/telephony/port.ts'
import { REJECTED } from '../records/call-values.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { carrierSentence } from './carrier-words.ts'
import { sayAndGo } from './hang-up.ts'
import { NOT_TAKEN, type Refusal } from './refusals.ts'

type RefusalWords = {
  why: Refusal
  /** In which the agent speaks who would have talked; null where that is not known. */
  language: string | null
  /** Whose number they see who are rung, as `shownNumber` has it. */
  callerId: string | null
  /** The address of call-resume, which is told whether anybody has answered in our place. */
  resumeUrl: string
}

/** What the carrier of a call that came in and is not taken is told: a number that is rung in our place, or a sentence. */
export function refusalVerbs(
  { telephony }: TenantRuntime,
  { why, language, callerId, resumeUrl }: RefusalWords,
): CallVerb[] {
  // Whom its tenant does not want is rung nowhere.
  if (why === REJECTED) return [{ type: 'hangup' }]
  const { fallback_number: number } = telephony
  const about = NOT_TAKEN[why].status === 'busy' ? ('busy' as const) : ('untaken' as const)
  const sentence = carrierSentence((words) => words[about], language)
  return sayAndGo(number === null ? sentence : null, number, { callerId, action: resumeUrl })
}
