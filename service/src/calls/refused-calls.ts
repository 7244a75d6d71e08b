import type { Cancel, Clock } from '../kernel/clock.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { type AgentOfCall, type CallRecord, statusReport, withReport, withSessionEnd } from '../records/call-record.ts'
import { insertCall } from '../records/call-store.ts'
import { changeCall } from '../records/change-call.ts'
import { newRecord } from '../records/sessions.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { NOTHING_SAID } from './record-status.ts'
import { NOT_TAKEN, type Refusal } from './refusals.ts'

/** A call that came in and was not taken. `agent`: who would have talked; of one that was not looked up the key alone is known. */
export type RefusedCall = {
  callSid: string
  from: string
  to: string
  why: Refusal
  agentKey: string | null
  agent: AgentOfCall | null
}

/** Writes calls down that came in and were not taken, so that their tenants know of them. */
export type RefusedCalls = {
  /**
   * Has a call written down, with its end and its events, 20 s later: by then no other process takes it any more. A call that is
   * known by then stays as it is. What the database does not take is only logged, and what comes while 1,000 wait is not written
   * down at all. Never throws.
   */
  note(tenant: TenantRuntime, call: RefusedCall): void
  /** Writes what waits, as long as the database takes it, and takes nothing more. */
  close(): Promise<void>
}

type Deps = { db: Db; clock: Clock; log: Pick<Log, 'warn'>; maxWaiting?: number }

type Noted = { tenant: TenantRuntime; call: RefusedCall; at: Date; dueMs: number }

/** A carrier that does not get our answer asks another process, for 15 s and a little longer: that one may have room. */
const WRITTEN_AFTER_MS = 20_000
/** However many calls are turned away, to write them down costs no more than 50 a second. */
const MAX_WAITING = 1_000

export function makeRefusedCalls({ db, clock, log, maxWaiting = MAX_WAITING }: Deps): RefusedCalls {
  /** By call, those first that are due first. */
  const waiting = new Map<string, Noted>()
  let cancel: Cancel | null = null
  let writing: Promise<void> | null = null
  let isClosed = false

  /** One after the other: whoever talks needs the database more. Never rejects. */
  async function writeDue(): Promise<void> {
    for (const [key, noted] of waiting) {
      if (!isClosed && noted.dueMs > clock.monotonicMs()) return
      waiting.delete(key)
      if (!(await write(noted)) && isClosed) return
    }
  }

  async function write({ tenant, call, at }: Noted): Promise<boolean> {
    try {
      await db.transaction().execute((tx) => writeIn(tx, tenant, call, { at, now: new Date(clock.now()) }))
      return true
    } catch (err) {
      log.warn(
        { err, tenant_id: tenant.tenant_id, call_sid: call.callSid },
        'a call that was not taken was not written down',
      )
      return false
    }
  }

  function writeLater(): void {
    const [first] = waiting.values()
    if (!first || cancel || writing || isClosed) return
    cancel = clock.after(Math.max(0, first.dueMs - clock.monotonicMs()), () => {
      cancel = null
      writing = writeDue().finally(() => {
        writing = null
        writeLater()
      })
    })
  }

  return {
    note(tenant, call) {
      const key = `${tenant.tenant_id} ${call.callSid}`
      if (isClosed || waiting.size >= maxWaiting || waiting.has(key)) return
      waiting.set(key, { tenant, call, at: new Date(clock.now()), dueMs: clock.monotonicMs() + WRITTEN_AFTER_MS })
      writeLater()
    },
    async close() {
      isClosed = true
      cancel?.()
      cancel = null
      await writing
      await writeDue()
    },
  }
}

async function writeIn(
  tx: Tx,
  tenant: TenantRuntime,
  call: RefusedCall,
  { at, now }: { at: Date; now: Date },
): Promise<void> {
  const before = recordOf(tenant, call, at)
  const entered = await insertCall(tx, { record: before, lookAt: at })
  if (!entered) return
  await changeCall(tx, tenant, { call: entered, before, now, change: (record) => ended(record, call.why, at) })
}

function recordOf(tenant: TenantRuntime, { agent, agentKey, why: _why, ...call }: RefusedCall, at: Date): CallRecord {
  const speaker = agent ?? { agentKey, agentName: '', versionId: null, versionNumber: null }
  const known = { ...call, direction: 'inbound' as const, orgId: null, agent: speaker, metadata: {} }
  const { log, session } = newRecord(tenant, known, at)
  const agent_name = agent?.agentName ?? null
  return { log: { ...log, agent_name }, session: { ...session, agent_name } }
}

function ended(record: CallRecord, why: Refusal, at: Date): CallRecord {
  const { status, reason } = NOT_TAKEN[why]
  const report = { ...statusReport(status, at), errorCode: why, errorMessage: reason }
  return withSessionEnd(withReport(record, report), { ...NOTHING_SAID, endReason: 'rejected', at })
}
