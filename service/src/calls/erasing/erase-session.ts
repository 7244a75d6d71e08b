import type { Actor } from '../../kernel/actor.ts'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { isUuid } from '../../platform/db/newest-first.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { Log } from '../../platform/log.ts'
import { leaveCall } from '../../records/call-directory-store.ts'
import { isOver } from '../../records/call-status.ts'
import { lockRecord } from '../../records/call-store.ts'
import type { SessionId } from '../../records/call-values.ts'
import type { OneCall } from '../../records/ended-calls.ts'
import type { RecordingFiles } from '../../records/recording-files.ts'
import { findVoiceSession } from '../../records/voice-session-store.ts'
import { audit } from '../../tenancy/audit-log.ts'
import { type ErasedCounts, eraseSession, noteErasedRecording } from './erase-store.ts'

/** What was erased, and when. */
export type ErasureReceipt = ErasedCounts & { sessionId: SessionId; callSid: string; erasedAt: Date }

/**
 * Why it is erased: a tenant asked for it, the tenant's own rule of how long sessions are kept wants it, or it is a part of more,
 * which is noted `within` the same transaction.
 */
export type EraseFor = { by: Actor } | 'retention' | { within: (tx: Tx, receipt: ErasureReceipt) => Promise<void> }

/**
 * Erases a voice session for good, with what was said, done and recorded in it and the words that others have noted of its call.
 * The call log stays with its numbers and times. Written down in the audit log when somebody asked for it.
 *
 * The function throws AppError `not_found` for a session that the tenant does not have, or not any more; `conflict` while the
 * call is live.
 */
export type EraseSession = (tenantId: TenantId, sessionId: string, why: EraseFor) => Promise<ErasureReceipt>

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  files: Pick<RecordingFiles, 'remove'>
  /**
   * Takes note of what a call that is over has come to for whatever it was placed for: whoever asks at the end of the call would take that
   * away with the session. Not given: nothing is waiting for that. Rejects when it cannot.
   */
  noteEndOf?(call: OneCall): Promise<void>
}

export function makeEraseSession({ db, clock, log, files, noteEndOf }: Deps): EraseSession {
  async function eraseIn(tx: Tx, tenantId: TenantId, sessionId: SessionId, why: EraseFor): Promise<ErasureReceipt> {
    const found = await findVoiceSession(tx, tenantId, sessionId)
    if (!found) throw unknownSession()
    const { call_sid: callSid } = found
    await expectOver(tx, tenantId, callSid)
    // Whoever was first with it had the lock until now.
    if (!(await findVoiceSession(tx, tenantId, sessionId))) throw unknownSession()
    const erasedAt = new Date(clock.now())
    const counts = await eraseSession(tx, tenantId, { id: sessionId, callSid })
    await leaveCall(tx, tenantId, callSid)
    // Whatever was recorded: each node that had the call has its event log.
    await noteErasedRecording(tx, tenantId, sessionId, erasedAt)
    const receipt = { ...counts, sessionId, callSid, erasedAt }
    if (why === 'retention') return receipt
    if ('within' in why) await why.within(tx, receipt)
    else {
      const told = { targetId: sessionId, before: { call_sid: callSid, ...counts }, at: erasedAt }
      await audit(tx, { by: why.by, action: 'voice_session.erased', tenantId, ...told })
    }
    return receipt
  }

  return async (tenantId, sessionId, why) => {
    if (!isUuid(sessionId)) throw unknownSession()
    if (noteEndOf && why !== 'retention' && 'by' in why) {
      const found = await findVoiceSession(db, tenantId, sessionId as SessionId)
      if (found) await noteEndOf({ tenantId, callSid: found.call_sid })
    }
    const receipt = await db.transaction().execute((tx) => eraseIn(tx, tenantId, sessionId as SessionId, why))
    // Whatever a disk says, it is tried again: the note of it stands.
    await files
      .remove(tenantId, receipt.sessionId)
      .catch((err: unknown) => log.warn({ err, tenant_id: tenantId }, 'the audio of an erased session is still there'))
    return receipt
  }
}

/** What the directory has forgotten is over. @throws AppError */
async function expectOver(tx: Tx, tenantId: TenantId, callSid: string): Promise<void> {
  const locked = await lockRecord(tx, tenantId, callSid)
  if (!locked) return
  const { log, session } = locked.before
  const isEnded = session.ended_at !== null || session.started_at === null
  if (isOver(log.status) && isEnded) return
  throw new AppError('conflict', 'The call is live: wait for its end, or end it.')
}

function unknownSession(): AppError {
  return new AppError('not_found', 'There is no such voice session.')
}
