import { type Speech, SpeechFault, type SpeechRequest } from './port.ts'
import type { StreamedSpeech } from './streamed-port.ts'
import { trimmedTelephone } from './telephone-audio.ts'

/** Nobody listens to a recording for longer than a minute: µ-law. */
const MAX_BYTES = 60 * 8_000

/** A voice that speaks what is being written, for words that are there whole; `voice` of a request is not asked for. */
export function wholeSpeech(
  streamed: StreamedSpeech,
  { voiceId, modelId }: { voiceId: string; modelId: string | null },
): Speech {
  return {
    model: `${streamed.name} ${modelId ?? ''}`,
    defaultVoice: voiceId,
    async speak({ text, speed, signal }) {
      const spoken = trimmedTelephone(await gathered(streamed, { voiceId, modelId, speed, text, signal }))
      if (spoken.length === 0) throw new SpeechFault('the secondary provider answered with silence')
      return spoken
    },
  }
}

type Asked = Pick<SpeechRequest, 'text' | 'speed' | 'signal'> & { voiceId: string; modelId: string | null }

function gathered(streamed: StreamedSpeech, { text, signal, ...setup }: Asked): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let sizeBytes = 0
    const fail = (fault: SpeechFault) => {
      stream.close()
      reject(fault)
    }
    const aborted = () => fail(new SpeechFault('the secondary provider did not answer', { cause: signal.reason }))
    const stream = streamed.open(
      { ...setup, language: null },
      {
        event(event) {
          if (event.type === 'spoken') return
          signal.removeEventListener('abort', aborted)
          if (event.type === 'done') resolve(Buffer.concat(pieces))
          else reject(new SpeechFault(`the secondary provider failed (${event.why}): ${event.message}`))
        },
        audio(payload) {
          const audio = Buffer.from(payload.toString('latin1'), 'base64')
          sizeBytes += audio.length
          pieces.push(audio)
          const tooLong = 'the secondary provider speaks for more than a minute'
          if (sizeBytes > MAX_BYTES) fail(new SpeechFault(tooLong, { isLasting: true }))
        },
      },
    )
    signal.addEventListener('abort', aborted, { once: true })
    if (signal.aborted) return aborted()
    stream.say(text)
    stream.end()
  })
}
