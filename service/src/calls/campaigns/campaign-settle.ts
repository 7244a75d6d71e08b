import type { Clock } from '../../kernel/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { SaidOnce } from '../../platform/db/said-once.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import { waitBriefly } from '../../platform/db/short-waits.ts'
import type { Log } from '../../platform/log.ts'
import { isMachine, isReached } from '../../records/answered-by.ts'
import { holdCallLogAs } from '../../records/call-log-store.ts'
import { EndedCalls, type OneCall } from '../../records/ended-calls.ts'
import { isMendedByTime } from '../../records/outbound-calls.ts'
import { holdKnownTenant } from '../../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import {
  type EndedCampaignDial,
  lastFaults,
  listEndedDialsAcrossTenants,
  settleCampaignDial,
} from './campaign-dial-store.ts'
import { completeIfDone } from './campaign-end.ts'
import { type CampaignRow, lockCampaign, updateCampaign } from './campaign-store.ts'
import { type ContactRow, completeContact, findContact, settleContact } from './contact-store.ts'

/**
 * Takes note of what became of the calls of campaigns, whoever ended them: it asks. With the last of them a campaign is completed, also
 * where it was paused meanwhile. Rejects when nobody can be asked. `ofCall`: of that call alone, if it is over and one of them; rejects when
 * note of it cannot be taken.
 */
export type SettleCampaignDials = { (): Promise<void>; ofCall(call: OneCall): Promise<void> }

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  isStopping: () => boolean
}

const NOT_NOTED = 'the end of a call of a campaign could not be taken note of'
const MINUTE_MS = 60_000
/** The breaker looks at so many calls, and not before there are so many. */
const JUDGED_CALLS = 20
const LEAST_CALLS = 5
/** That a campaign's `status_reason` names. */
const MOST_CODES = 3

export function makeSettleCampaignDials({ db, clock, log, tenants, isStopping }: Deps): SettleCampaignDials {
  const said = new SaidOnce()

  async function settleOne(ended: EndedCampaignDial): Promise<void> {
    // Asked before the transaction: the embedded database has one connection, which that owns.
    const tenant = await tenants.get(ended.tenant_id)
    if (!tenant) return
    const now = new Date(clock.now())
    await db.transaction().execute((tx) => settleIn(tx, tenant, ended, now))
  }

  const ended = new EndedCalls<EndedCampaignDial>({
    list: (page) => listEndedDialsAcrossTenants(db, page),
    takeNote: (dial) => settleOne(dial).then(() => said.done()),
    failed: ({ tenant_id }, err) => said.failed(err, () => log.warn({ err, tenant_id }, NOT_NOTED)),
    isStopping,
  })
  const ofCall = async (of: OneCall) => {
    for (const dial of await listEndedDialsAcrossTenants(db, { limit: 1, after: null, of })) await settleOne(dial)
  }
  return Object.assign(() => ended.look(), { ofCall })
}

/** What a call has come to. `isFault`: for a technical reason. `isLast`: to call again would be no use. */
type Outcome = { outcome: string; isReached: boolean; isFault: boolean; isLast: boolean }

async function settleIn(tx: Tx, tenant: TenantRuntime, ended: EndedCampaignDial, now: Date): Promise<void> {
  const { tenant_id: tenantId, campaign_id, contact_id } = ended
  await waitBriefly(tx)
  await holdKnownTenant(tx, tenantId)
  const campaign = await lockCampaign(tx, tenantId, campaign_id)
  const outcome = outcomeOf(ended)
  const contact = await findContact(tx, tenantId, contact_id)
  // The last one is to be over first: what it has come to is all that counts, unless this one has come to more.
  if (contact?.status === 'dialing' && isBeforeLast(contact, ended)) return
  // One that was given up may be its carrier's after all, since it was listed.
  if (!campaign || !(await holdCallLogAs(tx, tenantId, ended.call_log_id, ended.status))) return
  if (!(await settleCampaignDial(tx, ended, { now, isFault: outcome.isFault }))) return
  if (!contact) return
  const noted = { outcome: outcome.outcome, updated_at: now }
  if (!isBeforeLast(contact, ended)) {
    // Counted when it began, which it did not if the carrier has not taken it.
    const attempts = contact.attempts - (isMendedByTime(ended.error_code) ? 1 : 0)
    const after = afterCall(campaign, { ...outcome, attempts, now })
    await settleContact(tx, tenantId, contact_id, { ...after, attempts, ...noted })
  } else if (outcome.isReached) await completeContact(tx, tenantId, contact_id, noted)
  // Where nobody is left, there is nothing to be kept from.
  if (await completeIfDone(tx, tenant, campaign, now)) return
  if (campaign.status === 'running') await judge(tx, campaign, now)
}

