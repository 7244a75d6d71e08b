import type { ModelCommand, ModelListener, ModelSession } from '../platform/realtime/port.ts'

/**
 * One of the model sessions of a call, the `epoch`th, counted from 1.
 *
 * A provider's ids are unique within a session at best, and a call may have several: the ids of items, answers and tool
 * calls carry the session's number from the second one on. A command for what another session made goes nowhere, and
 * nothing comes out of a session that was closed.
 */
export class ModelLink {
  readonly #epoch: number
  readonly #session: ModelSession
  #isClosed = false

  constructor(epoch: number, open: (listener: ModelListener) => ModelSession, listener: ModelListener) {
    this.#epoch = epoch
    this.#session = open({
      event: (event) => {
        if (!this.#isClosed) listener.event(epoch === 1 ? event : withIds(event, (id) => idIn(epoch, id)))
      },
      audio: (responseId, itemId, payload) => {
        if (!this.#isClosed) listener.audio(idIn(epoch, responseId), idIn(epoch, itemId), payload)
      },
    })
  }

  append(payload: Buffer): void {
    this.#session.append(payload)
  }

  send(command: ModelCommand): void {
    let isOwn = true
    const bare = withIds(command, (id) => {
      isOwn &&= epochOf(id) === this.#epoch
      return id.slice(idIn(this.#epoch, '').length)
    })
    if (isOwn) this.#session.send(bare)
  }

  bufferedBytes(): number {
    return this.#session.bufferedBytes()
  }

  /** Ends the session. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#session.close()
  }
}

/** Not a character of any provider's ids. */
const SEPARATOR = '·'

function idIn(epoch: number, id: string): string {
  return epoch === 1 ? id : `${epoch}${SEPARATOR}${id}`
}

function epochOf(id: string): number {
  const at = id.indexOf(SEPARATOR)
  return at === -1 ? 1 : Number(id.slice(0, at))
}

/** The same event or command with other ids; those that are not there are not added. `requestId`s are our own. */
function withIds<T extends object>(of: T, change: (id: string) => string): T {
  const changed: Record<string, string> = {}
  for (const name of ['itemId', 'previousItemId', 'responseId', 'callId']) {
    const id = (of as Record<string, unknown>)[name]
    if (typeof id === 'string') changed[name] = change(id)
  }
  return { ...of, ...changed }
}
