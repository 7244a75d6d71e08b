import type { Db } from '../platform/db/schema.ts'
import type { Waiting } from '../records/journal-file.ts'
import { type LateDeps, type LateWrites, makeLateWrites } from '../records/late-writes.ts'
import { insertLateAction, type SupervisorAction } from '../records/supervisor-action-store.ts'

/** What supervisors did while the database was away. */
export type LateActions = LateWrites<SupervisorAction>

export function makeLateActions({ db, clock, log, files }: LateDeps & { db: Db }): LateActions {
  return makeLateWrites({
    ...{ clock, files, keptAs: keptAction },
    write: (action) => insertLateAction(db, action),
    refused: ({ tenant_id, id, call_sid }, err) =>
      log.error({ err, tenant_id, id, call_sid }, 'what a supervisor did was refused'),
  })
}

type KeptAction = Omit<SupervisorAction, 'created_at'> & { created_at: string }

function keptAction(action: SupervisorAction): Waiting {
  const body: KeptAction = { ...action, created_at: action.created_at.toISOString() }
  return { kind: 'action', body }
}

/** Reads the actions among what was kept. */
export function readActions(waiting: Waiting[]): SupervisorAction[] {
  // Sound: what stands behind a checksum was written by `keptAction`.
  const actions = waiting.flatMap(({ kind, body }) => (kind === 'action' ? [body as KeptAction] : []))
  return actions.map((action) => ({ ...action, created_at: new Date(action.created_at) }))
}
