import type { Circuit } from './circuit.ts'
import type { StreamedSpeech, VoiceEvent, VoiceStream } from './streamed-port.ts'

/** A provider of voices as all calls of the process have it. */
export type SharedSpeech = StreamedSpeech & {
  /** Whether it answers, as far as calls have found out. */
  readonly isAvailable: boolean
  /** Whether a call that begins now is to be spoken by it: also the one that finds out whether it answers again. */
  readonly mayTry: boolean
}

const NO_STREAM: VoiceStream = { say() {}, flush() {}, end() {}, close() {} }

/**
 * The same provider behind a circuit: what comes of each stream is told to it, and while it is open no stream is tried. The first
 * audio is a success; a stream that was not used says nothing.
 */
export function withCircuit(speech: StreamedSpeech, circuit: Circuit): SharedSpeech {
  return {
    name: speech.name,
    get isAvailable() {
      return circuit.isClosed
    },
    get mayTry() {
      return circuit.mayTry
    },
    open(setup, listener) {
      const attempt = circuit.begin()
      if (attempt === null) {
        listener.event({ type: 'failed', why: 'circuit_open', message: 'it has failed too often' })
        return NO_STREAM
      }
      const told = (event: VoiceEvent) => {
        if (event.type === 'done') attempt.succeeded()
        if (event.type === 'failed' && event.why === 'idle') attempt.dropped()
        else if (event.type === 'failed') attempt.failed()
        listener.event(event)
      }
      const stream = speech.open(setup, {
        event: told,
        audio(payload) {
          attempt.succeeded()
          listener.audio(payload)
        },
      })
      return {
        say: (text) => stream.say(text),
        flush: () => stream.flush(),
        end: () => stream.end(),
        close() {
          attempt.dropped()
          stream.close()
        },
      }
    },
  }
}
