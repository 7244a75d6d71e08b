import type { ModelSession } from '../platform/realtime/port.ts'
import { CallerAudio, mulawBytes } from './caller-audio.ts'
import { loudBytes } from './loudness.ts'
import { BYTES_PER_MS } from './playback.ts'

/** Where the caller's audio goes. */
export type Uplink = Pick<ModelSession, 'append' | 'bufferedBytes'>

/** How much of a stretch of the caller's audio was louder than a line's own noise. */
export type MeteredAudio = { ms: number; loudMs: number }

const FRAME_MS = 20
const METER_BYTES = 100 * BYTES_PER_MS
/** Silence in µ-law, 20 ms of it. */
const SILENT_FRAME = Buffer.from(Buffer.alloc(160, 0xff).toString('base64'))
/** Room for what was kept while a session was opened; when as much waits later on, the model is seconds behind. */
const MAX_MODEL_BACKLOG_BYTES = 64 * 1024

/** The caller's frames on their way to the model: passed on, kept for a model that is yet to come, and metered on request. */
export class CallerUplink {
  readonly #metered: (audio: MeteredAudio) => void
  readonly #kept = new CallerAudio()
  #uplink: Uplink | null = null
  #isKeeping = false
  #isMetering = false
  #meteredBytes = 0
  #loudBytes = 0

  /** Frames that a model in arrears did not get. */
  shedFrames = 0

  /** @param metered is told of each 100 ms while metering, and of longer frames at once. */
  constructor(metered: (audio: MeteredAudio) => void) {
    this.#metered = metered
  }

  /** One frame, as base64 µ-law: a view that is only valid now. */
  take(payload: Buffer): void {
    if (this.#isMetering) this.#meter(payload)
    if (!this.#uplink || this.#isKeeping) this.#kept.keep(payload)
    if (!this.#uplink) return
    if (this.#uplink.bufferedBytes() > MAX_MODEL_BACKLOG_BYTES) this.shedFrames += 1
    else this.#uplink.append(payload)
  }

  #meter(payload: Buffer): void {
    this.#meteredBytes += mulawBytes(payload)
    this.#loudBytes += loudBytes(payload)
    if (this.#meteredBytes < METER_BYTES) return
    const ms = Math.floor(this.#meteredBytes / BYTES_PER_MS)
    const loudMs = Math.floor(this.#loudBytes / BYTES_PER_MS)
    this.#meteredBytes -= ms * BYTES_PER_MS
    this.#loudBytes -= loudMs * BYTES_PER_MS
    this.#metered({ ms, loudMs })
  }

  /** Whether the loudness is measured, from now on: only while it matters. */
  meter(isOn: boolean): void {
    if (isOn === this.#isMetering) return
    this.#isMetering = isOn
    this.#meteredBytes = 0
    this.#loudBytes = 0
  }

  /** From now on the frames go to `uplink`, what was kept of them first. */
  open(uplink: Uplink): void {
    for (const payload of this.#kept.take()) uplink.append(payload)
    this.#isKeeping = false
    this.#uplink = uplink
  }

  /** From now on they are kept. */
  hold(): void {
    this.#uplink = null
  }

  /** Whether they are kept as well, for the uplink that will be opened next. */
  keepBeside(isOn: boolean): void {
    this.#isKeeping = isOn
    this.#kept.take()
  }

  /** Sends silence to the model in the caller's name. */
  pad(ms: number): void {
    for (let sentMs = 0; sentMs < ms; sentMs += FRAME_MS) this.#uplink?.append(SILENT_FRAME)
  }

  /** What it has that is not its own. */
  get held(): string[] {
    return [...(this.#uplink ? ['uplink'] : []), ...(this.#kept.isEmpty ? [] : ['kept audio'])]
  }

  /** Nothing is kept any more, and nobody gets what comes. */
  close(): void {
    this.#uplink = null
    this.#kept.take()
  }
}
