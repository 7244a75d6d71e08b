import { type Page, type PageRequest, toPage } from '../kernel/pages.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { isDatabaseTrouble } from '../records/database-trouble.ts'
import {
  insertSupervisorAction,
  listSupervisorActions,
  type SupervisorAction,
  type SupervisorActionFilter,
} from '../records/supervisor-action-store.ts'
import type { LateActions } from './late-actions.ts'

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
   * Writes down what was done: now, or, while the database is away, in the journal's files first. Rejects for a note alone, of which
   * nothing else has come. With all others the call has changed, and whoever was told that it had not would do it again: what cannot
   * be written down at all is told in the log.
   */
  keep(action: SupervisorAction): Promise<void>
}

type Deps = { db: Db; log: Pick<Log, 'error'>; late: Pick<LateActions, 'take'> }

export function makeSupervisorActions({ db, log, late }: Deps): SupervisorActions {
  return {
    async list(filter, page) {
      const { rows, limit } = await listSupervisorActions(db, filter, page)
      return toPage(rows, limit, (row) => ({ createdAt: row.created_at, id: row.id }))
    },
    async keep(action) {
      const { tenant_id, id, stream_sid, call_sid, action: what, supervisor } = action
      await insertSupervisorAction(db, tenant_id, action).catch(async (err: unknown) => {
        if (what === 'note') throw err
        if (isDatabaseTrouble(err) && (await late.take(action))) return
        const fields = { tenant_id, id, stream_sid, call_sid, action: what, supervisor }
        log.error({ ...fields, err }, 'what a supervisor did was not written down')
      })
    },
  }
}
