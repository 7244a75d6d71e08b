import { ApiFailure } from '../api/failure.ts'
import { type Level, levelOf } from './level.ts'

const WORKLET = `${import.meta.env.BASE_URL}microphone-worklet.js`

/** What a browser calls it, and what to do. */
const REFUSALS: Record<string, string> = {
  NotAllowedError:
    'The browser keeps the microphone from this page. Allow it with the sign beside the address, then try again.',
  NotFoundError: 'There is no microphone. Connect one, then try again.',
  NotReadableError: 'Another program has the microphone. Close it, then try again.',
}
const UNSAFE_PAGE =
  'A browser lends its microphone only to pages at https:// or at localhost. Open this page at such an address.'

/** What somebody says into the machine. */
export type Microphone = {
  level: Level
  /** Gives the microphone back. */
  close(): void
}

type Hearing = {
  /** Takes what is heard, in blocks of 20 ms at the rate of the context. */
  onBlock: (samples: Float32Array) => void
  /** It was unplugged, or taken from the page: it hears nothing any more. */
  onLost: () => void
}

/**
 * Asks for the microphone and tells what it hears.
 *
 * @throws ApiFailure `microphone_refused` that says what to do.
 */
export async function openMicrophone(context: AudioContext, { onBlock, onLost }: Hearing): Promise<Microphone> {
  const stream = await askForMicrophone()
  const close = () => {
    for (const track of stream.getTracks()) track.stop()
  }
  try {
    await context.audioWorklet.addModule(WORKLET)
  } catch (error) {
    close()
    throw error
  }
  const source = context.createMediaStreamSource(stream)
  const analyser = context.createAnalyser()
  const blocks = new AudioWorkletNode(context, 'microphone-blocks')
  blocks.port.onmessage = ({ data }: MessageEvent<Float32Array>) => onBlock(data)
  for (const track of stream.getTracks()) track.addEventListener('ended', onLost)
  // Of what has ended meanwhile nothing more is told.
  if (stream.getTracks().some(({ readyState }) => readyState === 'ended')) onLost()
  source.connect(analyser)
  // What leads nowhere is not asked to run; nothing comes out of it.
  source.connect(blocks).connect(context.destination)
  return { level: levelOf(analyser), close }
}

async function askForMicrophone(): Promise<MediaStream> {
  // In pages that are not safe it is not there, whatever the types say.
  const devices = navigator.mediaDevices as MediaDevices | undefined
  if (!devices) throw refused(UNSAFE_PAGE)
  const audio = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 }
  return devices.getUserMedia({ audio }).catch((error: DOMException) => {
    throw refused(REFUSALS[error.name] ?? `The microphone cannot be used: ${error.message}`)
  })
}

function refused(message: string): ApiFailure {
  return new ApiFailure({ status: 0, code: 'microphone_refused', message })
}
