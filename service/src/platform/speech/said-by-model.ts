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

/** `words`: null where the model was kept from saying all that it was about to. */
type Said = { audio: Buffer; words: string | null }

/** The voice of a realtime model for words that are there whole. It is not made to read out, so what it says is compared with them. */
export function saidByModel(driver: RealtimeDriver, defaultVoice: string): Speech {
  return {
    model: driver.modelFor?.(null) ?? driver.name,
    defaultVoice,
    async speak(request) {
      const asked = { ...request, voice: request.voice ?? defaultVoice }
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const { audio, words } = await said(driver, asked).catch((error: unknown) => {
          // Every answer is paid for, and whoever asks again has no more time for the right one.
          throw attempt > 0 && request.signal.aborted ? otherWords({ cause: error }) : error
        })
        if (words === null || plainWords(words) !== plainWords(request.text)) continue
        const spoken = trimmedTelephone(audio)
        if (spoken.length > 0) return spoken
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

function said(driver: RealtimeDriver, { text, voice, speed, signal }: SpeechRequest): Promise<Said> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    const words: string[] = []
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
        if (event.type === 'agent_transcript' && event.final) words.push(event.text)
        if (event.type === 'response_done' && (event.status === 'completed' || event.status === 'incomplete')) {
          const whole = event.status === 'completed' ? words.join(' ') : null
          return end(() => resolve({ audio: Buffer.concat(pieces), words: whole }))
        }
        const reason = reasonOf(event)
        if (reason !== null) fail(`the realtime model failed: ${reason}`, { isLasting: isForGood(event) })
      },
      audio(_responseId, _itemId, payload) {
        const audio = Buffer.from(payload.toString('latin1'), 'base64')
        sizeBytes += audio.length
        pieces.push(audio)
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
