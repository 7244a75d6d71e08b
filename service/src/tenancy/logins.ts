import type { Actor } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { secretsEqual, sha256 } from '../kernel/seal.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { AdminSessions } from './admin-sessions.ts'
import { beginAttempt, noteRefusedLogin } from './login-attempts.ts'
import type { Passwords } from './passwords.ts'
import { findUserAcrossTenants, lockUser, type UserRow, updateUser } from './user-store.ts'

/** The administrator of the installation: a name, and the SHA-256 of a password in hexadecimal. */
export type Administrator = { username: string; passwordSha256: string }

type Asked = { username: string; password: string; ip: string; previous: string | null }

/** Somebody who was let in, and the token of their session. */
export type LoggedIn = { actor: Actor; token: string }

export type Logins = {
  /** Whether there is a password to log in with. */
  isEnabled: boolean
  /** @throws AppError `not_found` when there is none. */
  expectEnabled(): void
  /**
   * @throws AppError `not_found` when nobody can, `unauthorized` for a wrong name or password, which of them is not told,
   * `rate_limited` after ten failures from the address, `unavailable` when too many log in at once: not the administrator, whose
   * password is looked at without a slow hash.
   */
  login(asked: Asked): Promise<LoggedIn>
  /**
   * Begins the session of a person who has proved who they are.
   *
   * @throws AppError `unauthorized` when they were deleted, or their password was changed, in the meantime.
   */
  letIn(user: UserRow, previous: string | null): Promise<LoggedIn>
  /** Begins the session of an administrator of the installation whom somebody else vouches for. */
  letInAdministrator(name: string, previous: string | null): Promise<LoggedIn>
}

type Deps = {
  db: Db
  clock: Clock
  sessions: AdminSessions
  administrator: Administrator | null
  passwords: Passwords
}

export function makeLogins({ db, clock, sessions, administrator, passwords }: Deps): Logins {
  async function letIn({ actor, user }: Proved, previous: string | null, alongside?: (tx: Db) => Promise<void>) {
    const token = await db.transaction().execute(async (tx) => {
      if (user) await noteLogin(tx, user, new Date(clock.now()))
      await alongside?.(tx)
      return sessions.begin(tx, actor, previous)
    })
    return { actor, token }
  }

  function expectEnabled(): void {
    if (administrator === null) throw new AppError('not_found', 'Nobody can log in with a password here.')
  }

  /** Every refusal costs one slow hash, whoever was named. */
  async function identify({ username, password }: Asked): Promise<Proved | null> {
    const isAdministrator = administrator !== null && isThem(administrator, username, password)
    if (isAdministrator) return { actor: { kind: 'administrator', name: username }, user: null }
    const user = username === administrator?.username ? null : await findUserAcrossTenants(db, username)
    return (await passwords.match(password, user?.password_hash ?? null)) && user ? provedBy(user) : null
  }

  return {
    isEnabled: administrator !== null,
    expectEnabled,
    letIn: (user, previous) => letIn(provedBy(user), previous),
    letInAdministrator: (name, previous) => letIn({ actor: { kind: 'administrator', name }, user: null }, previous),
    async login(asked) {
      expectEnabled()
      const attempt = await beginAttempt(db, clock, asked.ip)
      const proved = await identify(asked).catch(async (error: unknown) => {
        // Nothing was compared. Only whoever names the administrator learns of a guess by this refusal, too: that one counts.
        if (asked.username !== administrator?.username) await attempt.succeeded(db)
        throw error
      })
      if (proved) return letIn(proved, asked.previous, attempt.succeeded)
      await noteRefusedLogin(db, clock, asked.ip)
      throw refused()
    },
  }
}

/** Who they are; of a person also the row that their password was compared with. */
type Proved = { actor: Actor; user: UserRow | null }

function provedBy(user: UserRow): Proved {
  return { actor: personOf(user), user }
}

/** A change of the password ends the sessions that there are: it also ends the login that compared the one before. */
async function noteLogin(tx: Tx, { tenant_id, id, password_hash }: UserRow, at: Date): Promise<void> {
  const now = await lockUser(tx, tenant_id, id)
  if (now?.password_hash !== password_hash) throw refused()
  await updateUser(tx, tenant_id, id, { last_login_at: at })
}

function refused(): AppError {
  return new AppError('unauthorized', 'The user name or the password is wrong.')
}

function isThem({ username, passwordSha256 }: Administrator, name: string, password: string): boolean {
  const hasName = secretsEqual(name, username)
  const hasPassword = secretsEqual(sha256(password).toString('hex'), passwordSha256)
  return hasName && hasPassword
}

/** A person of a tenant, as they act. */
function personOf({ tenant_id, id, email, role }: UserRow): Actor {
  return { kind: 'person', name: email, userId: id, tenantId: tenant_id, role }
}
