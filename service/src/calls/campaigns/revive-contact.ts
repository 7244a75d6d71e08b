import type { TenantId } from '../../kernel/ids.ts'
import type { Tx } from '../../platform/db/schema.ts'
import { unsettleCampaignDial } from './campaign-dial-store.ts'
import { resumeContact } from './contact-store.ts'

/**
 * A call of a campaign was given up, and its carrier has it after all: its contact is being called again, unless there was another
 * call meanwhile; then it is told of this one only that it has reached somebody. Any other call changes nothing. `wasCounted`: it
 * was counted as an attempt though it was given up.
 */
export async function reviveContact(
  tx: Tx,
  tenantId: TenantId,
  call: { callLogId: string; wasCounted: boolean; now: Date },
): Promise<void> {
  const contactId = await unsettleCampaignDial(tx, tenantId, call.callLogId)
  if (contactId !== null) await resumeContact(tx, tenantId, contactId, call)
}
