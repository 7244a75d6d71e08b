import type { ColumnType } from 'kysely'
import type { TenantId, UserId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import { type FittingRows, fittingRows } from '../platform/db/fitting-rows.ts'
import { newestFirst } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'

type Json = ColumnType<unknown, string | null, never>

type AuditRow = {
  id: string
  /** Null: of the installation. */
  tenant_id: TenantId | null
  actor_kind: string
  actor: string
  actor_id: UserId | null
  action: string
  target_id: string | null
  before: Json
  after: Json
  created_at: Date
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    audit_log: AuditRow
  }
}

/** What was done, by whom, and how it was before and after. */
export type AuditEntry = Omit<AuditRow, 'before' | 'after'> & { before: unknown; after: unknown }

/** Which entries are asked for; what is left out asks for all. Instants: the first is included, the second not. */
export type AuditFilter = {
  tenantId?: TenantId | undefined
  actor?: string | undefined
  action?: string | undefined
  targetId?: string | undefined
  after?: Date | undefined
  before?: Date | undefined
}

/** Adds an entry, in the transaction that it tells of. */
export async function insertAuditEntry(tx: Tx, { before, after, ...entry }: AuditEntry): Promise<void> {
  await tx
    .insertInto('audit_log')
    .values({ ...entry, before: json(before), after: json(after) })
    .execute()
}

function json(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value)
}

/** A page of entries, newest first, of one tenant or over all of them. */
export function listAuditEntries(db: Db, filter: AuditFilter, page: PageRequest): Promise<FittingRows<AuditEntry>> {
  const { tenantId, actor, action, targetId, after, before } = filter
  const query = db
    .selectFrom('audit_log')
    .selectAll()
    .$if(tenantId !== undefined, (query) => query.where('tenant_id', '=', tenantId as TenantId))
    .$if(actor !== undefined, (query) => query.where('actor', '=', actor as string))
    .$if(action !== undefined, (query) => query.where('action', '=', action as string))
    .$if(targetId !== undefined, (query) => query.where('target_id', '=', targetId as string))
    .$if(after !== undefined, (query) => query.where('created_at', '>=', after as Date))
    .$if(before !== undefined, (query) => query.where('created_at', '<', before as Date))
    .$call(newestFirst('audit_log', page))
  return fittingRows(db, query, ['before', 'after'], page.limit)
}
