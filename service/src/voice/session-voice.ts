import type { Log } from '../platform/log.ts'
import type { ModelCapabilities } from '../platform/realtime/port.ts'
import type { SharedSpeech } from '../platform/speech/guarded.ts'
import type { VoiceListener, VoiceStream } from '../platform/speech/streamed-port.ts'
import type { CompleteAgentConfig } from '../tenancy/agent-config-defaults.ts'
import type { StreamedCall } from './streamed-call.ts'

type Deps = { speech: SharedSpeech | null; capabilities: ModelCapabilities; log: Pick<Log, 'warn'> }
type Open = (how: CompleteAgentConfig['speech'], listener: VoiceListener) => VoiceStream

/**
 * The secondary provider's voice for a call that begins now; null where the model speaks: nobody asks for another one, it is not
 * set up, its circuit or that of the voice is open, or the model cannot write.
 */
export function secondVoiceFor({ tenant, callSid }: StreamedCall, { speech, capabilities, log }: Deps): Open | null {
  const { provider, voice_id: voiceId, model_id: modelId } = tenant.audio_output
  if (provider !== 'secondary' || voiceId === null || !capabilities.textOutput) return null
  if (!speech?.mayTry({ voiceId, modelId })) return null
  return ({ language, speed }, listener) =>
    speech.open(
      { voiceId, modelId, language, speed },
      {
        event(event) {
          if (event.type === 'failed' && event.why !== 'idle') {
            const { why, message } = event
            log.warn(
              { tenant_id: tenant.tenant_id, call_sid: callSid, why, reason: message },
              'a second voice was lost',
            )
          }
          listener.event(event)
        },
        audio: (payload) => listener.audio(payload),
      },
    )
}
