import type { ModelEvent, ModelListener } from '../../service/src/platform/realtime/port.ts'

type EventOf<Type extends ModelEvent['type']> = Extract<ModelEvent, { type: Type }>

type Waiter = { accepts(event: ModelEvent): boolean; resolve(event: ModelEvent): void }

/** Keeps what a model session says, and lets one wait for it. */
export class ModelProbe implements ModelListener {
  readonly #events: ModelEvent[] = []
  readonly #audio: Buffer[] = []
  #waiters: Waiter[] = []
  #firstAudioAtMs: number | null = null
  #itemId = ''

  event(event: ModelEvent): void {
    this.#events.push(event)
    const ready = this.#waiters.filter((waiter) => waiter.accepts(event))
    this.#waiters = this.#waiters.filter((waiter) => !ready.includes(waiter))
    for (const waiter of ready) waiter.resolve(event)
  }

  audio(_responseId: string, itemId: string, payload: Buffer): void {
    this.#firstAudioAtMs ??= performance.now()
    this.#itemId = itemId
    this.#audio.push(Buffer.from(payload.toString('latin1'), 'base64'))
  }

  /** The first event of one of these types, past or to come. It is for the caller to bound the wait. */
  first<Type extends ModelEvent['type']>(...types: Type[]): Promise<EventOf<Type>> {
    const accepts = (event: ModelEvent): event is EventOf<Type> => types.some((type) => type === event.type)
    const past = this.#events.find(accepts)
    if (past) return Promise.resolve(past)
    return new Promise((resolve) => {
      // Sound: a waiter is given only what it accepts.
      this.#waiters.push({ accepts, resolve: (event) => resolve(event as EventOf<Type>) })
    })
  }

  /** All events of a type so far. */
  all<Type extends ModelEvent['type']>(type: Type): EventOf<Type>[] {
    return this.#events.filter((event): event is EventOf<Type> => event.type === type)
  }

  /** What was spoken so far: the bytes, the item that they belong to, and when (monotonic ms) the first of them came. */
  spoken(): { audio: Buffer; itemId: string; firstAtMs: number | null } {
    return { audio: Buffer.concat(this.#audio), itemId: this.#itemId, firstAtMs: this.#firstAudioAtMs }
  }
}
