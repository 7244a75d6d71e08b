import type { TenantId } from '../kernel/ids.ts'
import type { LiveCalls, ShownAction } from './live-calls.ts'

/** Where what was done is kept. Never rejects. */
export type KeepAction = (action: Omit<ShownAction, 'tenant_id' | 'created_at'> & KeptStamps) => Promise<void>
type KeptStamps = { tenant_id: TenantId; created_at: Date }

/** The same calls, of which every action is kept before it is answered, on the node that was asked for it. */
export function keepingActions(calls: LiveCalls, keep: KeepAction): LiveCalls {
  return {
    ...calls,
    async act(tenantId, streamSid, asked) {
      const action = await calls.act(tenantId, streamSid, asked)
      await keep({ ...action, tenant_id: tenantId, created_at: new Date(action.created_at) })
      return action
    },
  }
}
