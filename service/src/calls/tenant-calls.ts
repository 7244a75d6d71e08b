import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { TenantCalls } from '../tenancy/tenant-removal.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveCalls } from '../voice/live-calls.ts'
import type { CarrierCalls } from '../voice/session-builder.ts'
import type { CallStatuses } from './record-status.ts'
import { listUnfinished } from './tenant-calls-store.ts'

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  /** Those of all nodes. */
  live: Pick<LiveCalls, 'list' | 'act'>
  carrierCalls: Pick<CarrierCalls, 'hangUp'>
  statuses: Pick<CallStatuses, 'cancelUnbegun'>
}

/** Agents get this long for their last sentence; then the carriers are asked to end what is left. */
const LAST_WORDS_MS = 5_000
const OVER_WITHIN_MS = 10_000
const LOOK_INTERVAL_MS = 200

/** What has to be known and done of the calls of a tenant that is to be deleted. */
export function makeTenantCalls({ db, clock, log, tenants, live, carrierCalls, statuses }: Deps): TenantCalls {
  /** What becomes of them is looked at, and not waited for: a carrier, or another node, may take its time. */
  async function endStreamed(tenantId: TenantId): Promise<Set<string>> {
    const calls = await live.list(tenantId)
    const end = { action: 'end_call', reason: 'The tenant is deleted.' }
    // One that is ending already, or is over, needs nothing more.
    const warn = (err: unknown) => log.warn({ err }, 'a call was not ended')
    for (const { stream_sid } of calls) void live.act(tenantId, stream_sid, end).catch(warn)
    return new Set(calls.map(({ call_sid }) => call_sid))
  }

  async function hangUp(tenant: TenantRuntime, isMeant: (callSid: string) => boolean): Promise<void> {
    for (const { callSid, direction, status } of await listUnfinished(db, tenant.tenant_id)) {
      if (callSid === null || !isMeant(callSid)) continue
      if (direction === 'browser') {
        // It has no carrier; one whose page never came has nobody else to end it, either.
        await statuses.cancelUnbegun(tenant.tenant_id, callSid)
        continue
      }
      // One in which somebody talked is over once its carrier has ended it; how one ended that rang that says by itself.
      void carrierCalls.hangUp(tenant, callSid, status === 'in-progress' ? async () => true : undefined)
    }
  }

  async function over(tenantId: TenantId, untilMs: number): Promise<boolean> {
    for (;;) {
      const isStreamed = (await live.list(tenantId)).length > 0
      if (!isStreamed && (await listUnfinished(db, tenantId)).length === 0) return true
      if (clock.monotonicMs() >= untilMs) return false
      await new Promise<void>((resolve) => clock.after(LOOK_INTERVAL_MS, resolve))
    }
  }

  return {
    count: async (handle, tenantId) => (await listUnfinished(handle, tenantId)).length,
    async end(tenantId) {
      const tenant = await tenants.get(tenantId)
      if (!tenant) return true
      const beganMs = clock.monotonicMs()
      const streamed = await endStreamed(tenantId)
      await hangUp(tenant, (callSid) => !streamed.has(callSid))
      if (await over(tenantId, beganMs + LAST_WORDS_MS)) return true
      await hangUp(tenant, () => true)
      if (await over(tenantId, beganMs + OVER_WITHIN_MS)) return true
      log.warn({ tenant_id: tenantId }, 'a tenant is deleted whose calls are not all over')
      return false
    },
  }
}
