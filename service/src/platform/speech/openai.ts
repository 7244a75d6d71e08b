import { askOpenai, refusesForGood } from '../openai-http.ts'
import { openaiVoice } from '../openai-voice.ts'
import { type Answered, answeredSound, TELEPHONE_TYPE, tooLong } from './answered-sound.ts'
import { type Speech, SpeechFault, type SpeechRequest } from './port.ts'
import { MAX_MINUTE_BYTES } from './wav.ts'

type Options = {
  /** `https://api.openai.com/v1`, or that of any server that speaks the protocol. */
  baseUrl: string
  apiKey: string
}

const MODEL = 'gpt-4o-mini-tts'
/** The realtime model's own, too, so that a call has one voice. */
const DEFAULT_VOICE = 'marin'
/** Its model is shut down, or it has none that speaks. */
const GONE = new Set([404, 410])
/** More than this of a refusal is not read. */
const MAX_REASON_CHARS = 300

/** The speech endpoint, as OpenAI and others serve it. Of its formats only bare PCM needs no decoder: 24 kHz, 16 bits. */
export function openaiSpeech({ baseUrl, apiKey }: Options): Speech {
  return {
    model: MODEL,
    defaultVoice: DEFAULT_VOICE,
    async speak({ text, voice, speed, signal }) {
      const sound = { voice: openaiVoice(voice ?? DEFAULT_VOICE), speed, response_format: 'pcm' }
      const body = { model: MODEL, input: text, ...sound }
      const spoken = await answeredSound(await exchange(`${baseUrl}/audio/speech`, { apiKey, body, signal }))
      if (spoken.length === 0) throw new SpeechFault('the speech model answered with silence')
      return spoken
    },
  }
}

type Asked = { apiKey: string; body: object; signal: SpeechRequest['signal'] }

async function exchange(url: string, asked: Asked): Promise<Answered> {
  const accept = `${TELEPHONE_TYPE}, */*;q=0.5`
  const answer = await askOpenai(url, { ...asked, accept, maxBytes: MAX_MINUTE_BYTES }).catch((cause: unknown) => {
    throw new SpeechFault('the speech model did not answer', { cause })
  })
  if (!answer) throw tooLong()
  const { status, contentType, bytes } = answer
  if (status >= 200 && status < 300) return { contentType, bytes }
  const reason = reasonOf(bytes)
  throw new SpeechFault(`the speech model answered ${status}: ${reason}`, {
    isLasting: refusesForGood(status),
    isGone: GONE.has(status) || reason.includes('model_not_found'),
  })
}

function reasonOf(answer: Buffer): string {
  return answer.toString('utf8', 0, MAX_REASON_CHARS)
}
