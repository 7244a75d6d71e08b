import type { ResolveAgent } from '../../agents/resolve.ts'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import type { Tx } from '../../platform/db/schema.ts'
import type { Log } from '../../platform/log.ts'
import type { CallLogRow } from '../../records/call-log-store.ts'
import { hasCall, lockNumber } from '../../records/live-call-store.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { onMachine } from '../../voice/stream-begin.ts'
import { accountOf } from '../carrier-account.ts'
import type { DialGate } from '../dial-gate.ts'
import type { Dialing } from '../dialing.ts'
import { NO_ACCOUNT } from '../make-call.ts'
import { outboundCaller } from '../outbound-caller.ts'
import { hasRoomToDial, type RoomAsked } from '../room-to-dial.ts'
import type { ClaimedContact } from './campaign-claim.ts'
import { insertCampaignDial } from './campaign-dial-store.ts'
import { lockCampaign } from './campaign-store.ts'
import { hoursOf, makeContactRefusals } from './contact-refusals.ts'
import { beginContactCall } from './contact-store.ts'

/**
 * Calls a contact that was claimed. That it is being called, and by which call, is written in the transaction that writes the
 * call down: so it is called once, whoever dies when, and what becomes of a call in doubt is found out as for any other. Never
 * rejects: what speaks against the call is noted on the contact, or holds the campaign up.
 */
export type DialContact = (tenant: TenantRuntime, claimed: ClaimedContact) => Promise<void>

type Deps = RoomAsked & {
  clock: Clock
  log: Pick<Log, 'error'>
  resolveAgent: ResolveAgent
  hasModel: boolean
  dialing: Pick<Dialing, 'place'>
  gate: Pick<DialGate, 'opensAt' | 'everOpens'>
}

const IN_CALL_MS = 60_000

export function makeDialContact(deps: Deps): DialContact {
  const { clock, log, dialing } = deps
  const { refused, release, stop } = makeContactRefusals(deps)

  /** @throws NoRoomHere, ClaimLost, ContactInCall, or what speaks against the call. */
  async function place(tenant: TenantRuntime, claimed: ClaimedContact): Promise<void> {
    const { campaign, contact, claim } = claimed
    const account = accountOf(tenant)
    if (account === null) return stop(claimed, NO_ACCOUNT)
    const from = campaign.from as PhoneNumber | null
    const { phone: to } = contact
    const named = { agentKey: campaign.agent_key, versionId: null, from, to, caller: to }
    const caller = await outboundCaller(deps, tenant, named)
    if (!(await hasRoomToDial(deps))) throw new NoRoomHere()
    const agent = onMachine(caller.agent, campaign.on_machine)
    const leaves_message = agent.config.voicemail.action === 'leave_message'
    await dialing.place(tenant, account, {
      ...{
        kind: 'campaign',
        from: caller.from,
        to: contact.phone,
        agent,
        metadata: contact.metadata,
        hours: hoursOf(campaign),
      },
      ...{
        orgId: null,
        greeting: null,
        callbackTaskId: null,
        key: null,
        campaignId: campaign.id,
        onMachine: campaign.on_machine,
      },
      onQueued: (tx, queued) => begin(tx, { campaign, contact, claim }, { queued, leaves_message }),
    })
  }

  /** @throws ClaimLost, ContactInCall, which undo the call. */
  async function begin(
    tx: Tx,
    { campaign, contact, claim }: ClaimedContact,
    { queued, leaves_message }: { queued: CallLogRow; leaves_message: boolean },
  ): Promise<void> {
    const { tenant_id: tenantId, id } = campaign
    const now = new Date(clock.now())
    await lockNumber(tx, tenantId, contact.phone)
    if (await hasCall(tx, tenantId, contact.phone, { now, exceptLogId: queued.id })) throw new ContactInCall()
    // Somebody may have paused it, or have seen its claim end.
    const isRunning = (await lockCampaign(tx, tenantId, id))?.status === 'running'
    const called = { token: claim.token, callLogId: queued.id, now }
    if (!isRunning || !(await beginContactCall(tx, contact, called))) throw new ClaimLost()
    const dial = { call_log_id: queued.id, campaign_id: id, contact_id: contact.id, leaves_message, attempted_at: now }
    await insertCampaignDial(tx, tenantId, dial)
  }

  return async (tenant, claimed) => {
    const fields = { tenant_id: tenant.tenant_id, campaign_id: claimed.campaign.id }
    try {
      await place(tenant, claimed).catch(async (error: unknown) => {
        if (error instanceof ClaimLost || error instanceof NoRoomHere)
          return release(claimed, {}, new Date(clock.now()))
        if (error instanceof ContactInCall)
          return release(claimed, { due_at: new Date(clock.now() + IN_CALL_MS) }, new Date(clock.now()))
        // It is written down: what became of it will be known.
        if (error instanceof AppError && error.code === 'submission_unknown') return
        if (!(error instanceof AppError)) throw error
        await refused(tenant, claimed, error)
      })
    } catch (err) {
      // The claim ends by itself.
      log.error({ err, ...fields }, 'a contact of a campaign could not be called')
    }
  }
}

/** Somebody else may call the contact now, or nobody. */
class ClaimLost extends Error {
  override readonly name = 'ClaimLost'
}

/** This node has no room any more. Another one may have some. */
class NoRoomHere extends Error {
  override readonly name = 'NoRoomHere'
}

/** The contact talks with the tenant now, or is being called. */
class ContactInCall extends Error {
  override readonly name = 'ContactInCall'
}
