import { abandonedOf, endingOf, heldCall, progressOf } from './calls/call-ended.ts'
import type { CallEnding, Finishing } from './calls/finish.ts'
import type { Deps } from './deps.ts'
import type { Floors } from './floors.ts'
import { withTimeout } from './kernel/clock.ts'
import type { TenantId } from './kernel/ids.ts'
import type { NoRoom } from './voice/live-capacity.ts'
import type { SessionState } from './voice/session/state.ts'
import type { EndedCall } from './voice/session-builder.ts'
import type { AbandonedCall } from './voice/stream-ends.ts'
import type { StreamedCall } from './voice/streamed-call.ts'
import type { VoiceNeeds } from './voice-floor.ts'

/** The caller hears nothing meanwhile. */
const NOTED_WITHIN_MS = 1_000

/** Who looks for a call whose stream was lost. */
type Watching = { streamLost(tenantId: TenantId, callSid: string): Promise<void> }

/** What is written down when sessions come to an end, lose their streams, or cannot begin. */
export function makeCallEnds(
  deps: Deps,
  floors: Floors,
  watching: Watching,
): Pick<VoiceNeeds, 'finish' | 'isHeld' | 'checkpoint' | 'abandon' | 'notLetIn' | 'unbegun'> {
  const { clock } = deps
  const { finishing, resuming, statuses } = floors
  return {
    finish: (ended: EndedCall) => writeDown(deps, finishing, endingOf(ended, clock)),
    isHeld: (call: StreamedCall) => resuming.isHeld(heldCall(call)),
    checkpoint: (call: StreamedCall, state: SessionState) => {
      void noteProgress(deps, floors, call, state)
      void watching.streamLost(call.tenant.tenant_id, call.callSid)
    },
    abandon: (call: AbandonedCall) => void writeDown(deps, finishing, abandonedOf(call, new Date(clock.now()))),
    notLetIn: async (tenantId: TenantId, callSid: string, why: NoRoom) => {
      deps.log.warn({ tenant_id: tenantId, call_sid: callSid, why }, 'a stream was not let in')
      const late = () => new Error('it took too long')
      const noted = statuses.notTaken(tenantId, callSid, { why, at: new Date(clock.now()) })
      await withTimeout(clock, noted, NOTED_WITHIN_MS, late).catch((err: unknown) =>
        deps.log.error({ err, call_sid: callSid }, 'why a call got no stream was not noted'),
      )
    },
    unbegun: (tenantId: TenantId, callSid: string) => {
      statuses
        .cancelUnbegun(tenantId, callSid)
        .catch((err: unknown) => deps.log.warn({ err, call_sid: callSid }, 'a call that never began was not closed'))
    },
  }
}

/** Never rejects: what is not written is what the call costs if nobody comes to its end. */
async function noteProgress({ log }: Deps, { sessions }: Floors, call: StreamedCall, state: SessionState) {
  const { tenant, callSid, epoch, next = [] } = call
  await sessions
    .progressed(tenant, { callSid, epoch, next, progress: progressOf(call, state) })
    .catch((err: unknown) => log.warn({ err, call_sid: callSid }, 'what a session came to was not noted'))
}

/** Whether it was the end of the call, as far as is known. Never rejects: an end that cannot be written is told in the log. */
async function writeDown({ log }: Deps, finishing: Finishing, ending: CallEnding): Promise<boolean> {
  const { tenantId, callSid, session } = ending
  const fields = { tenant_id: tenantId, call_sid: callSid, reason: session.endReason }
  log.info(fields, 'call ended')
  try {
    return await finishing.finish(ending)
  } catch (err) {
    log.error({ ...fields, err }, 'the end of a call was not written down')
    return true
  }
}
