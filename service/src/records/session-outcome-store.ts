import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type SessionEndReason, STREAM_LOST } from './call-values.ts'
import { PRESSED } from './pressed-keys.ts'

/** Whether the caller, or who was called, has said something or keyed it in: of `session`, a row of `voice_sessions`. */
export const HAS_SPOKEN: RawBuilder<boolean> = sql`
  exists (
    select from transcript_turns turn
     where turn.tenant_id = session.tenant_id and turn.session_id = session.id
       and (turn.role = 'caller' or (turn.role = 'system' and starts_with(turn.text, ${sql.lit(PRESSED)})))
  )`

/** Whether it is known how `session` ended, or there is none. */
export const IS_SESSION_OVER: RawBuilder<SqlBool> = sql`(session.id is null or session.ended_at is not null)`

const BROKEN: SessionEndReason[] = ['model_lost', 'process_lost', 'carrier_lost', 'rejected', 'shutdown']

/** Whether it was for us that `session` ended: one in which nobody had spoken by then has failed. */
export const HAS_BROKEN_OFF: RawBuilder<boolean> = sql`session.end_reason = any (${BROKEN}::text[])`

const WITH_US: SessionEndReason[] = ['process_lost', 'shutdown']

/** Whether `session` ended because our own process was lost, or stopped, or never began as the call of `log` was answered while it stopped. */
export const ENDED_WITH_US: RawBuilder<boolean> = sql`
  coalesce(session.end_reason = any (${WITH_US}::text[]) or (session.end_reason = 'rejected' and log.error_code = 'stopping'), false)`

/** Whether the stream of `log` never began, or was lost for good. */
export const LOST_ITS_STREAM: RawBuilder<SqlBool> = sql`log.error_code = ${sql.lit(STREAM_LOST)}`

/**
 * Whether a call was answered and no agent could talk in it: its carrier has it as completed, and it was for us that it came to
 * nothing. Of `log` and its `session`, once that is over.
 */
export const HAD_NO_AGENT: RawBuilder<boolean> = sql`
  coalesce(
    log.status = 'completed' and session.id is not null and not ${HAS_SPOKEN}
      and (${HAS_BROKEN_OFF} or ${LOST_ITS_STREAM}),
    false
  )`
