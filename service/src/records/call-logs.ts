import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import type { JsonPage } from '../platform/db/json-page.ts'
import type { Db } from '../platform/db/schema.ts'
import { type CallFilter, type CallLogRow, findCallLog, listCallLogs } from './call-log-store.ts'

/** The calls that tenants have had. */
export type CallLogs = {
  /** Newest first, as the API shows them. */
  list(tenantId: TenantId, filter: CallFilter, page: PageRequest): Promise<JsonPage>
  /** @throws AppError `not_found` when the tenant has no such call. */
  get(tenantId: TenantId, callSid: string): Promise<CallLogRow>
}

export function makeCallLogs({ db }: { db: Db }): CallLogs {
  return {
    list: (tenantId, filter, page) => listCallLogs(db, tenantId, filter, page),
    async get(tenantId, callSid) {
      const log = await findCallLog(db, tenantId, callSid)
      if (!log) throw new AppError('not_found', 'There is no such call.')
      return log
    },
  }
}
