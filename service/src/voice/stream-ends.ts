import type { TenantId } from '../kernel/ids.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'

/** Who knows what carriers were asked to do, and have not answered yet. None of these rejects. */
export type CarrierAnswers = {
  /** Resolves when nothing is on its way for the call any more: its carrier has answered, or was given up. */
  answered(tenant: TenantRuntime, callSid: string): Promise<void>
  /** Resolves when nothing is on its way for those calls any more for which there is something now. */
  allAnswered(): Promise<void>
}

/** A call that no session was begun for, though the records had given it to a stream; `isOver`: its carrier has ended it. */
export type AbandonedCall = { tenantId: TenantId; callSid: string; epoch: number; isOver: boolean }

/**
 * What came of asking the carrier to end a call. `ended`: it says so; `left`: to the stream that has taken the call; `failed`: nobody
 * knows whether the call goes on; `no_account`: its tenant has none at the carrier, and nobody will know.
 */
export type HangUpOutcome = 'ended' | 'left' | 'failed' | 'no_account'
