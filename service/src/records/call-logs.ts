import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import { type Page, type PageRequest, toPage } from '../kernel/pages.ts'
import type { Db } from '../platform/db/schema.ts'
import { type CallLogRow, findCallLog, listCallLogs } from './call-log-store.ts'
import type { RecordFilter } from './record-filter-store.ts'

/** The calls that tenants have had. */
export type CallLogs = {
  /** Newest first. */
  list(tenantId: TenantId, filter: RecordFilter, page: PageRequest): Promise<Page<CallLogRow>>
  /** @throws AppError `not_found` when the tenant has no such call. */
  get(tenantId: TenantId, callSid: string): Promise<CallLogRow>
}

export function makeCallLogs({ db }: { db: Db }): CallLogs {
  return {
    async list(tenantId, filter, page) {
      const rows = await listCallLogs(db, tenantId, filter, page)
      return toPage(rows, page.limit, (row) => ({ createdAt: row.created_at, id: row.id }))
    },
    async get(tenantId, callSid) {
      const log = await findCallLog(db, tenantId, callSid)
      if (!log) throw new AppError('not_found', 'There is no such call.')
      return log
    },
  }
}
