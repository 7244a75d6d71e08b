import type WaveSurfer from 'wavesurfer.js'
import { pageColour } from '../../components/page-colour.ts'

/** The recording of a call, drawn and played. */
export type WavePlayer = {
  playFrom: (ms: number) => void
  toggle: () => void
  close: () => void
}

type WavePlayerOptions = {
  container: HTMLElement
  audio: Blob
  onTime: (ms: number) => void
  onPlaying: (isPlaying: boolean) => void
}

const HEIGHT_PX = 56

/**
 * Draws the caller above the agent, and plays both. The library is loaded when it is needed first.
 *
 * @throws Error for what cannot be read as audio.
 */
export async function openWavePlayer({ container, audio, onTime, onPlaying }: WavePlayerOptions): Promise<WavePlayer> {
  const { default: library } = await import('wavesurfer.js')
  const player: WaveSurfer = library.create({
    container,
    height: HEIGHT_PX,
    barWidth: 2,
    barGap: 1,
    barRadius: 1,
    normalize: true,
    cursorColor: pageColour('--ink'),
    splitChannels: [channel('--busy'), channel('--accent')],
    cspNonce: document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '',
  })
  player.on('timeupdate', (seconds) => onTime(seconds * 1_000))
  player.on('play', () => onPlaying(true))
  player.on('pause', () => onPlaying(false))
  try {
    await player.loadBlob(audio)
  } catch (error) {
    player.destroy()
    throw error
  }
  return {
    playFrom(ms) {
      player.setTime(ms / 1_000)
      void player.play()
    },
    toggle: () => void player.playPause(),
    close: () => player.destroy(),
  }
}

function channel(name: string) {
  return { waveColor: pageColour('--soft'), progressColor: pageColour(name) }
}
