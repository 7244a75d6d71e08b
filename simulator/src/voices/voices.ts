import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import { Timers } from '../model/timers.ts'
import type { Speech } from '../speech/speech.ts'
import { type VoiceFaultPlan, VoiceFaultSwitches } from './voice-faults.ts'
import { type VoiceSettings, voiceSettings } from './voice-settings.ts'
import { type VoiceRecord, VoiceStream } from './voice-stream.ts'

const FRAME_BYTES_MAX = 1024 * 1024
const STREAMS_KEPT = 200

/** A provider of voices that speak text while it is being written, by the protocol of ElevenLabs' `stream-input`. */
export class Voices {
  readonly #speech: Speech
  readonly #apiKey: string | null
  readonly #switches = new VoiceFaultSwitches()
  readonly #timers = new Timers()
  readonly #upgrader = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: FRAME_BYTES_MAX })
  #streams: VoiceStream[] = []

  /** @param apiKey null takes any key. */
  constructor(speech: Speech, apiKey: string | null) {
    this.#speech = speech
    this.#apiKey = apiKey
  }

  /** Its latest streams, oldest first. */
  get streams(): readonly VoiceRecord[] {
    return this.#streams.map(({ record }) => record)
  }

  /** Replaces the faults of all streams to come. */
  setFaults(plans: VoiceFaultPlan[]): void {
    this.#switches.set(plans)
  }

  /** Answers a request for a stream. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const faults = this.#switches.forNextStream()
    if (faults.refuse) return void socket.resetAndDestroy()
    const settings = voiceSettings(request)
    const status = faults.handshake_status ?? ('status' in settings ? settings.status : null)
    this.#timers.after(faults.handshake_delay_ms ?? 0, () => {
      if (status !== null) return void socket.end(refusal(status))
      this.#upgrader.handleUpgrade(request, socket, head, (accepted) => {
        const given = request.headers['xi-api-key']
        const givenKey = typeof given === 'string' && given !== '' ? given : null
        const own = { raw: socket, settings: settings as VoiceSettings, faults, givenKey }
        this.#keep(new VoiceStream({ ...own, socket: accepted, speech: this.#speech, apiKey: this.#apiKey }))
      })
    })
  }

  close(): void {
    this.#timers.close()
    for (const stream of this.#streams) stream.close()
  }

  #keep(stream: VoiceStream): void {
    this.#streams = [...this.#streams, stream].slice(-STREAMS_KEPT)
  }
}

function refusal(status: number): string {
  return `HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`
}
