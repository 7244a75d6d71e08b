import load, { type Fvad } from '@echogarden/fvad-wasm'
import { rms } from '../audio/levels.ts'
import { decodeMulaw, FRAME_BYTES, SAMPLE_RATE_HZ } from '../audio/mulaw.ts'

/** What one 20 ms frame sounds like. */
export type FrameVerdict = {
  /** How sure it is that somebody speaks: 0 to 1, compared with a session's `threshold`. */
  probability: number
  /** Whether the frame is a voiced sound (a vowel), which hiss and clicks are not. */
  voiced: boolean
}

/** Judges frames of one audio stream, in order. */
export type VoiceActivity = {
  /** Judges the next frame: exactly 160 bytes of µ-law. */
  judge(frame: Uint8Array): FrameVerdict
  /** Gives its memory back. Must be called once, and nothing after it. */
  close(): void
}

/** The detector's second of four modes: it lets little speech pass unnoticed; the energy floor catches the rest. */
const MODE = 1
/** Energies of this many frames (1.5 s) decide what the background is: speech always dips within that time. */
const FLOOR_FRAMES = 75
const FLOOR_MIN_DB = -60
const FULL_SCALE = 32768
/** A first word must not be taken for background noise. */
const FLOOR_MAX_DB = -35
/** Sound this far above the background is as likely speech as not. */
const EVEN_ODDS_DB = 9
const ODDS_SLOPE_DB = 2.5
/** Noise crosses zero at about every second sample, a vowel seldom. */
const VOICED_CROSSINGS_MAX = 0.3

let loading: Promise<Fvad> | undefined

/**
 * Loads what makes detectors: an adaptive energy floor beside the WebRTC detector, because that one alone calls white
 * noise speech.
 */
export async function loadVoiceActivity(): Promise<() => VoiceActivity> {
  loading ??= load()
  const fvad = await loading
  return () => makeVoiceActivity(fvad)
}

function makeVoiceActivity(fvad: Fvad): VoiceActivity {
  const handle = fvad._fvad_new()
  fvad._fvad_set_mode(handle, MODE)
  fvad._fvad_set_sample_rate(handle, SAMPLE_RATE_HZ)
  const address = fvad._malloc(FRAME_BYTES * 2)
  const floor = new EnergyFloor()
  return {
    judge(frame) {
      const samples = decodeMulaw(frame)
      fvad.HEAP16.set(samples, address / 2)
      const active = fvad._fvad_process(handle, address, samples.length) === 1
      const aboveDb = floor.aboveDb(samples)
      return {
        probability: active ? 1 / (1 + Math.exp((EVEN_ODDS_DB - aboveDb) / ODDS_SLOPE_DB)) : 0,
        voiced: active && crossings(samples) < VOICED_CROSSINGS_MAX,
      }
    },
    close() {
      fvad._free(address)
      fvad._fvad_free(handle)
    },
  }
}

class EnergyFloor {
  #recentDb: number[] = []

  aboveDb(samples: Int16Array): number {
    const db = energyDb(samples)
    this.#recentDb.push(db)
    if (this.#recentDb.length > FLOOR_FRAMES) this.#recentDb.shift()
    const floorDb = Math.min(FLOOR_MAX_DB, Math.max(FLOOR_MIN_DB, Math.min(...this.#recentDb)))
    return db - floorDb
  }
}

function energyDb(samples: Int16Array): number {
  return 20 * Math.log10(Math.max(1, rms(samples)) / FULL_SCALE)
}

function crossings(samples: Int16Array): number {
  let count = 0
  for (let i = 1; i < samples.length; i++) if ((samples[i - 1] ?? 0) < 0 !== (samples[i] ?? 0) < 0) count++
  return count / samples.length
}
