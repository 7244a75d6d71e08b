import type { Actor } from '../../kernel/actor.ts'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { TenantId, UserId } from '../../kernel/ids.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import type { Sealer } from '../../kernel/seal.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { Log } from '../../platform/log.ts'
import type { SessionId } from '../../records/call-values.ts'
import { audit } from '../../tenancy/audit-log.ts'
import type { EraseSession, ErasureReceipt } from './erase-session.ts'
import { eraseMentions, MENTION_TABLES } from './mention-store.ts'
import {
  type ClaimedErasure,
  claimErasureAcrossTenants,
  completeErasure,
  countErased,
  type NumberCounts,
  releaseErasure,
} from './number-erasure-store.ts'
import { numberMention } from './number-mention.ts'
import { eraseCallLogs, eraseContacts, eraseTasks, listSessionsOf, type NumberSubject } from './number-subject-store.ts'

/** Does what was asked of numbers, piece by piece: each is a transaction that also counts what it has erased. */
export type ErasingNumber = {
  /** Goes on with a request, as far as it goes; whoever else is at it is left to it. What fails is left to the sweep. */
  goOn(id: string): Promise<void>
  /** Goes on with all requests that nobody is at. @returns how many were brought to their end. */
  sweep(): Promise<number>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'error'>
  sealer: Pick<Sealer, 'open'>
  erase: EraseSession
  /** Whether the service stops: then nothing more is begun. */
  isStopping: () => boolean
}

/** Of one kind, in one transaction. */
const ROWS_AT_A_TIME = 200
/** Longer than a piece takes; each one takes as long anew. Whoever dies is followed after this. */
const LEASE_MS = 60_000
/** Of a sweep. */
const MAX_REQUESTS = 100

/** Somebody else has gone on with it. */
class Lost extends Error {}

export function makeErasingNumber({ db, clock, log, sealer, erase, isStopping }: Deps): ErasingNumber {
  /** @returns whether the request was brought to its end. */
  async function workOn(claimed: ClaimedErasure): Promise<boolean> {
    const { tenant_id: tenantId, id } = claimed
    const phone = sealer.open(claimed.phone_sealed, contextOf(tenantId, id)) as PhoneNumber
    const subject: NumberSubject = { phone, until: claimed.created_at, limit: ROWS_AT_A_TIME }
    // A session that is not over has the number yet: nothing else is taken out of it either until it is.
    if (!(await eraseSessions(claimed, subject))) return false
    for (const piece of [eraseCallLogs, eraseTasks, eraseContacts])
      await inPieces(claimed, (tx) => piece(tx, tenantId, subject))
    const mention = numberMention(phone)
    for (const table of MENTION_TABLES) {
      await inPieces(claimed, async (tx) => {
        const mentions = await eraseMentions(tx, tenantId, table, {
          mention,
          until: subject.until,
          limit: ROWS_AT_A_TIME,
        })
        return mentions === 0 ? {} : { mentions }
      })
    }
    return complete(claimed)
  }

  /** Repeats a piece until it finds nothing more. */
  async function inPieces(claimed: ClaimedErasure, piece: (tx: Tx) => Promise<NumberCounts>): Promise<void> {
    for (let isMore = true; isMore; ) {
      if (isStopping()) throw new Lost()
      isMore = await db.transaction().execute(async (tx) => {
        const counts = await piece(tx)
        await count(tx, claimed, counts)
        return Object.keys(counts).length > 0
      })
    }
  }

  async function count(tx: Tx, claimed: ClaimedErasure, counts: NumberCounts): Promise<void> {
    if (!(await countErased(tx, claimed, { counts, leaseMs: LEASE_MS }))) throw new Lost()
  }

  /** @returns false when one of them is live again: the request waits for its end. */
  async function eraseSessions(claimed: ClaimedErasure, subject: NumberSubject): Promise<boolean> {
    const { tenant_id: tenantId } = claimed
    let isWhole = true
    let after: SessionId | null = null
    for (;;) {
      const ids: SessionId[] = await listSessionsOf(db, tenantId, subject, after)
      for (const id of ids) {
        if (isStopping()) throw new Lost()
        try {
          await erase(tenantId, id, { within: (tx, receipt) => count(tx, claimed, countsOf(receipt)) })
        } catch (err) {
          if (!(err instanceof AppError)) throw err
          // Erased by somebody else meanwhile, or not over.
          if (err.code !== 'not_found') isWhole = false
        }
      }
      after = ids.at(-1) ?? null
      if (ids.length < subject.limit) return isWhole
    }
  }

  async function complete(claimed: ClaimedErasure): Promise<boolean> {
    const { tenant_id: tenantId, id } = claimed
    const at = new Date(clock.now())
    return db.transaction().execute(async (tx) => {
      const done = await completeErasure(tx, claimed, at)
      if (!done) return false
      const before = { phone: done.phone_masked, counts: done.counts }
      await audit(tx, { by: actorOf(claimed), action: 'number_erasure.completed', tenantId, targetId: id, before, at })
      return true
    })
  }

  async function claimAndWork(id: string | null, except: string[]): Promise<{ id: string; isDone: boolean } | null> {
    const claimed = await claimErasureAcrossTenants(db, { id, leaseMs: LEASE_MS, except })
    if (!claimed) return null
    const fields = { tenant_id: claimed.tenant_id, erasure_id: claimed.id }
    let isDone = false
    try {
      isDone = await workOn(claimed)
    } catch (err) {
      if (!(err instanceof Lost)) log.error({ err, ...fields }, 'a number was not erased: it is gone on with')
    }
    if (isDone) log.info(fields, 'a number was erased')
    else await releaseErasure(db, claimed).catch(() => undefined)
    return { id: claimed.id, isDone }
  }

  return {
    async goOn(id) {
      await claimAndWork(id, [])
    },
    async sweep() {
      const seen: string[] = []
      let done = 0
      while (seen.length < MAX_REQUESTS && !isStopping()) {
        const worked = await claimAndWork(null, seen)
        if (!worked) break
        seen.push(worked.id)
        done += worked.isDone ? 1 : 0
      }
      return done
    },
  }
}

/** What the sealed number is bound to. */
export function contextOf(tenantId: TenantId, id: string): string {
  return `${tenantId}/number_erasure/${id}`
}

function countsOf(receipt: ErasureReceipt): NumberCounts {
  const { transcriptTurns, functionCalls, recordingParts, supervisorActions, deliveries } = receipt
  return {
    ...{ voice_sessions: 1, transcript_turns: transcriptTurns, function_calls: functionCalls },
    ...{ recording_parts: recordingParts, supervisor_actions: supervisorActions, deliveries },
  }
}

/** Who asked for it. */
function actorOf({ actor_kind: kind, actor: name, actor_id: id, tenant_id: tenantId }: ClaimedErasure): Actor {
  return kind === 'person' ? { kind, name, userId: id as UserId, tenantId, role: 'admin' } : { kind, name }
}
