import type { Role } from '../kernel/actor.ts'
import type { TenantId, UserId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import { newestFirst } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'

export type UserRow = {
  tenant_id: TenantId
  id: UserId
  /** In lower case. */
  email: string
  name: string
  role: Role
  /** Null until the person has set a password. */
  password_hash: string | null
  invitation_hash: Buffer | null
  invitation_ends_at: Date | null
  last_login_at: Date | null
  created_at: Date
  updated_at: Date
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    tenant_users: UserRow
  }
}

/** The index that keeps an e-mail from being that of two people. */
export const EMAIL_INDEX = 'tenant_users_email'

/** The tenant's people, newest first; one more than `limit`. */
export async function listUsers(db: Db, tenantId: TenantId, page: PageRequest): Promise<UserRow[]> {
  return db
    .selectFrom('tenant_users')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .$call(newestFirst('tenant_users', page))
    .execute()
}

/** @throws a unique violation of `EMAIL_INDEX`. */
export async function insertUser(tx: Tx, tenantId: TenantId, user: Omit<UserRow, 'tenant_id'>): Promise<UserRow> {
  return tx
    .insertInto('tenant_users')
    .values({ ...user, tenant_id: tenantId })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** The person, who stays as they are until the transaction ends; null when the tenant has no such one. */
export async function lockUser(tx: Tx, tenantId: TenantId, userId: UserId): Promise<UserRow | null> {
  const row = await tx
    .selectFrom('tenant_users')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', userId)
    .forUpdate()
    .executeTakeFirst()
  return row ?? null
}

/** To be called with `lockUser`. @throws a unique violation of `EMAIL_INDEX`. */
export async function updateUser(
  tx: Tx,
  tenantId: TenantId,
  userId: UserId,
  change: Partial<Omit<UserRow, 'tenant_id' | 'id' | 'created_at'>>,
): Promise<UserRow> {
  return tx
    .updateTable('tenant_users')
    .set(change)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', userId)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** With their sessions. */
export async function deleteUser(tx: Tx, tenantId: TenantId, userId: UserId): Promise<void> {
  await tx.deleteFrom('tenant_users').where('tenant_id', '=', tenantId).where('id', '=', userId).execute()
}

/** Whether a person of the tenant has this e-mail. */
export async function isUserOf(db: Db, tenantId: TenantId, email: string): Promise<boolean> {
  const row = await db
    .selectFrom('tenant_users')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('email', '=', email.toLowerCase())
    .executeTakeFirst()
  return row !== undefined
}

/** Who has this e-mail, whichever tenant they are of: whoever logs in says nothing else. */
export async function findUserAcrossTenants(db: Db, email: string): Promise<UserRow | null> {
  const row = await db
    .selectFrom('tenant_users')
    .selectAll()
    .where('email', '=', email.toLowerCase())
    .executeTakeFirst()
  return row ?? null
}

/** Whether anybody holds this invitation now. */
export async function isInvitation(db: Db, invitationHash: Buffer, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('tenant_users')
    .select('id')
    .where('invitation_hash', '=', invitationHash)
    .where('invitation_ends_at', '>', now)
    .executeTakeFirst()
  return row !== undefined
}

/** Whose invitation it is, while it lasts: null when it is spent, over, or none of ours. */
export async function findInvitedAcrossTenants(tx: Tx, invitationHash: Buffer, now: Date): Promise<UserRow | null> {
  const row = await tx
    .selectFrom('tenant_users')
    .selectAll()
    .where('invitation_hash', '=', invitationHash)
    .where('invitation_ends_at', '>', now)
    .forUpdate()
    .executeTakeFirst()
  return row ?? null
}
