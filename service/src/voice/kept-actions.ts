import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { newId, type TenantId } from '../kernel/ids.ts'
import type { Redactor } from '../kernel/redaction/redact.ts'
import type { NoteTakeover } from './lines/line-socket.ts'
import { type AskedAction, isEnding } from './live-actions.ts'
import type { LiveCalls, ShownAction } from './live-calls.ts'

/** Where what was done is kept. Rejects for a note alone. */
export type KeepAction = (action: Omit<ShownAction, 'tenant_id' | 'created_at'> & KeptStamps) => Promise<void>
type KeptStamps = { tenant_id: TenantId; created_at: Date }

/** Marks a call as escalated. Repeating it changes nothing. */
export type Escalate = (tenantId: TenantId, callSid: string, target: string | null) => Promise<void>

/**
 * The same calls, of which every action is kept before it is answered, on the node that was asked for it. An escalation that cannot
 * be written down is not one, and neither is a note: whoever asked for it is told, and may ask again. So an escalation is written down
 * before anybody who watches is told of it. What a carrier did not do is kept, too.
 */
export function keepingActions(
  calls: LiveCalls,
  { keep, escalate }: { keep: KeepAction; escalate: Escalate },
): LiveCalls {
  async function escalated(tenantId: TenantId, streamSid: string, { target }: AskedAction): Promise<void> {
    const { call_sid, state } = await calls.get(tenantId, streamSid)
    // Of one that is ending it is refused.
    if (!isEnding(state)) await escalate(tenantId, call_sid, target ?? null)
  }

  return {
    ...calls,
    async act(tenantId, streamSid, asked) {
      if (asked.action === 'escalate') await escalated(tenantId, streamSid, asked)
      const { fault, ...action } = await calls.act(tenantId, streamSid, asked)
      await keep({ ...action, tenant_id: tenantId, created_at: new Date(action.created_at) })
      if (fault !== undefined) throw new AppError('upstream_failed', fault)
      return action
    },
  }
}

/** The same, without the personal data of tenants that want none kept. `redactorOf` never rejects. */
export function redactingActions(keep: KeepAction, redactorOf: (tenantId: TenantId) => Promise<Redactor>): KeepAction {
  return async (action) => {
    const { reason, note } = action
    await keep({ ...action, ...(await redactorOf(action.tenant_id)).value({ reason, note }) })
  }
}

/** Keeps that somebody took a call over by their line, and that they left it. */
export function noteTakeovers(keep: KeepAction, clock: Clock): NoteTakeover {
  return ({ action, grant, callSid, reason, id = newId<string>(clock.now()) }) =>
    keep({
      ...{ id, tenant_id: grant.tenant, stream_sid: grant.stream_sid, call_sid: callSid },
      ...{ action, supervisor: grant.supervisor, target: null, reason, note: null, metadata: {} },
      created_at: new Date(clock.now()),
    })
}
