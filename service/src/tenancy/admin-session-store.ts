import type { Role } from '../kernel/actor.ts'
import type { TenantId, UserId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'

type AdminSessionRow = {
  token_hash: Buffer
  /** Both null: the administrator of the installation. */
  tenant_id: TenantId | null
  user_id: UserId | null
  username: string
  created_at: Date
  last_seen_at: Date
  ends_at: Date
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    admin_sessions: AdminSessionRow
  }
}

/** A session with what its person may do now; no role: the administrator's. */
export type KnownSession = AdminSessionRow & { role: Role | null; email: string | null }

export async function insertAdminSession(tx: Tx, session: AdminSessionRow): Promise<void> {
  await tx.insertInto('admin_sessions').values(session).execute()
}

/** The session, unless it is over by its age or nobody was seen in it since `seenAfter`. */
export async function findAdminSession(
  db: Db,
  tokenHash: Buffer,
  { now, seenAfter }: { now: Date; seenAfter: Date },
): Promise<KnownSession | null> {
  const row = await db
    .selectFrom('admin_sessions as s')
    .leftJoin('tenant_users as u', (join) =>
      join.onRef('u.tenant_id', '=', 's.tenant_id').onRef('u.id', '=', 's.user_id'),
    )
    .selectAll('s')
    .select(['u.role', 'u.email'])
    .where('s.token_hash', '=', tokenHash)
    .where('s.ends_at', '>', now)
    .where('s.last_seen_at', '>', seenAfter)
    .executeTakeFirst()
  return row ?? null
}

export async function noteSeen(db: Db, tokenHash: Buffer, at: Date): Promise<void> {
  await db.updateTable('admin_sessions').set({ last_seen_at: at }).where('token_hash', '=', tokenHash).execute()
}

/** Ends it; false when there was none. */
export async function endAdminSession(tx: Tx, tokenHash: Buffer): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('admin_sessions')
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Ends all that a person has. */
export async function endSessionsOf(tx: Tx, tenantId: TenantId, userId: UserId): Promise<void> {
  await tx.deleteFrom('admin_sessions').where('tenant_id', '=', tenantId).where('user_id', '=', userId).execute()
}

/** Forgets the sessions that are over. */
export async function dropEndedSessions(tx: Tx, now: Date): Promise<void> {
  await tx.deleteFrom('admin_sessions').where('ends_at', '<=', now).execute()
}
