import type { Clock } from '../../kernel/clock.ts'
import { Circuit, type CircuitLimits } from './circuit.ts'
import type { VoiceName } from './streamed-port.ts'

/** Voices that have failed and are remembered: those that failed last. */
const MAX_VOICES = 1_000

/**
 * The circuits of a provider of voices: one for itself, and one for each voice that it does not have. What one tenant's setting
 * asks in vain keeps nobody else from the provider.
 */
export class VoiceCircuits {
  readonly provider: Circuit
  readonly #clock: Clock
  readonly #limits: CircuitLimits
  /** Of the voices that have failed, the latest last. */
  readonly #voices = new Map<string, Circuit>()

  constructor(clock: Clock, { provider, voice }: { provider: CircuitLimits; voice: CircuitLimits }) {
    this.#clock = clock
    this.#limits = voice
    this.provider = new Circuit(clock, provider)
  }

  /** That of the voice; null of one that has not failed. */
  of(voice: VoiceName): Circuit | null {
    return this.#voices.get(keyOf(voice)) ?? null
  }

  /** That of a voice that fails now. */
  failing(voice: VoiceName): Circuit {
    const key = keyOf(voice)
    const circuit = this.#voices.get(key) ?? new Circuit(this.#clock, this.#limits)
    this.#voices.delete(key)
    this.#voices.set(key, circuit)
    for (const oldest of this.#voices.keys()) {
      if (this.#voices.size <= MAX_VOICES) break
      this.#voices.delete(oldest)
    }
    return circuit
  }
}

function keyOf({ voiceId, modelId }: VoiceName): string {
  return JSON.stringify([voiceId, modelId])
}
