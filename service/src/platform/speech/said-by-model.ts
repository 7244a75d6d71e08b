import type { ModelEvent, ModelSetup, RealtimeDriver } from '../realtime/port.ts'
import { type Speech, SpeechFault, type SpeechRequest } from './port.ts'
import { trimmedTelephone } from './telephone-audio.ts'

/** Nobody listens to a recording for longer than a minute: µ-law. */
const MAX_BYTES = 60 * 8_000
/** A model that says other words may say the right ones when it is asked again. */
const MAX_ATTEMPTS = 3
const INSTRUCTIONS =
  'You read out sentences that are recorded. Say what you are given word for word and in its own language, and nothing before or after it.'
const NO_TURNS: ModelSetup['turnDetection'] = {
  ...{ type: 'server_vad', threshold: 0.5 },
  ...{ prefixPaddingMs: 300, silenceDurationMs: 500 },
}

type Said = { audio: Buffer; words: string }

/** The voice of a realtime model for words that are there whole. It is not made to read out, so what it says is compared with them. */
export function saidByModel(driver: RealtimeDriver, defaultVoice: string): Speech {
  return {
    model: driver.modelFor?.(null) ?? driver.name,
    defaultVoice,
    async speak(request) {
      const asked = { ...request, voice: request.voice ?? defaultVoice }
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const messages = await said(driver, asked).catch((error: unknown) => {
          // Every answer is paid for, and whoever asks again has no more time for the right one.
          throw attempt > 0 && request.signal.aborted ? otherWords({ cause: error }) : error
        })
        const right = [whole(messages), ...messages].find(({ words }) => plainWords(words) === plainWords(request.text))
        const spoken = right ? trimmedTelephone(right.audio) : null
        if (spoken && spoken.length > 0) return spoken
      }
      throw otherWords()
    },
  }
}

function otherWords(options: ErrorOptions = {}): SpeechFault {
  return new SpeechFault('the realtime model says other words', { isLasting: true, ...options })
}

/** `first`, and where it has nothing to speak with any more, `next`. */
export function withSuccessor(first: Speech, next: Speech): Speech {
  return {
    ...first,
    speak: (request) =>
      first.speak(request).catch((error: unknown) => {
        if (error instanceof SpeechFault && error.isGone) return next.speak(request)
        throw error
      }),
  }
}

/** The messages of an answer while they come, in their order. */
class Messages {
  readonly #items = new Map<string, { pieces: Buffer[]; words: string }>()

  of(itemId: string): { pieces: Buffer[]; words: string } {
    const message = this.#items.get(itemId) ?? { pieces: [], words: '' }
    this.#items.set(itemId, message)
    return message
  }

  said(): Said[] {
    return [...this.#items.values()].map(({ pieces, words }) => ({ audio: Buffer.concat(pieces), words }))
  }
}

function whole(messages: readonly Said[]): Said {
  const words = messages.map((message) => message.words).join(' ')
  return { audio: Buffer.concat(messages.map(({ audio }) => audio)), words }
}

/** What it says, message by message: a model that reasons may say something ahead of what it is asked for. */
function said(driver: RealtimeDriver, { text, voice, speed, signal }: SpeechRequest): Promise<Said[]> {
  return new Promise((resolve, reject) => {
    const messages = new Messages()
    let sizeBytes = 0
    const end = (settle: () => void) => {
      signal.removeEventListener('abort', aborted)
      session.close()
      settle()
    }
    const fail = (message: string, options: ConstructorParameters<typeof SpeechFault>[1] = {}) =>
      end(() => reject(new SpeechFault(message, options)))
    const aborted = () => fail('the realtime model did not answer', { cause: signal.reason })
    const session = driver.open(setupOf(voice, speed), {
      event(event) {
        if (event.type === 'agent_transcript' && event.final) messages.of(event.itemId).words = event.text
        if (event.type === 'response_done' && (event.status === 'completed' || event.status === 'incomplete')) {
          // Kept from saying all that it was about to, it has said nothing of use.
          return end(() => resolve(event.status === 'completed' ? messages.said() : []))
        }
        const reason = reasonOf(event)
        if (reason !== null) fail(`the realtime model failed: ${reason}`, { isLasting: isForGood(event) })
      },
      audio(_responseId, itemId, payload) {
        const audio = Buffer.from(payload.toString('latin1'), 'base64')
        sizeBytes += audio.length
        messages.of(itemId).pieces.push(audio)
        if (sizeBytes > MAX_BYTES) fail('the realtime model speaks for more than a minute', { isLasting: true })
      },
    })
    signal.addEventListener('abort', aborted, { once: true })
    if (signal.aborted) return aborted()
    session.send({ type: 'respond', requestId: 'say', instructions: `Say exactly this, and nothing else: ${text}` })
  })
}

function setupOf(voice: string | null, speed: number): ModelSetup {
  return {
    ...{ model: null, voice, speed, instructions: INSTRUCTIONS, output: 'audio', tools: [] },
    ...{
      turnDetection: NO_TURNS,
      noiseReduction: 'off',
      reasoningEffort: null,
      transcription: { model: null, language: null },
    },
  }
}

/** Why nothing will come; null of an event after which something may. */
function reasonOf(event: ModelEvent): string | null {
  if (event.type === 'closed') return event.code
  if (event.type === 'refused') return event.fault === 'benign' ? null : event.code
  return event.type === 'response_done' ? (event.errorCode ?? event.status) : null
}

/** Whether it will be no better the next time: the endpoint that has nothing to speak with is as lasting. */
function isForGood(event: ModelEvent): boolean {
  return event.type === 'closed' && (event.fault === 'fatal' || event.fault === 'setup')
}

/** What is heard of a text; signs that are said as words are words. */
function plainWords(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\p{Sc}%&+=@#§°]/gu, ' $& ')
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Sc}%&+=@#§°]+/gu, ' ')
    .trim()
}
