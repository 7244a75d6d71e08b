import type { Tx } from '../platform/db/schema.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { countOpenCalls, lockGate } from './dial-gate-store.ts'

/** A call that somebody wants to be placed. */
export type Dial = {
  to: string
  from: string | null
  metadata: Record<string, unknown>
  kind: 'make_call' | 'dispatch' | 'campaign'
}

type DialRefusalCode =
  | 'dnc_listed'
  | 'premium_number'
  | 'country_not_allowed'
  | 'outside_calling_hours'
  | 'attempt_cap'
  | 'tenant_busy'
  | 'consent_missing'

/** What speaks against a call: a code for programs, a sentence for people. */
export type DialRefusal = { code: DialRefusalCode; reason: string }

/** What every outbound call passes before it is placed. */
export type DialGate = {
  /**
   * All that speaks against the call, the gravest first; empty: it may be placed. Asked in the transaction that writes the
   * dial down, after which no second one can slip past the same cap.
   */
  refusals(tx: Tx, tenant: TenantRuntime, dial: Dial): Promise<DialRefusal[]>
}

/** The gate: the tenant's live calls are no more than its limit. */
export function makeDialGate(): DialGate {
  return {
    async refusals(tx, { tenant_id: tenantId, limits }) {
      const { max_concurrent_calls: most } = limits
      if (most === null) return []
      await lockGate(tx, tenantId)
      if ((await countOpenCalls(tx, tenantId)) < most) return []
      return [
        { code: 'tenant_busy', reason: `${most} calls are live, which is your limit: try again when one is over.` },
      ]
    },
  }
}
