import { type NewEvent, wantsEvent } from '../delivery/enqueue.ts'
import type { Tx } from '../platform/db/schema.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { listParts } from './recording-store.ts'
import { recordingUrl } from './voice-session-shape.ts'
import type { VoiceSessionRow } from './voice-session-store.ts'

/**
 * What the tenant is told once its recording is whole: the session has ended, and no part of it is being written. To be asked
 * by whoever made one of these true, with the call locked, so that it is told once.
 */
export async function tellRecording(tx: Tx, tenant: TenantRuntime, session: VoiceSessionRow): Promise<NewEvent[]> {
  if (session.ended_at === null || !session.has_recording || !wantsEvent(tenant, 'voice.recording.ready')) return []
  const parts = await listParts(tx, session.tenant_id, session.id)
  const ready = parts.filter(({ state }) => state === 'ready')
  const [first] = ready
  if (!first || parts.some(({ state }) => state === 'recording')) return []
  const endsAtMs = Math.max(...ready.map((part) => part.started_at.getTime() + (part.duration_ms ?? 0)))
  const recording = {
    voice_session_id: session.id,
    call_sid: session.call_sid,
    recording_url: recordingUrl(session),
    duration_ms: endsAtMs - first.started_at.getTime(),
    parts: ready.length,
  }
  const subject = { callSid: session.call_sid, sessionId: session.id }
  return [{ event: 'voice.recording.ready', subject, payload: { recording } }]
}
