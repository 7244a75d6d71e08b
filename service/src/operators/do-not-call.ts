import { enqueue, type NewEvent } from '../delivery/enqueue.ts'
import type { Actor } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { newId, type TenantId } from '../kernel/ids.ts'
import { maskPhone } from '../kernel/masks.ts'
import { type Page, type PageRequest, toPage } from '../kernel/pages.ts'
import { isPhoneNumber, type PhoneNumber, phoneFault } from '../kernel/phone.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { storable } from '../records/storable.ts'
import { audit } from '../tenancy/audit-log.ts'
import { holdKnownTenant, knownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { cancelTasksLeft, cancelTasksOf, type Unwanted } from './cancel-tasks-of.ts'
import { showDncEntry } from './do-not-call-shape.ts'
import {
  type DncEntryId,
  type DncEntryRow,
  deleteDncEntry,
  findDncEntry,
  listDncEntries,
  upsertDncEntry,
} from './do-not-call-store.ts'

/** A number to be listed. Null is what nobody said. */
export type NewDncEntry = { phone: PhoneNumber; reason: string | null; source: string | null }

/** The numbers that tenants must not call. A change counts from the next call on, on every node. */
export type DoNotCall = {
  /** Newest first. */
  list(tenantId: TenantId, page: PageRequest): Promise<Page<DncEntryRow>>
  /** @throws AppError `not_found` when the number is not listed. */
  get(tenantId: TenantId, phone: string): Promise<DncEntryRow>
  /**
   * Lists a number and tells the tenant; its callback tasks that wait are cancelled. One that is listed already stays so since
   * when it was; a reason or source that is given replaces the one that it had, of which nobody is told. `isWish`: as with
   * `listNumber`; it is none.
   *
   * @throws AppError `not_found` for a deleted tenant.
   */
  add(tenantId: TenantId, entry: NewDncEntry & { isWish?: boolean }): Promise<DncEntryRow>
  /** Takes a number off the list, tells the tenant, notes who did so, and returns the entry. @throws AppError `not_found`. */
  remove(tenantId: TenantId, phone: string, by: Actor): Promise<DncEntryRow>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
}

export function makeDoNotCall({ db, clock, log, tenants }: Deps): DoNotCall {
  /** The tenant is asked for before: nothing but the database is waited for inside. */
  async function change<T>(tenantId: TenantId, work: (tx: Tx, tenant: TenantRuntime) => Promise<T>): Promise<T> {
    const tenant = await knownTenant(tenants, tenantId)
    return db.transaction().execute(async (tx) => {
      await holdKnownTenant(tx, tenantId)
      return work(tx, tenant)
    })
  }

  return {
    async list(tenantId, page) {
      const rows = await listDncEntries(db, tenantId, page)
      return toPage(rows, page.limit, (row) => ({ createdAt: row.created_at, id: row.id }))
    },
    async get(tenantId, phone) {
      return (await findDncEntry(db, tenantId, phone)) ?? refuseUnlisted(phone)
    },
    async add(tenantId, { isWish = false, ...entry }) {
      const { listed, left } = await change(tenantId, async (tx, tenant) => {
        const { listed, unwanted } = await listNumber(tx, tenant, { ...entry, isWish }, new Date(clock.now()))
        return { listed, left: unwanted && (() => cancelTasksLeft({ db, clock, log }, tenant, unwanted)) }
      })
      await left?.()
      return listed
    },
    remove: (tenantId, phone, by) =>
      change(tenantId, async (tx, tenant) => {
        const entry = (await deleteDncEntry(tx, tenantId, phone)) ?? refuseUnlisted(phone)
        const at = new Date(clock.now())
        await enqueue(tx, tenant, [told('dnc.removed', entry)], at)
        const before = { phone: maskPhone(entry.phone) }
        await audit(tx, { by, action: 'dnc.removed', tenantId, targetId: entry.id, before, at })
        return entry
      }),
  }
}

/**
 * `DoNotCall.add`, in the caller's transaction. `isWish`: somebody has just said so, and the tasks of a number that was listed
 * before are cancelled, too, though such a callback may have been asked for since.
 *
 * @returns its entry; and whose tasks were cancelled, for `cancelTasksLeft` once the transaction is over, null where none were to be.
 */
export async function listNumber(
  tx: Tx,
  tenant: TenantRuntime,
  { phone, reason, source, isWish }: NewDncEntry & { isWish: boolean },
  now: Date,
): Promise<{ listed: DncEntryRow; unwanted: Unwanted | null }> {
  const id = newId<DncEntryId>(now.getTime())
  // A wish not to be called is not lost to a character in the words of a model.
  const said = { reason: reason && storable(reason), source }
  const listed = await upsertDncEntry(tx, tenant.tenant_id, { id, phone, ...said, created_at: now })
  const isNew = listed.id === id
  if (isNew) await enqueue(tx, tenant, [told('dnc.added', listed)], now)
  if (!(isNew || isWish)) return { listed, unwanted: null }
  await cancelTasksOf(tx, tenant, { phone, operator: source }, now)
  // By another node's clock it may have been listed later than now.
  const listedAt = listed.created_at > now ? listed.created_at : now
  return { listed, unwanted: { phone, operator: source, listedAt } }
}

function told(event: 'dnc.added' | 'dnc.removed', entry: DncEntryRow): NewEvent {
  return { event, subject: null, payload: { entry: showDncEntry(entry) } }
}

/** Of what is written as no number is, "not on the list" would be taken for leave to call. */
function refuseUnlisted(phone: string): never {
  const unlisted = 'The number is not on the do-not-call list.'
  const written = `Nothing written like this can be on the do-not-call list: it ${phoneFault(phone)}.`
  throw new AppError('not_found', isPhoneNumber(phone) ? unlisted : written)
}
