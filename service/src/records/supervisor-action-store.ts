import type { ColumnType } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import { type FittingRows, fittingRows } from '../platform/db/fitting-rows.ts'
import { newestFirst } from '../platform/db/newest-first.ts'
import type { Db } from '../platform/db/schema.ts'

type SupervisorActionRow = {
  tenant_id: TenantId
  id: string
  stream_sid: string
  call_sid: string
  action: string
  supervisor: string | null
  target: string | null
  reason: string | null
  note: string | null
  metadata: ColumnType<Record<string, unknown>, string, never>
  created_at: Date
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    supervisor_actions: SupervisorActionRow
  }
}

/** What may be long of them. */
const LONG_COLUMNS = ['target', 'reason', 'note', 'metadata']

/** What a supervisor did to a live call. */
export type SupervisorAction = Omit<SupervisorActionRow, 'metadata'> & { metadata: Record<string, unknown> }

/** Which ones are asked for; what is left out asks for all. */
export type SupervisorActionFilter = {
  tenantId?: TenantId | undefined
  streamSid?: string | undefined
  action?: string | undefined
}

/** Adds one; the same one again changes nothing. */
export async function insertSupervisorAction(db: Db, tenantId: TenantId, action: SupervisorAction): Promise<void> {
  await db
    .insertInto('supervisor_actions')
    .values({ ...action, tenant_id: tenantId, metadata: JSON.stringify(action.metadata) })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'id']).doNothing())
    .execute()
}

/** The same long after it was done: where the session of the call was erased since, its words are not stored. */
export async function insertLateAction(db: Db, action: SupervisorAction): Promise<void> {
  const { tenant_id: tenantId, call_sid } = action
  const session = await db
    .selectFrom('voice_sessions')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', call_sid)
    .executeTakeFirst()
  const words = session ? {} : { reason: null, note: null, metadata: {} }
  await insertSupervisorAction(db, tenantId, { ...action, ...words })
}

/** Newest first, of one tenant or over all of them. */
export function listSupervisorActions(
  db: Db,
  { tenantId, streamSid, action }: SupervisorActionFilter,
  page: PageRequest,
): Promise<FittingRows<SupervisorAction>> {
  const query = db
    .selectFrom('supervisor_actions')
    .selectAll()
    .$if(tenantId !== undefined, (query) => query.where('tenant_id', '=', tenantId as TenantId))
    .$if(streamSid !== undefined, (query) => query.where('stream_sid', '=', streamSid as string))
    .$if(action !== undefined, (query) => query.where('action', '=', action as string))
    .$call(newestFirst('supervisor_actions', page))
  return fittingRows(db, query, LONG_COLUMNS, page.limit)
}

/** More than that no supervisor does in a call. */
const ACTIONS_OF_CALL = 500

/** What was done to one call of the tenant's, oldest first: the first 500 at most, and fewer where they do not fit on a page. */
export async function listActionsOfCall(db: Db, tenantId: TenantId, callSid: string): Promise<SupervisorAction[]> {
  const query = db
    .selectFrom('supervisor_actions')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', callSid)
    .orderBy('created_at')
    .orderBy('id')
    .limit(ACTIONS_OF_CALL + 1)
  const { rows, limit } = await fittingRows(db, query, LONG_COLUMNS, ACTIONS_OF_CALL)
  return rows.slice(0, limit)
}
