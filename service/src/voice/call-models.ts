import type { MediaPath } from './media-path.ts'
import { ModelLink } from './model-link.ts'
import type { SessionEvent } from './session/events.ts'
import type { SessionDeps } from './session-deps.ts'

type Deps = {
  open: SessionDeps['openModel']
  media: Pick<MediaPath, 'openUplink' | 'keepBeside' | 'fromModel'>
  dispatch(event: SessionEvent): void
  /** Whether the call's own model was given up for the other one. */
  isFallback(): boolean
}

/** The model sessions of a call: the one that is talked to, and, for a moment, the one that is to take its place. */
export class CallModels {
  readonly #deps: Deps
  #current: ModelLink | null = null
  #next: ModelLink | null = null

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get current(): ModelLink | null {
    return this.#current
  }

  /** What of it is open. */
  get held(): string[] {
    const models = { model: this.#current, 'next model': this.#next }
    return Object.entries(models).flatMap(([name, model]) => (model ? [name] : []))
  }

  open(epoch: number, history: string | null): void {
    this.close()
    this.#current = this.#link(epoch, history)
  }

  /** From now on the caller's audio is kept for it, too. */
  openNext(epoch: number, history: string): void {
    this.#next = this.#link(epoch, history === '' ? null : history)
    this.#deps.media.keepBeside(true)
  }

  takeNext(): void {
    const before = this.#current
    this.#current = this.#next
    this.#next = null
    if (this.#current) this.#deps.media.openUplink(this.#current)
    before?.close()
  }

  closeNext(): void {
    this.#next?.close()
    this.#next = null
    this.#deps.media.keepBeside(false)
  }

  close(): void {
    this.#next?.close()
    this.#next = null
    this.#current?.close()
    this.#current = null
  }

  /** Of one that is not talked to yet nobody hears anything. */
  #link(epoch: number, history: string | null): ModelLink {
    const isFallback = this.#deps.isFallback()
    const link: ModelLink = new ModelLink(epoch, (listener) => this.#deps.open(listener, { history, isFallback }), {
      event: (event) => this.#deps.dispatch({ type: 'model', epoch, event }),
      audio: (responseId, itemId, payload) => {
        if (link === this.#current) this.#deps.media.fromModel(responseId, itemId, payload)
      },
    })
    return link
  }
}
