import type { SignedRequest } from '../platform/telephony/port.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { Refusal } from './refusals.ts'

export type Dialled = 'through' | 'room_over' | 'busy' | 'no_answer' | 'failed'

/**
 * A carrier that asks what comes next for a call. `again`: how often in a row it was told to do that. `dialled`: what came of somebody who
 * was rung in the place of our stream, or that the room is over in which the call was with who had taken it. `isPlaced`: we had asked for
 * the call. `callerId`: whose number they see who are rung in our place, as `shownNumber` has it.
 */
export type ResumedCall = {
  callSid: string
  accountSid: string
  again?: number
  dialled?: Dialled | null
  isPlaced?: boolean | undefined
  callerId?: string | null
  signed: SignedRequest
}

/**
 * One request: whose call it turned out to be, once its signature is known to be right; in which language its agent speaks, as far as
 * that is known; whether its end is a guess; and why there was no room for it, where it came in and is not taken.
 */
export type Attempt = {
  tenant: TenantRuntime | null
  language: string | null
  isGuessed: boolean
  why: Refusal | null
}
