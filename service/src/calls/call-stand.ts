import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import { findCallLog } from '../records/call-log-store.ts'
import { isOver } from '../records/call-status.ts'
import type { SessionId } from '../records/call-values.ts'
import type { Resuming } from '../records/resuming.ts'
import { findVoiceSession, type VoiceSessionRow } from '../records/voice-session-store.ts'
import type { CallHere, LiveSessions } from '../voice/live-sessions.ts'
import { makeGuessedEnds } from './guessed-ends.ts'
import { type Refusal, refusalOf } from './refusals.ts'

/** How a call stands whose carrier asks what comes next for it. */
export type CallStand = {
  /** As it is stored; null for a call that is here, or was until just now. */
  session: VoiceSessionRow | null
  /** Its conversation is over, whether that is written down yet or not. */
  isOver: boolean
  /** Others have it, as far as is known. */
  isPutThrough: boolean
  /** It has lost its model, and was to go elsewhere: a carrier that asks has not been told. */
  isElsewhere: boolean
  /** Why there was no room for its first stream, as far as it never had one; null for any other. */
  noRoom: Refusal | null
}

/** `here`: what this process knows of the call; else it is looked for by its session. */
type Known = { here: CallHere | null; stored: { sessionId: SessionId } | null }

type Deps = { db: Db; clock: Clock; live: LiveSessions; resuming: Resuming }

/** The function finds it out. @throws AppError `unavailable` when that is not known in time. */
export function makeCallStand({ db, clock, live, resuming }: Deps) {
  const guessedEnds = makeGuessedEnds({ clock, live, resuming })

  async function isEnding({ tenantId, reason, isGuessed }: CallHere, callSid: string): Promise<boolean> {
    return isGuessed ? guessedEnds.isOver(tenantId, callSid) : reason !== null && reason !== 'model_lost'
  }

  return async (tenantId: TenantId, callSid: string, { here, stored }: Known): Promise<CallStand> => {
    if (here) {
      const isElsewhere = here.reason === 'model_lost'
      const isPutThrough = here.reason === 'transferred'
      return { session: null, isOver: await isEnding(here, callSid), isPutThrough, isElsewhere, noRoom: null }
    }
    const session = stored && (await findVoiceSession(db, tenantId, stored.sessionId))
    return {
      session,
      isOver: isFinished(session),
      isPutThrough: session?.end_reason === 'transferred',
      isElsewhere: session?.end_reason === 'model_lost',
      noRoom: session && (await whyNotLetIn(db, session)),
    }
  }
}

/** Of a call that was on another node, or here some time ago. */
function isFinished(session: VoiceSessionRow | null): boolean {
  if (!session || isOver(session.call_status)) return true
  return session.ended_at !== null && session.end_reason !== 'model_lost'
}

async function whyNotLetIn(db: Db, { tenant_id, call_sid, started_at }: VoiceSessionRow): Promise<Refusal | null> {
  if (started_at !== null) return null
  return refusalOf((await findCallLog(db, tenant_id, call_sid))?.error_code ?? null)
}
