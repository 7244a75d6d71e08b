import type { Attempt } from './circuit.ts'
import type { StreamedSpeech, VoiceEvent, VoiceName, VoiceStream } from './streamed-port.ts'
import type { VoiceCircuits } from './voice-circuits.ts'

/** A provider of voices as all calls of the process have it. */
export type SharedSpeech = StreamedSpeech & {
  /** Whether it answers, and has this voice, as far as calls have found out. */
  isAvailable(voice: VoiceName): boolean
  /** Whether a call that begins now is to be spoken by it: also the one that finds out whether it answers again. */
  mayTry(voice: VoiceName): boolean
}

const NO_STREAM: VoiceStream = { say() {}, flush() {}, end() {}, close() {} }

/**
 * The same provider behind its circuits: what comes of each stream is told to them, and while one of them is open no stream is tried.
 *
 * A stream has succeeded at its end, when all of its text was spoken: one that breaks off in the middle has failed. One that was
 * not used, or was cut by whoever listens, says nothing. What the provider does not have, such as a voice, is a failure of that
 * voice, and none of the provider's.
 */
export function withCircuit(speech: StreamedSpeech, circuits: VoiceCircuits): SharedSpeech {
  const { provider } = circuits
  return {
    name: speech.name,
    isAvailable: (voice) => provider.isClosed && (circuits.of(voice)?.isClosed ?? true),
    mayTry: (voice) => provider.mayTry && (circuits.of(voice)?.mayTry ?? true),
    open(setup, listener) {
      const attempts = begin(circuits, setup)
      if (attempts === null) {
        listener.event({ type: 'failed', why: 'circuit_open', message: 'it has failed too often' })
        return NO_STREAM
      }
      const stream = speech.open(setup, {
        event(event) {
          tell(circuits, setup, { attempts, event })
          listener.event(event)
        },
        audio: (payload) => listener.audio(payload),
      })
      return {
        say: (text) => stream.say(text),
        flush: () => stream.flush(),
        end: () => stream.end(),
        close() {
          for (const attempt of Object.values(attempts)) attempt?.dropped()
          stream.close()
        },
      }
    },
  }
}

/** `voice` is null of one that has not failed so far. */
type Attempts = { provider: Attempt; voice: Attempt | null }

function begin(circuits: VoiceCircuits, setup: VoiceName): Attempts | null {
  const ofVoice = circuits.of(setup)
  if (!circuits.provider.mayTry || !(ofVoice?.mayTry ?? true)) return null
  const provider = circuits.provider.begin()
  return provider && { provider, voice: ofVoice?.begin() ?? null }
}

function tell(
  circuits: VoiceCircuits,
  setup: VoiceName,
  { attempts: { provider, voice }, event }: { attempts: Attempts; event: VoiceEvent },
): void {
  if (event.type === 'spoken') return
  if (event.type === 'done') {
    provider.succeeded()
    return voice?.succeeded()
  }
  if (event.why === 'unfit') {
    // It has answered, though not with speech: whether it speaks is not known yet.
    provider.dropped()
    const failing = voice ?? circuits.failing(setup).begin()
    return failing?.failed()
  }
  if (event.why === 'idle') provider.dropped()
  else provider.failed()
  voice?.dropped()
}
