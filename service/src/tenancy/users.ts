import type { Actor, Role } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { newId, secretText, type TenantId, type UserId } from '../kernel/ids.ts'
import { type Page, type PageRequest, toPage } from '../kernel/pages.ts'
import { sha256 } from '../kernel/seal.ts'
import { uniqueViolation } from '../platform/db/errors.ts'
import { isUuid } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { endSessionsOf } from './admin-session-store.ts'
import { audit } from './audit-log.ts'
import { expectTenant, holdKnownTenant } from './known-tenant.ts'
import type { Passwords } from './passwords.ts'
import {
  deleteUser,
  EMAIL_INDEX,
  findInvitedAcrossTenants,
  insertUser,
  isInvitation,
  listUsers,
  lockUser,
  type UserRow,
  updateUser,
} from './user-store.ts'

/** What is asked for of a person; a password that is left out is set by the invited one. */
export type NewUser = { email: string; name: string; role: Role; password: string | null }
export type UserChange = { email?: string; name?: string; role?: Role; password?: string; invite?: boolean }

/** A person, and what their invitation holds, if they got one: it is known now and never again. */
export type WrittenUser = { user: UserRow; invitation: string | null }

/** The people of tenants. */
export type Users = {
  /** Newest first. @throws AppError `not_found` for an unknown tenant. */
  list(tenantId: TenantId, page: PageRequest): Promise<Page<UserRow>>
  /** @throws AppError `not_found` for an unknown tenant, `conflict` when the e-mail is somebody's. */
  create(tenantId: TenantId, user: NewUser, by: Actor): Promise<WrittenUser>
  /** A new password, and a new invitation, ends the person's sessions. @throws AppError `not_found`, `conflict`. */
  change(tenantId: TenantId, userId: UserId, change: UserChange, by: Actor): Promise<WrittenUser>
  /** Deletes the person and ends their sessions. @throws AppError `not_found`. */
  remove(tenantId: TenantId, userId: UserId, by: Actor): Promise<UserRow>
  /** Sets the password of whoever was invited; the invitation is spent. @throws AppError `not_found`. */
  accept(invitation: string, password: string): Promise<UserRow>
}

const INVITATION_MS = 7 * 24 * 3_600_000

type Deps = {
  db: Db
  clock: Clock
  passwords: Passwords
  /** Told of a person who was changed or removed, once that is committed. */
  onChange(userId: UserId): void
}

export function makeUsers({ db, clock, passwords, onChange }: Deps): Users {
  async function newSecret({ password, invites }: WantedSecret, at: Date): Promise<Secret | null> {
    if (password !== undefined) return withPassword(password)
    return invites ? invite(at) : null
  }

  async function withPassword(password: string): Promise<Secret> {
    const columns = { password_hash: await passwords.hash(password), invitation_hash: null, invitation_ends_at: null }
    return { columns, invitation: null }
  }

  return {
    async list(tenantId, page) {
      const rows = await listUsers(db, tenantId, page)
      if (rows.length === 0) await expectTenant(db, tenantId)
      return toPage(rows, page.limit, (row) => ({ createdAt: row.created_at, id: row.id }))
    },
    async create(tenantId, { email, name, role, password }, by) {
      const at = new Date(clock.now())
      const secret = password === null ? invite(at) : await withPassword(password)
      const id = newId<UserId>(at.getTime())
      const row = { id, email: email.toLowerCase(), name, role, ...secret.columns, ...stamps(at) }
      return write(db, async (tx) => {
        await holdKnownTenant(tx, tenantId)
        const user = await insertUser(tx, tenantId, row)
        await audit(tx, { by, action: 'user.created', tenantId, targetId: id, after: shown(user), at })
        return { user, invitation: secret.invitation }
      })
    },
    async change(tenantId, userId, { email, password, invite: invites, ...rest }, by) {
      const at = new Date(clock.now())
      const secret = await newSecret({ password, invites }, at)
      const columns = { ...rest, ...(email !== undefined && { email: email.toLowerCase() }), ...secret?.columns }
      const written = await write(db, async (tx) => {
        const before = await lockKnown(tx, tenantId, userId)
        const user = await updateUser(tx, tenantId, userId, { ...columns, updated_at: at })
        if (secret) await endSessionsOf(tx, tenantId, userId)
        const told = { before: shown(before), after: { ...shown(user), ...(secret && { credential: 'changed' }) } }
        await audit(tx, { by, action: 'user.changed', tenantId, targetId: userId, ...told, at })
        return { user, invitation: secret?.invitation ?? null }
      })
      onChange(userId)
      return written
    },
    async remove(tenantId, userId, by) {
      const removed = await write(db, async (tx) => {
        const user = await lockKnown(tx, tenantId, userId)
        await deleteUser(tx, tenantId, userId)
        const at = new Date(clock.now())
        await audit(tx, { by, action: 'user.deleted', tenantId, targetId: userId, before: shown(user), at })
        return user
      })
      onChange(userId)
      return removed
    },
    async accept(invitation, password) {
      // The slow hash is made for those alone who hold an invitation.
      if (!(await isInvitation(db, sha256(invitation), new Date(clock.now())))) throw spent()
      const { columns } = await withPassword(password)
      return write(db, (tx) => acceptIn(tx, { invitation, columns, at: new Date(clock.now()) }))
    },
  }
}

type Accepted = { invitation: string; columns: SecretColumns; at: Date }

async function acceptIn(tx: Tx, { invitation, columns, at }: Accepted): Promise<UserRow> {
  const invited = await findInvitedAcrossTenants(tx, sha256(invitation), at)
  if (!invited) throw spent()
  const { tenant_id: tenantId, id, email, role } = invited
  const user = await updateUser(tx, tenantId, id, { ...columns, updated_at: at })
  const by: Actor = { kind: 'person', name: email, userId: id, tenantId, role }
  await audit(tx, { by, action: 'user.accepted_invitation', tenantId, targetId: id, at })
  return user
}

function spent(): AppError {
  return new AppError('not_found', 'The invitation is spent or over. Ask for a new one.')
}

type SecretColumns = Pick<UserRow, 'password_hash' | 'invitation_hash' | 'invitation_ends_at'>
type Secret = { columns: SecretColumns; invitation: string | null }

type WantedSecret = { password: string | undefined; invites: boolean | undefined }

/** Until it is accepted nobody logs in with a password. */
function invite(at: Date): Secret {
  const invitation = secretText(32)
  const invitation_ends_at = new Date(at.getTime() + INVITATION_MS)
  return { columns: { password_hash: null, invitation_hash: sha256(invitation), invitation_ends_at }, invitation }
}

function stamps(at: Date) {
  return { last_login_at: null, created_at: at, updated_at: at }
}

/** As the audit log tells it. */
function shown({ email, name, role }: UserRow) {
  return { email, name, role }
}

async function write<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db
    .transaction()
    .execute(work)
    .catch((error: unknown) => {
      if (uniqueViolation(error) !== EMAIL_INDEX) throw error
      throw new AppError('conflict', 'The e-mail is that of another person.')
    })
}

async function lockKnown(tx: Tx, tenantId: TenantId, userId: UserId): Promise<UserRow> {
  const user = isUuid(userId) ? await lockUser(tx, tenantId, userId) : null
  if (!user) throw new AppError('not_found', 'The tenant has no such user.')
  return user
}
