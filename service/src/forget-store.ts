import { sql } from 'kysely'
import { OUTBOX_TABLES } from './delivery/outbox-store.ts'
import type { Db } from './platform/db/schema.ts'

type Before = {
  /** What was over by then is forgotten. */
  overSince: Date
  /** What was to be delivered by then and was not is forgotten too. */
  writtenSince: Date
}

/** Deletes what is left of calls that are over, what was delivered, and what was noted of actions. */
export async function forgetAcrossTenants(db: Db, { overSince, writtenSince }: Before): Promise<void> {
  await db.transaction().execute(async (tx) => {
    for (const table of ['voice_sessions', 'call_directory', 'webhook_sequences']) {
      await sql`
        delete from ${sql.table(table)} kept using call_logs call
         where call.tenant_id = kept.tenant_id and call.call_sid = kept.call_sid and call.ended_at < ${overSince}`.execute(
        tx,
      )
    }
    await tx.deleteFrom('call_logs').where('ended_at', '<', overSince).execute()
  })
  for (const table of OUTBOX_TABLES) {
    await sql`
      delete from ${sql.table(table)}
       where created_at < ${writtenSince} or (status <> 'pending' and created_at < ${overSince})`.execute(db)
  }
  // Nobody counts calls here.
  await db.deleteFrom('call_changes').execute()
  await db.deleteFrom('audit_log').where('created_at', '<', overSince).execute()
  await db.deleteFrom('supervisor_actions').where('created_at', '<', overSince).execute()
}