/** Whether the call was given up, its contact called again, and it was its carrier's after all. */
function isBeforeLast({ last_call_log_id }: ContactRow, { call_log_id }: EndedCampaignDial): boolean {
  return last_call_log_id !== call_log_id
}

/** Without a word of the carrier's for who answered, it was a person; whom no agent could talk to, nobody has reached. */
function outcomeOf(ended: EndedCampaignDial): Outcome {
  const { status, answered_by, error_code, had_no_agent, ended_with_us } = ended
  const inVain = (outcome: string) => ({ outcome, isReached: false, isFault: false, isLast: false })
  // What our own process has cut off says nothing of the campaign.
  const failed = { ...inVain('failed'), isFault: !ended_with_us }
  if (had_no_agent) return failed
  switch (status) {
    case 'completed':
      if (isReached(answered_by)) return { ...inVain('reached'), isReached: true }
      return hasMessage(ended) ? { ...inVain('message_left'), isReached: true } : inVain('voicemail')
    case 'busy':
      return inVain('busy')
    case 'no-answer':
      return inVain('no_answer')
    case 'canceled':
      return inVain('canceled')
    default:
      if (error_code === 'carrier_rejected') return { ...inVain('rejected'), isLast: true }
      return failed
  }
}

/**
 * A fax takes no message, nor does an assistant that has put nobody through; a call that broke off is not known to have left one; and where
 * all that we have found out is that a mailbox began to speak, the call was over before its message.
 */
function hasMessage(ended: EndedCampaignDial): boolean {
  const { leaves_message, has_broken_off, answered_by, answered_by_source } = ended
  if (!leaves_message || has_broken_off || !isMachine(answered_by) || answered_by === 'fax') return false
  return answered_by !== 'machine_start' || (answered_by_source ?? 'carrier') === 'carrier'
}

function afterCall(
  { status, max_attempts, retry_minutes }: CampaignRow,
  { isReached, isLast, attempts, now }: Outcome & { attempts: number; now: Date },
) {
  if (isReached) return { status: 'completed' as const }
  // A call that was given up may have been the last one of a campaign that is over since: nobody is called for that any more.
  if (isLast || attempts >= max_attempts || status === 'completed') return { status: 'failed' as const }
  if (status === 'cancelled') return { status: 'cancelled' as const }
  const minutes = retry_minutes[Math.min(Math.max(1, attempts), retry_minutes.length) - 1] ?? 0
  return { status: 'pending' as const, due_at: new Date(now.getTime() + minutes * MINUTE_MS) }
}

/** Half of the last calls failed for technical reasons: whatever it is, more calls do not mend it. */
async function judge(tx: Tx, { tenant_id, id, judged_from }: CampaignRow, now: Date): Promise<void> {
  const window = { campaignId: id, since: judged_from ?? now, limit: JUDGED_CALLS }
  const { calls, faults, codes } = await lastFaults(tx, tenant_id, window)
  if (calls < LEAST_CALLS || faults * 2 < calls) return
  const why = codes.length > 0 ? ` (${codes.slice(0, MOST_CODES).join(', ')})` : ''
  const reason = `${faults} of its last ${calls} calls failed for technical reasons${why}: start it again once that is mended.`
  await updateCampaign(tx, tenant_id, id, { status: 'paused_by_breaker', status_reason: reason, updated_at: now })
}
