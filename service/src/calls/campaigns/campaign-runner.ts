import { type Cancel, type Clock, waitAtMost } from '../../kernel/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { isOnlyLate } from '../../platform/db/errors.ts'
import { SaidOnce } from '../../platform/db/said-once.ts'
import type { Db } from '../../platform/db/schema.ts'
import type { Log } from '../../platform/log.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import type { ClaimNext } from './campaign-claim.ts'
import type { DialContact } from './campaign-dial.ts'
import { type CampaignId, listRunningAcrossTenants, type RunningCampaign } from './campaign-store.ts'

/** Works on all campaigns that run, on every node: nodes share the work by taking contacts. */
export type CampaignRunner = {
  start(): void
  /** Calls nobody any more. */
  stop(): void
  /** Resolves when what is on its way is done, or given up; never rejects. */
  close(): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  /** Whether this node can have somebody called now. */
  hasRoom(): Promise<boolean>
  claimNext: ClaimNext
  dialContact: DialContact
  /** Takes note of what became of calls that are over. */
  settle(): Promise<void>
}

/** Where nothing runs, nothing is due, or there is no room here. */
const LOOK_INTERVAL_MS = 1_000
const SHORTEST_MS = 50
const SETTLE_INTERVAL_MS = 2_000
const MAX_CAMPAIGNS = 200
/** Calls that are being placed at a time: each waits for a carrier. */
const MAX_PLACING = 50
const CLOSE_WITHIN_MS = 2_000
/** One that could not be worked on: it stays due, and others are not. */
const LEFT_ALONE_MS = 5_000
/** One whose rows others hold: its tenant's others come before it again. */
const HELD_ALONE_MS = 2 * LEFT_ALONE_MS

export function makeCampaignRunner(deps: Deps): CampaignRunner {
  const { clock, log } = deps
  const placing = new Set<Promise<void>>()
  let cancel: Cancel = () => undefined
  let looking: Promise<void> = Promise.resolve()
  let isStopping = false
  let isFailing = false
  const look = makeLook(deps, { placing, isStopping: () => isStopping })

  function lookIn(ms: number): void {
    if (isStopping) return
    cancel = clock.after(ms, () => {
      looking = look()
        .then(
          (nextMs) => {
            isFailing = false
            return nextMs
          },
          (err: unknown) => {
            // Once, and not each second while the database is away.
            if (!isFailing) log.warn({ err }, 'campaigns could not be looked after')
            isFailing = true
            return LOOK_INTERVAL_MS
          },
        )
        .then(lookIn)
    })
  }

  return {
    start: () => lookIn(0),
    stop() {
      isStopping = true
      cancel()
    },
    async close() {
      isStopping = true
      cancel()
      const all = looking.then(() => Promise.all(placing))
      await waitAtMost(clock, all, CLOSE_WITHIN_MS)
    },
  }
}

/** Works on what is due; `placing` are the calls that are being placed. The function returns when to look again, in ms. */
function makeLook(
  deps: Deps,
  { placing, isStopping }: { placing: Set<Promise<void>>; isStopping: () => boolean },
): () => Promise<number> {
  const { db, clock, log, tenants } = deps
  let settledMs = Number.NEGATIVE_INFINITY
  /** Campaigns that could not be worked on, and until when they are left alone. */
  const aloneUntilMs = new Map<CampaignId, number>()
  const said = new SaidOnce()

  async function listToWorkOn(limit: number): Promise<RunningCampaign[]> {
    for (const [id, untilMs] of aloneUntilMs) if (untilMs <= clock.monotonicMs()) aloneUntilMs.delete(id)
    const running = await listRunningAcrossTenants(db, limit + aloneUntilMs.size)
    return running.filter(({ id }) => !aloneUntilMs.has(id))
  }

  /**
   * What is wrong with one holds up no other one; a tenant whose rows others hold is waited for once, whatever else it runs, and then
   * does that first.
   */
  async function workOn(campaign: RunningCampaign, running: RunningCampaign[]): Promise<void> {
    try {
      await callNext(campaign)
      said.done()
    } catch (err) {
      const ofTenant = running.filter(({ tenant_id }) => tenant_id === campaign.tenant_id)
      const nowMs = clock.monotonicMs()
      const isHeld = isOnlyLate(err)
      for (const { id } of isHeld ? ofTenant : [campaign]) aloneUntilMs.set(id, nowMs + LEFT_ALONE_MS)
      if (isHeld) aloneUntilMs.set(campaign.id, nowMs + HELD_ALONE_MS)
      const fields = { tenant_id: campaign.tenant_id, campaign_id: campaign.id }
      said.failed(err, () => log.warn({ err, ...fields }, 'a campaign was not worked on'))
    }
  }

  async function callNext(campaign: RunningCampaign): Promise<void> {
    const tenant = await tenants.get(campaign.tenant_id)
    const claimed = tenant && (await deps.claimNext(tenant, campaign))
    if (!claimed) return
    const call = deps.dialContact(tenant, claimed).finally(() => placing.delete(call))
    placing.add(call)
  }

  return async () => {
    if (clock.monotonicMs() - settledMs >= SETTLE_INTERVAL_MS) {
      settledMs = clock.monotonicMs()
      await deps.settle()
    }
    const running = await listToWorkOn(MAX_CAMPAIGNS)
    const due = running.filter(({ next_dial_at }) => next_dial_at.getTime() <= clock.now())
    for (const campaign of due) {
      if (isStopping() || placing.size >= MAX_PLACING) break
      if (aloneUntilMs.has(campaign.id)) continue
      // Another node may have room: the campaign waits for none.
      if (!(await deps.hasRoom())) return LOOK_INTERVAL_MS
      await workOn(campaign, running)
    }
    const [next] = (await listToWorkOn(1)).map(({ next_dial_at }) => next_dial_at.getTime() - clock.now())
    return Math.min(LOOK_INTERVAL_MS, Math.max(SHORTEST_MS, next ?? LOOK_INTERVAL_MS))
  }
}
