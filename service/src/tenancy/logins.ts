import type { Actor } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { secretsEqual, sha256 } from '../kernel/seal.ts'
import type { Db } from '../platform/db/schema.ts'
import type { AdminSessions } from './admin-sessions.ts'
import { audit } from './audit-log.ts'
import { beginAttempt } from './login-attempts.ts'
import { passwordMatches } from './passwords.ts'
import { findUserAcrossTenants, type UserRow, updateUser } from './user-store.ts'

/** The administrator of the installation: a name, and the SHA-256 of a password in hexadecimal. */
export type Administrator = { username: string; passwordSha256: string }

type Asked = { username: string; password: string; ip: string; previous: string | null }

/** Somebody who was let in, and the token of their session. */
export type LoggedIn = { actor: Actor; token: string }

export type Logins = {
  /** Whether there is a password to log in with. */
  isEnabled: boolean
  /**
   * @throws AppError `not_found` when nobody can, `unauthorized` for a wrong name or password, which of them is not told,
   * `rate_limited` after ten failures from the address.
   */
  login(asked: Asked): Promise<LoggedIn>
  /** Begins the session of somebody who has proved who they are. */
  letIn(actor: Actor, previous: string | null): Promise<LoggedIn>
}

type Deps = { db: Db; clock: Clock; sessions: AdminSessions; administrator: Administrator | null }

export function makeLogins({ db, clock, sessions, administrator }: Deps): Logins {
  async function letIn(actor: Actor, previous: string | null, alongside?: (tx: Db) => Promise<void>) {
    const token = await db.transaction().execute(async (tx) => {
      await alongside?.(tx)
      if (actor.kind === 'person')
        await updateUser(tx, actor.tenantId, actor.userId, { last_login_at: new Date(clock.now()) })
      return sessions.begin(tx, actor, previous)
    })
    return { actor, token }
  }

  /** Every refusal costs one slow hash, whoever was named. */
  async function identify({ username, password }: Asked): Promise<Actor | null> {
    const isAdministrator = administrator !== null && isThem(administrator, username, password)
    if (isAdministrator) return { kind: 'administrator', name: username }
    const user = username === administrator?.username ? null : await findUserAcrossTenants(db, username)
    return (await passwordMatches(password, user?.password_hash ?? null)) && user ? personOf(user) : null
  }

  async function noteFailure(ip: string): Promise<void> {
    const change = { by: { kind: 'stranger', name: ip } as const, action: 'session.refused', tenantId: null }
    await db.transaction().execute((tx) => audit(tx, { ...change, targetId: null, at: new Date(clock.now()) }))
  }

  return {
    isEnabled: administrator !== null,
    letIn: (actor, previous) => letIn(actor, previous),
    async login(asked) {
      if (administrator === null) throw new AppError('not_found', 'Nobody can log in with a password here.')
      const attempt = await beginAttempt(db, clock, asked.ip)
      const actor = await identify(asked)
      if (actor) return letIn(actor, asked.previous, attempt.succeeded)
      await noteFailure(asked.ip)
      throw new AppError('unauthorized', 'The user name or the password is wrong.')
    },
  }
}

function isThem({ username, passwordSha256 }: Administrator, name: string, password: string): boolean {
  const hasName = secretsEqual(name, username)
  const hasPassword = secretsEqual(sha256(password).toString('hex'), passwordSha256)
  return hasName && hasPassword
}

/** A person of a tenant, as they act. */
export function personOf({ tenant_id, id, email, role }: UserRow): Actor {
  return { kind: 'person', name: email, userId: id, tenantId: tenant_id, role }
}
