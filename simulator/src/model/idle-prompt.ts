import { BYTES_PER_MS } from '../audio/mulaw.ts'
import type { StoredItem } from './items.ts'
import type { TurnDetection } from './session-config.ts'
import type { Timers } from './timers.ts'

/** Lets the model speak up when the caller has said nothing for `idle_timeout_ms` since the last answer was played. */
export class IdlePrompt {
  readonly #timers: Timers
  readonly #onIdle: (idleMs: number) => void
  #cancel: () => void = () => {}

  /** `onIdle` is told how long nobody has spoken. */
  constructor(timers: Timers, onIdle: (idleMs: number) => void) {
    this.#timers = timers
    this.#onIdle = onIdle
  }

  /** A response is over: its audio plays first, then the waiting begins. */
  arm(settings: TurnDetection | null, spoken: StoredItem[]): void {
    this.disarm()
    if (settings?.type !== 'server_vad' || settings.idle_timeout_ms === null) return
    const idleMs = settings.idle_timeout_ms
    const playMs = spoken.reduce((sum, { audio }) => sum + (audio?.length ?? 0) / BYTES_PER_MS, 0)
    this.#cancel = this.#timers.after(playMs + idleMs, () => this.#onIdle(idleMs))
  }

  /** Somebody speaks again. */
  disarm(): void {
    this.#cancel()
  }
}
