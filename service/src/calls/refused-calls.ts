import type { Cancel, Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { REJECTED } from '../records/call-values.ts'
import { isDatabaseTrouble } from '../records/database-trouble.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LateRefusals } from './late-refusals.ts'
import { type NotedRefusal, type RefusedCall, writeRefusal } from './write-refusal.ts'

/** Writes calls down that came in and were not taken, so that their tenants know of them. */
export type RefusedCalls = {
  /**
   * Has a call written down, with its end and its events, 20 s later: by then no other process takes it any more. A call that is
   * known by then stays as it is. What the database does not take is kept on the disk until it does; where the disk takes nothing
   * either it is only logged. What comes while 1,000 wait is not written down at all, nor what a tenant rejects while 200 such
   * calls do: then of the tenant that has the most of them the last one gives its place to one of a tenant that has fewer. Never throws.
   */
  note(tenant: TenantRuntime, call: RefusedCall): void
  /** Its carrier has asked again, and it is taken: nothing is written down. */
  taken(tenant: TenantRuntime, callSid: string): void
  /** Ends a call at once that was entered after its caller had been told that it is not taken. Never rejects. */
  endEntered(tenant: TenantRuntime, call: RefusedCall): Promise<void>
  /**
   * Whose call it is; empty for one that was not noted here, or is written down. It may be that several have one of this id: whoever
   * knows that of another tenant's call can have its own carrier account sign it.
   */
  tenantsOf(callSid: string): TenantId[]
  /** Somebody else has answered the tenant's call in our place: nobody has missed it. Only of what is not written down. */
  served(tenantId: TenantId, callSid: string): void
  /** Writes what waits, to the disk what the database does not take, and takes nothing more. */
  close(): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  late: Pick<LateRefusals, 'take' | 'find'>
  maxWaiting?: number
}

type Waiting = { tenant: TenantRuntime; noted: NotedRefusal; dueMs: number }

/** A carrier that does not get our answer asks another process, for 15 s and a little longer: that one may have room. */
const WRITTEN_AFTER_MS = 20_000
/** However many calls are turned away, to write them down costs no more than 50 a second. */
const MAX_WAITING = 1_000
/** Calls that a tenant does not want may come in floods, and must not take the places of those that it has missed. */
const REJECTED_SHARE = 0.2

export function makeRefusedCalls(deps: Deps): RefusedCalls {
  return new WaitingRefusals(deps)
}

class WaitingRefusals implements RefusedCalls {
  readonly #deps: Deps
  /** By call, those first that are due first; until they are written, or kept elsewhere. */
  readonly #waiting = new Map<string, Waiting>()
  readonly #ending = new Set<Promise<void>>()
  #cancel: Cancel | null = null
  #writing: Promise<void> | null = null
  #isClosed = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  note(tenant: TenantRuntime, call: RefusedCall): void {
    const { maxWaiting = MAX_WAITING } = this.#deps
    const key = keyOf(tenant, call)
    if (this.#isClosed || this.#waiting.has(key)) return
    const isRejection = call.why === REJECTED
    if (isRejection && !this.#makeRoom(tenant, this.#rejections(), maxWaiting * REJECTED_SHARE)) return
    if (!this.#makeRoom(tenant, [...this.#waiting.values()], maxWaiting)) return
    this.#waiting.set(key, this.#toWrite(tenant, call))
    this.#writeLater()
  }

  #rejections(): Waiting[] {
    return [...this.#waiting.values()].filter(({ noted }) => noted.call.why === REJECTED)
  }

  /** Whether there is room for one more of the tenant beside those: a flood of calls to one tenant keeps nobody else's from being written down. */
  #makeRoom({ tenant_id: tenantId }: TenantRuntime, beside: Waiting[], most: number): boolean {
    if (beside.length < most) return true
    const byTenant = Map.groupBy(beside, ({ noted }) => noted.tenantId)
    const [flood = []] = [...byTenant.values()].toSorted((a, b) => b.length - a.length)
    const last = flood.at(-1)
    if (!last || flood.length <= (byTenant.get(tenantId)?.length ?? 0) + 1) return false
    this.#waiting.delete(keyOf(last.tenant, last.noted.call))
    return true
  }

  taken(tenant: TenantRuntime, callSid: string): void {
    this.#waiting.delete(keyOf(tenant, { callSid }))
  }

  async endEntered(tenant: TenantRuntime, call: RefusedCall): Promise<void> {
    const waiting = this.#waiting.get(keyOf(tenant, call)) ?? this.#toWrite(tenant, call)
    waiting.noted.isEntered = true
    const ending = this.#write([waiting])
    this.#ending.add(ending)
    await ending
    this.#ending.delete(ending)
  }

  tenantsOf(callSid: string): TenantId[] {
    return [...new Set(this.#find(callSid).map(({ tenantId }) => tenantId))]
  }

  served(tenantId: TenantId, callSid: string): void {
    for (const noted of this.#find(callSid)) noted.isServed ||= noted.tenantId === tenantId
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel?.()
    this.#cancel = null
    await Promise.all([this.#writing, ...this.#ending])
    await this.#write([...this.#waiting.values()])
  }

  #toWrite(tenant: TenantRuntime, call: RefusedCall): Waiting {
    const { clock } = this.#deps
    const { tenant_id: tenantId } = tenant
    const noted = { tenantId, call, at: new Date(clock.now()), isEntered: false, isServed: false }
    return { tenant, noted, dueMs: clock.monotonicMs() + WRITTEN_AFTER_MS }
  }

  #find(callSid: string): NotedRefusal[] {
    const waiting = [...this.#waiting.values()].filter(({ noted }) => noted.call.callSid === callSid)
    return [...waiting.map(({ noted }) => noted), ...this.#deps.late.find(callSid)]
  }

  #writeLater(): void {
    const { clock } = this.#deps
    const [first] = this.#waiting.values()
    if (!first || this.#cancel || this.#writing || this.#isClosed) return
    this.#cancel = clock.after(Math.max(0, first.dueMs - clock.monotonicMs()), () => {
      this.#cancel = null
      const due = [...this.#waiting.values()].filter(({ dueMs }) => dueMs <= clock.monotonicMs())
      this.#writing = this.#write(due).finally(() => {
        this.#writing = null
        this.#writeLater()
      })
    })
  }

  /** One after the other: whoever talks needs the database more. Once it has not taken one it is not asked for the rest. Never rejects. */
  async #write(due: Waiting[]): Promise<void> {
    const keeping: Promise<void>[] = []
    let away: unknown = null
    for (const waiting of due) {
      const err = away ?? (await this.#tryToWrite(waiting))
      if (isDatabaseTrouble(err)) {
        away = err
        keeping.push(this.#keep(waiting, err))
      } else this.#settle(waiting, err)
    }
    await Promise.all(keeping)
  }

  /** Null, or why it failed. */
  #tryToWrite({ tenant, noted }: Waiting): Promise<unknown> {
    const { db, clock } = this.#deps
    return writeRefusal(db, tenant, noted, new Date(clock.now())).then(
      () => null,
      (err: unknown) => err,
    )
  }

  async #keep(waiting: Waiting, err: unknown): Promise<void> {
    const isKept = await this.#deps.late.take(waiting.noted)
    this.#settle(waiting, isKept ? null : err)
  }

  #settle({ tenant, noted: { call } }: Waiting, err: unknown): void {
    this.#waiting.delete(keyOf(tenant, call))
    if (err === null) return
    const fields = { err, tenant_id: tenant.tenant_id, call_sid: call.callSid }
    this.#deps.log.warn(fields, 'a call that was not taken was not written down')
  }
}

function keyOf({ tenant_id }: TenantRuntime, { callSid }: Pick<RefusedCall, 'callSid'>): string {
  return `${tenant_id} ${callSid}`
}
