import { enqueue } from '../delivery/enqueue.ts'
import { AtATime } from '../kernel/at-a-time.ts'
import { type Clock, othersFirst } from '../kernel/clock.ts'
import { newId, type TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import { makeLanes } from '../platform/lanes.ts'
import { holdKnownTenant, knownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { NewDncEntry } from './do-not-call.ts'
import { CSV_HEADER, DncListReader, entryLine, type ReadRow, tooLarge } from './do-not-call-csv.ts'
import { showDncEntry } from './do-not-call-shape.ts'
import { type DncEntryId, insertDncEntries, listDncEntries } from './do-not-call-store.ts'

/** What came of a list: which lines were not taken, and why; of those the first 1,000. */
export type DncImport = {
  imported: number
  /** Those that were listed before, or more than once here. They stay as they were. */
  duplicates: number
  rejected: number
  errors: { line: number; error: string }[]
}

/** Whole lists of numbers that must not be called, as CSV. */
export type DncLists = {
  /**
   * Lists the numbers of a list as it is read, some hundreds at a time, and tells the tenant of each. What was listed stays when
   * the rest cannot be read; the same list may be sent again.
   *
   * @throws AppError `not_found` for a deleted tenant, `invalid_request` for what is no list, `body_too_large`; `rate_limited` while too
   * many are read.
   */
  import(tenantId: TenantId, chunks: AsyncIterable<Buffer>): Promise<DncImport>
  /** The tenant's numbers, newest first, read as they are written. */
  export(tenantId: TenantId): AsyncGenerator<string>
}

type Deps = { db: Db; clock: Clock; tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> } }

/** A list of a hundred thousand numbers fits. */
export const MAX_LIST_BYTES = 2 * 1024 * 1024
/** Calls go on meanwhile, so no step may take long. */
const SLICE_BYTES = 2_048
const BATCH_ROWS = 200
const PAGE_ROWS = 1_000
const MAX_ERRORS = 1_000
/** Of more than these the last would not have arrived in time. */
const READ_AT_A_TIME = {
  ...{ ofTenant: 2, inAll: 16 },
  tooMany: 'Too many lists are being read: send this one once another is done.',
}

/**
 * With all connections and the processor taken, calls would find all lines busy. One more than those of a tenant, whose rows somebody
 * may hold for long: others' are stored meanwhile.
 */
const WRITTEN_AT_A_TIME = READ_AT_A_TIME.ofTenant + 1

export function makeDncLists({ db, clock, tenants }: Deps): DncLists {
  const atATime = new AtATime(READ_AT_A_TIME)
  const inTurn = makeLanes(WRITTEN_AT_A_TIME)

  /** How many of them were not listed before. */
  async function list(tenant: TenantRuntime, entries: Iterable<NewDncEntry>): Promise<number> {
    const { tenant_id: tenantId } = tenant
    const now = new Date(clock.now())
    const rows = [...entries].map((entry) => ({ ...entry, id: newId<DncEntryId>(now.getTime()), created_at: now }))
    return db.transaction().execute(async (tx) => {
      await holdKnownTenant(tx, tenantId)
      const listed = await insertDncEntries(tx, tenantId, rows)
      const events = listed.map((entry) => ({ payload: { entry: showDncEntry(entry) } }))
      await enqueue(
        tx,
        tenant,
        events.map((event) => ({ ...event, event: 'dnc.added', subject: null })),
        now,
      )
      return listed.length
    })
  }

  async function read(tenantId: TenantId, chunks: AsyncIterable<Buffer>): Promise<DncImport> {
    const tenant = await knownTenant(tenants, tenantId)
    const done: DncImport = { imported: 0, duplicates: 0, rejected: 0, errors: [] }
    const batch = new Map<string, NewDncEntry>()
    const write = async () => {
      if (batch.size === 0) return
      const imported = await inTurn(() => list(tenant, batch.values()))
      done.imported += imported
      done.duplicates += batch.size - imported
      batch.clear()
    }
    for await (const rows of readRows(chunks)) {
      for (const row of rows) {
        if ('error' in row) reject(done, row)
        else if (batch.has(row.entry.phone)) done.duplicates += 1
        else batch.set(row.entry.phone, row.entry)
      }
      if (batch.size >= BATCH_ROWS) await write()
    }
    await write()
    return done
  }

  return {
    import: (tenantId, chunks) => atATime.run(tenantId, () => read(tenantId, chunks)),
    async *export(tenantId) {
      yield CSV_HEADER
      for (let after = null; ; ) {
        const rows = await listDncEntries(db, tenantId, { limit: PAGE_ROWS - 1, offset: 0, after })
        yield rows.map(entryLine).join('')
        const last = rows.at(-1)
        if (!last || rows.length < PAGE_ROWS) return
        after = { createdAt: last.created_at, id: last.id }
      }
    },
  }
}

/** The rows of a list, in slices that leave time for everything else. @throws AppError as `DncListReader`, and `body_too_large`. */
async function* readRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<ReadRow[]> {
  const reader = new DncListReader()
  let sizeBytes = 0
  for await (const chunk of chunks) {
    sizeBytes += chunk.length
    if (sizeBytes > MAX_LIST_BYTES) throw tooLarge(MAX_LIST_BYTES)
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      yield reader.push(chunk.subarray(at, at + SLICE_BYTES))
      await othersFirst()
    }
  }
  yield reader.end()
}

function reject(done: DncImport, { line, error }: { line: number; error: string }): void {
  done.rejected += 1
  if (done.errors.length < MAX_ERRORS) done.errors.push({ line, error })
}
