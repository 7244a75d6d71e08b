import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { secretText } from '../kernel/ids.ts'
import { takeKey } from '../platform/db/request-keys.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { CarrierAccount } from '../platform/telephony/port.ts'
import type { Carriers } from '../platform/telephony/registry.ts'
import { isDatabaseTrouble } from '../records/database-trouble.ts'
import { type QueuedCall, queueCall } from '../records/outbound-calls.ts'
import { holdKnownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveCapacity } from '../voice/live-capacity.ts'
import { type PlacedCall, submissionUnknown } from './dial-answer.ts'
import type { DialGate } from './dial-gate.ts'
import { insertDial } from './dial-store.ts'
import { LAST_REQUESTS_MS } from './hang-up.ts'
import { DIAL_KEYS } from './idempotency-store.ts'
import { type DialOutcome, settleDial } from './settle-dial.ts'
import { makeSubmit, RING_SECONDS } from './submit-dial.ts'
import type { DialAddresses, WantedCall } from './wanted-call.ts'

/** Places calls. */
export type Dialing = {
  /**
   * Passes the gate, writes the call down, asks the carrier for it and writes down what it said: at most one call at the
   * carrier, whatever fails on the way.
   *
   * @returns the call, also one that was not placed; null when its key was taken by another request meanwhile.
   * @throws AppError with the gate's code when that refuses the call, and nothing was written; `submission_unknown` when
   *   what the carrier said could not be written down, or is known of another call; `unavailable` when nothing was.
   */
  place(tenant: TenantRuntime, account: CarrierAccount, call: WantedCall): Promise<PlacedCall | null>
  /** Gives up what carriers do not answer within a second, and waits until that is written down. */
  close(): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'warn' | 'error'>
  carriers: Carriers
  gate: DialGate
  capacity: Pick<LiveCapacity, 'ring' | 'rang'>
  addresses: DialAddresses
}

const REF_BYTES = 24
/** A dial that is still open by then was left behind by its process, or the carrier has said nothing. */
export const LOOK_AFTER_MS = 30_000
/** As long as a phone may ring, and what its carrier needs before and after, asked three times. */
const RING_MS = (RING_SECONDS + 45) * 1_000

export function makeDialing(deps: Deps): Dialing {
  const { db, clock, log, gate, capacity } = deps
  const submit = makeSubmit(deps)
  const running = new Set<Promise<unknown>>()

  async function intend(tx: Tx, tenant: TenantRuntime, dialRef: string, call: WantedCall): Promise<PlacedCall | null> {
    const { tenant_id: tenantId } = tenant
    const now = new Date(clock.now())
    await holdKnownTenant(tx, tenantId)
    if (call.key) {
      const isTaken = await takeKey(tx, DIAL_KEYS, tenantId, { ...call.key, madeId: dialRef, now })
      if (!isTaken) return null
    }
    await expectLetThrough(tx, tenant, call)
    const queued = await queueCall(tx, tenant, queuedCall(call), now)
    const dueAt = new Date(now.getTime() + LOOK_AFTER_MS)
    const { greeting, onMachine: on_machine = null } = call
    const dial = { dial_ref: dialRef, call_log_id: queued.id, call_sid: null, greeting, on_machine }
    await insertDial(tx, tenantId, { ...dial, state: 'dialing', created_at: now, due_at: dueAt })
    await call.onQueued?.(tx, queued)
    return { state: 'dialing', log: queued }
  }

  /** The gravest names the error, which tells the others too: whoever mends one is not to learn of the next only then. */
  async function expectLetThrough(tx: Tx, tenant: TenantRuntime, call: WantedCall) {
    const { kind, from, to, metadata, hours = null } = call
    const refusals = await gate.refusals(tx, tenant, { kind, from, to, metadata, hours })
    const [refusal] = refusals
    if (!refusal) return
    log.info({ tenant_id: tenant.tenant_id, to, code: refusal.code }, 'a call was refused by the dial gate')
    throw new AppError(refusal.code, refusal.reason, { refusals })
  }

  async function settle(tenant: TenantRuntime, dialRef: string, outcome: DialOutcome): Promise<PlacedCall> {
    const settled = await settleDial(db, tenant, dialRef, { outcome, now: new Date(clock.now()) }).catch(
      (err: unknown) => {
        // The carrier may have the call: whoever finds it writes it down.
        if (isDatabaseTrouble(err)) throw submissionUnknown(err)
        throw err
      },
    )
    if (settled) return settled
    // The phone may ring all the same: what the carrier tells of it settles whose call it is.
    log.error(
      { tenant_id: tenant.tenant_id, outcome },
      'a dial is gone, or the carrier named it by the id of another call',
    )
    throw submissionUnknown()
  }

  async function placeNow(tenant: TenantRuntime, account: CarrierAccount, call: WantedCall) {
    const dialRef = secretText(REF_BYTES)
    let mayRing = false
    capacity.ring(dialRef, RING_MS)
    try {
      const intended = await gate.transaction(db, tenant, (tx) => intend(tx, tenant, dialRef, call))
      if (!intended) return null
      const outcome = await submit(tenant, account, { dialRef, call })
      mayRing = outcome.type !== 'failed'
      return await settle(tenant, dialRef, outcome)
    } finally {
      if (!mayRing) capacity.rang(dialRef)
    }
  }

  return {
    place(tenant, account, call) {
      const placing = placeNow(tenant, account, call).finally(() => running.delete(placing))
      running.add(placing)
      return placing
    },
    async close() {
      const cancel = clock.after(LAST_REQUESTS_MS, () => submit.giveUp())
      await Promise.allSettled(running)
      cancel()
    },
  }
}

function queuedCall({ agent, campaignId = null, placedBy = null, ...call }: WantedCall): QueuedCall {
  const { from, to, orgId, metadata, callbackTaskId } = call
  const { agentKey, agentName, versionId, versionNumber } = agent
  const speaker = { agentKey, agentName, versionId, versionNumber }
  return { from, to, orgId, metadata, callbackTaskId, campaignId, placedBy, agent: speaker }
}
