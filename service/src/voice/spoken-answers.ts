import type { VoiceEvent, VoiceListener, VoiceStream } from '../platform/speech/streamed-port.ts'

/** Opens a stream of the secondary provider's speech, in the voice of the call's agent. */
export type OpenVoice = (listener: VoiceListener) => VoiceStream

type Deps = {
  open: OpenVoice
  /** The fast path: a view that is only valid now. */
  audio(responseId: string, itemId: string, payload: Buffer): void
  event(id: string, event: VoiceEvent): void
}

type Opened = { stream: VoiceStream | null; responseId: string; itemId: string }

/** The streams of the secondary provider's speech that a call has open: each speaks one answer. */
export class SpokenAnswers {
  readonly #deps: Deps
  readonly #streams = new Map<string, Opened>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** What of it is open. */
  get held(): string[] {
    return [...this.#streams.keys()].map((id) => `stream ${id}`)
  }

  open(id: string): void {
    const opened: Opened = { stream: null, responseId: '', itemId: '' }
    this.#streams.set(id, opened)
    opened.stream = this.#deps.open({
      event: (event) => {
        if (!this.#streams.has(id)) return
        if (event.type !== 'spoken') this.#streams.delete(id)
        this.#deps.event(id, event)
      },
      audio: (payload) => {
        if (this.#streams.has(id)) this.#deps.audio(opened.responseId, opened.itemId, payload)
      },
    })
  }

  /** The audio of a stream goes by the ids with which it was spoken to. */
  speak(id: string, { responseId, itemId, text }: { responseId: string; itemId: string; text: string }): void {
    const opened = this.#streams.get(id)
    if (!opened) return
    opened.responseId = responseId
    opened.itemId = itemId
    opened.stream?.say(text)
  }

  flush(id: string): void {
    this.#streams.get(id)?.stream?.flush()
  }

  end(id: string): void {
    this.#streams.get(id)?.stream?.end()
  }

  cut(id: string): void {
    const opened = this.#streams.get(id)
    this.#streams.delete(id)
    opened?.stream?.close()
  }

  close(): void {
    for (const id of [...this.#streams.keys()]) this.cut(id)
  }
}
