import { type Page, type PageRequest, toPage } from '../kernel/pages.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import {
  insertSupervisorAction,
  listSupervisorActions,
  type SupervisorAction,
  type SupervisorActionFilter,
} from './supervisor-action-store.ts'

/** Everything that a supervisor can do to a call. */
export const SUPERVISOR_ACTIONS = [
  'note',
  'whisper',
  'say',
  'escalate',
  'transfer',
  'takeover',
  'release',
  'mute',
  'unmute',
  'end_call',
] as const

/** What supervisors did, for good. */
export type SupervisorActions = {
  /** Newest first. */
  list(filter: SupervisorActionFilter, page: PageRequest): Promise<Page<SupervisorAction>>
  /**
   * Writes down what was done. Never rejects: the call has changed, and whoever was told that it had not would do it again. What
   * the database does not take is told in the log.
   */
  keep(action: SupervisorAction): Promise<void>
}

export function makeSupervisorActions({ db, log }: { db: Db; log: Log }): SupervisorActions {
  return {
    async list(filter, page) {
      const rows = await listSupervisorActions(db, filter, page)
      return toPage(rows, page.limit, (row) => ({ createdAt: row.created_at, id: row.id }))
    },
    async keep(action) {
      const { tenant_id, id, stream_sid, call_sid, action: what, supervisor } = action
      await insertSupervisorAction(db, tenant_id, action).catch((err: unknown) => {
        const fields = { tenant_id, id, stream_sid, call_sid, action: what, supervisor }
        log.error({ ...fields, err }, 'what a supervisor did was not written down')
      })
    },
  }
}
