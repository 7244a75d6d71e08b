import type { Actor } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import { secretText } from '../kernel/ids.ts'
import { sha256 } from '../kernel/seal.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import {
  dropEndedSessions,
  endAdminSession,
  findAdminSession,
  insertAdminSession,
  type KnownSession,
  noteSeen,
} from './admin-session-store.ts'
import { audit } from './audit-log.ts'
import { crowded } from './crowded.ts'
import { Lately } from './lately.ts'

/** How long a session lasts, and how long it lasts without being used. */
export const SESSION_MS = 12 * 3_600_000
const IDLE_MS = 30 * 60_000
/** More exactly it need not be known when somebody was last seen. */
const SEEN_EVERY_MS = 60_000
/** Of so many sessions it is known that they were good; the one that was asked for longest ago is forgotten then. */
const MAX_KNOWN = 1_000

/** Who is logged in. */
export type AdminSessions = {
  /**
   * Whose session it is, with the role that they have now; null when it is over. It is used by that, unless it is a look.
   *
   * @param mayAsk is asked before the database is, for a session that was not good lately.
   * @throws AppError `rate_limited` when it may not; `unavailable`.
   */
  find(token: string, asking: { isLook: boolean; mayAsk: () => boolean }): Promise<Actor | null>
  /** Whose session it was within the last ten minutes, as far as is known here. It is no look-up, and for when there can be none. */
  lately(token: string): Actor | null
  /** To be called when a person was changed or removed, once that is committed: what they were lately they may be no more. */
  forget(userId: string): void
  /** Names the session of a token, and opens nothing. */
  refTo(token: string): string
  /** As `find`, by what `refTo` names it, whoever asks. */
  findNamed(ref: string, isLook: boolean): Promise<Actor | null>
  /** Begins one, and ends the one that the browser had. Returns its token, which is nowhere else. */
  begin(tx: Tx, actor: Actor, previous: string | null): Promise<string>
  /** Ends it, on every node at once. One that is over stays so. */
  end(token: string): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  /** Changes when the administrator's credentials do: sessions begun with other ones are over. */
  credentials: string
}

export function makeAdminSessions({ db, clock, credentials }: Deps): AdminSessions {
  const hashOf = (token: string) => sha256(`${credentials}/${token}`)
  /** The sessions that were good when they were asked for last, in this order. */
  const good = new Set<string>()
  const lately = new Lately<Actor>(clock)

  async function find(hash: Buffer, isLook: boolean): Promise<Actor | null> {
    const nowMs = clock.now()
    const begun = lately.begin()
    const session = await findAdminSession(db, hash, { now: new Date(nowMs), seenAfter: new Date(nowMs - IDLE_MS) })
    const isNoted = !session || nowMs - session.last_seen_at.getTime() < SEEN_EVERY_MS
    if (!isNoted && !isLook) await noteSeen(db, hash, new Date(nowMs))
    const actor = session && actorOf(session)
    note(hash.toString('hex'), actor !== null)
    lately.note(hash.toString('hex'), actor, begun)
    return actor
  }

  function forget(token: string): void {
    const ended = hashOf(token).toString('hex')
    lately.forget((_, hash) => hash === ended)
  }

  function note(name: string, isGood: boolean): void {
    good.delete(name)
    if (isGood) good.add(name)
    const [oldest] = good
    if (good.size > MAX_KNOWN && oldest !== undefined) good.delete(oldest)
  }

  return {
    async find(token, { isLook, mayAsk }) {
      const hash = hashOf(token)
      if (!good.has(hash.toString('hex')) && !mayAsk()) throw crowded()
      return find(hash, isLook)
    },
    forget: (userId) => lately.forget((actor) => actor.kind === 'person' && actor.userId === userId),
    lately: (token) => lately.get(hashOf(token).toString('hex')),
    refTo: (token) => hashOf(token).toString('base64url'),
    findNamed: (ref, isLook) => find(Buffer.from(ref, 'base64url'), isLook),
    async begin(tx, actor, previous) {
      const token = secretText(32)
      const now = new Date(clock.now())
      await dropEndedSessions(tx, now)
      if (previous !== null) {
        await endAdminSession(tx, hashOf(previous))
        forget(previous)
      }
      const [tenant_id, user_id] = actor.kind === 'person' ? [actor.tenantId, actor.userId] : [null, null]
      const stamps = { created_at: now, last_seen_at: now, ends_at: new Date(now.getTime() + SESSION_MS) }
      await insertAdminSession(tx, { token_hash: hashOf(token), tenant_id, user_id, username: actor.name, ...stamps })
      await audit(tx, { by: actor, action: 'session.began', tenantId: tenant_id, targetId: null, at: now })
      return token
    },
    async end(token) {
      try {
        const by = await find(hashOf(token), true)
        await db.transaction().execute(async (tx) => {
          if (!(await endAdminSession(tx, hashOf(token))) || by === null) return
          const tenantId = by.kind === 'person' ? by.tenantId : null
          await audit(tx, { by, action: 'session.ended', tenantId, targetId: null, at: new Date(clock.now()) })
        })
      } finally {
        // Whoever asks for it until it is deleted finds it good still.
        forget(token)
      }
    },
  }
}

/** Null for a session that is half somebody's: what is missing never makes a person the administrator. */
function actorOf({ tenant_id, user_id, username, role, email }: KnownSession): Actor | null {
  if (tenant_id === null && user_id === null) return { kind: 'administrator', name: username }
  if (tenant_id === null || user_id === null || role === null) return null
  return { kind: 'person', name: email ?? username, userId: user_id, tenantId: tenant_id, role }
}
