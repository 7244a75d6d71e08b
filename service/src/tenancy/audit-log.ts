import type { Actor } from '../kernel/actor.ts'
import { newId, type TenantId } from '../kernel/ids.ts'
import { type Page, type PageRequest, toPage } from '../kernel/pages.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { type AuditEntry, type AuditFilter, insertAuditEntry, listAuditEntries } from './audit-log-store.ts'

/** A change of what is administered. */
export type AuditedChange = {
  /** Who does it. `stranger`: whoever is at this address. */
  by: Actor | { kind: 'stranger'; name: string }
  /** What kind of thing and what happened to it, such as `api_key.revoked`. */
  action: string
  /** Null: of the installation. */
  tenantId: TenantId | null
  targetId: string | null
  /** As it may be shown: without secrets. Left out where there was, or is, nothing. */
  before?: unknown
  after?: unknown
  at: Date
}

/** Writes down a change, in the transaction that makes it: neither is ever there without the other. */
export async function audit(tx: Tx, change: AuditedChange): Promise<void> {
  const { by, action, tenantId, targetId, before = null, after = null, at } = change
  await insertAuditEntry(tx, {
    id: newId<string>(at.getTime()),
    tenant_id: tenantId,
    actor_kind: by.kind,
    actor: by.name,
    actor_id: by.kind === 'person' ? by.userId : null,
    action,
    target_id: targetId,
    before,
    after,
    created_at: at,
  })
}

/** What was changed, newest first. */
export type AuditLog = { list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>> }

export function makeAuditLog({ db }: { db: Db }): AuditLog {
  return {
    async list(filter, page) {
      const { rows, limit } = await listAuditEntries(db, filter, page)
      return toPage(rows, limit, (row) => ({ createdAt: row.created_at, id: row.id }))
    },
  }
}
