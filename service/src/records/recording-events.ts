import { type NewEvent, wantsEvent } from '../delivery/enqueue.ts'
import type { Tx } from '../platform/db/schema.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { beginsAtMs } from './recording-audio.ts'
import { listParts, type RecordingRow } from './recording-store.ts'
import { recordingUrl } from './voice-session-shape.ts'
import type { VoiceSessionRow } from './voice-session-store.ts'

/**
 * What the tenant is told once its recording is whole: the session has ended, and no part of it is being written. To be asked
 * by whoever made one of these true, with the call locked, so that it is told once.
 */
export async function tellRecording(tx: Tx, tenant: TenantRuntime, session: VoiceSessionRow): Promise<NewEvent[]> {
  if (!wantsEvent(tenant, 'voice.recording.ready')) return []
  const ready = await wholeParts(tx, session)
  const [first] = ready
  if (!first) return []
  const endsAtMs = Math.max(...ready.map((part) => part.started_at.getTime() + (part.duration_ms ?? 0)))
  const recording = {
    voice_session_id: session.id,
    call_sid: session.call_sid,
    recording_url: recordingUrl(session),
    duration_ms: endsAtMs - beginsAtMs(session.started_at, first.started_at),
    parts: ready.length,
  }
  const subject = { callSid: session.call_sid, sessionId: session.id }
  return [{ event: 'voice.recording.ready', subject, payload: { recording } }]
}

/** Whether the session's recording is whole by what is stored, so that its tenant has been told. To be asked with the call locked. */
export async function isWhole(tx: Tx, session: VoiceSessionRow): Promise<boolean> {
  return (await wholeParts(tx, session)).length > 0
}

/** The parts of a recording to which nothing will be added; none while something may be. */
async function wholeParts(tx: Tx, session: VoiceSessionRow): Promise<RecordingRow[]> {
  if (session.ended_at === null || !session.has_recording) return []
  const parts = await listParts(tx, session.tenant_id, session.id)
  return parts.some(({ state }) => state === 'recording') ? [] : parts.filter(({ state }) => state === 'ready')
}
