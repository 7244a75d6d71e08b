import type { Clock } from '../../src/kernel/clock.ts'
import type { ModelListener, ModelSession, RealtimeDriver } from '../../src/platform/realtime/port.ts'

const USAGE = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, audioSeconds: 1 }

/** A model that says what it hears: its answers are the last frame of the caller. */
export function parrotDriver({ clock }: { clock: Clock }): RealtimeDriver {
  return {
    name: 'parrot',
    capabilities: { truncation: false, callerTranscripts: false, textOutput: false, nativeMulaw: true },
    open(_setup, listener) {
      clock.after(1, () => listener.event({ type: 'ready' }))
      return new Parrot(listener)
    },
  }
}

class Parrot implements ModelSession {
  readonly #listener: ModelListener
  #heard = Buffer.from(Buffer.alloc(160, 0xff).toString('base64'))
  #answers = 0

  constructor(listener: ModelListener) {
    this.#listener = listener
  }

  append(payload: Buffer): void {
    this.#heard = Buffer.from(payload)
  }

  send(command: { type: string }): void {
    if (command.type === 'respond') this.#answer()
  }

  bufferedBytes(): number {
    return 0
  }

  close(): void {}

  #answer(): void {
    this.#answers += 1
    const [responseId, itemId] = [`r${this.#answers}`, `i${this.#answers}`]
    this.#listener.event({ type: 'response_started', responseId })
    this.#listener.event({ type: 'item_added', itemId, previousItemId: null, role: 'agent' })
    this.#listener.event({ type: 'agent_transcript', responseId, itemId, text: 'Polly.', final: true })
    this.#listener.audio(responseId, itemId, this.#heard)
    this.#listener.event({ type: 'audio_done', responseId, itemId })
    const done = { type: 'response_done', status: 'completed', errorCode: null, fault: null, usage: USAGE } as const
    this.#listener.event({ ...done, responseId })
  }
}
