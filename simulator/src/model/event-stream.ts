import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { CutManner, ModelFaults, Moment } from './faults.ts'
import { newId } from './ids.ts'
import type { Timers } from './timers.ts'

/** What an event carries beside its type and id. */
export type Fields = Record<string, unknown>

type Wire = { socket: WebSocket; raw: Socket; timers: Timers }

/** How long a connection in a black hole is kept before it is let go after all. */
const BLACK_HOLE_MS = 120_000
const POLICY_CLOSE = 1011

/** Writes the server's events of one session, in order, and loses or delays them when the faults say so. */
export class EventStream {
  readonly #wire: Wire
  readonly #onExpire: () => void
  #faults: ModelFaults = {}
  #watches: { moment: Moment; hits: number; act: () => void }[] = []
  #disarm: (() => void)[] = []
  #sent = 0
  #held: string[] | null = null
  #isLost = false

  /** `onExpire` is called when the fault of an early end of the session strikes. */
  constructor(wire: Wire, onExpire: () => void) {
    this.#wire = wire
    this.#onExpire = onExpire
  }

  /** How many events were written, faults' own events included. */
  get sentCount(): number {
    return this.#sent
  }

  /** Puts faults in force; their moments count from now. */
  setFaults(faults: ModelFaults): void {
    this.#faults = faults
    this.#watches = []
    for (const disarm of this.#disarm.splice(0)) disarm()
    const { cut, stall, expire } = faults
    if (cut) this.#watch(cut, () => this.#cut(cut.manner, cut.code))
    if (stall) this.#watch(stall, () => this.#stall(stall.stall_ms))
    if (expire) this.#watch(expire, this.#onExpire)
  }

  /** Sends an event with an id of its own. Nothing happens once the connection is lost. */
  send(type: string, fields: Fields = {}): void {
    const every = this.#faults.unknown_event_every
    if (every && (this.#sent + 1) % every === 0)
      this.#write('rehearsal.unknown_event', { note: 'Nobody knows this type.' })
    this.#write(type, fields)
    const struck = this.#watches.filter((watch) => isHit(watch, type, this.#sent))
    this.#watches = this.#watches.filter((watch) => !struck.includes(watch))
    for (const watch of struck) watch.act()
  }

  /** Sends one event of a useless size. */
  sendHuge(sizeBytes: number): void {
    this.#write('rehearsal.huge_event', { padding: 'x'.repeat(sizeBytes) })
  }

  /** Says goodbye with a close frame. */
  close(code: number, reason: string): void {
    if (!this.#isLost) this.#wire.socket.close(code, reason)
  }

  #write(type: string, fields: Fields): void {
    if (this.#isLost) return
    this.#sent++
    const frame = JSON.stringify({ type, event_id: newId('event'), ...fields })
    if (this.#held) this.#held.push(frame)
    else this.#wire.socket.send(frame)
  }

  #watch(moment: Moment, act: () => void): void {
    const watch = { moment, hits: 0, act }
    if (moment.after_events !== undefined) watch.moment = { ...moment, after_events: this.#sent + moment.after_events }
    else if (moment.on_event === undefined) {
      this.#disarm.push(this.#wire.timers.after(moment.after_ms ?? 0, act))
      return
    }
    this.#watches.push(watch)
  }

  #stall(stallMs: number): void {
    this.#held ??= []
    this.#wire.timers.after(stallMs, () => {
      const frames = this.#held ?? []
      this.#held = null
      if (!this.#isLost) for (const frame of frames) this.#wire.socket.send(frame)
    })
  }

  #cut(manner: CutManner, code = POLICY_CLOSE): void {
    const { socket, raw, timers } = this.#wire
    if (manner === 'close') return this.close(code, 'rehearsed loss')
    this.#isLost = true
    if (manner === 'fin') raw.end()
    else if (manner === 'rst') raw.resetAndDestroy()
    else {
      // Nothing is read any more either: a peer's ping, close frame or end stays without an answer.
      socket.pause()
      timers.after(BLACK_HOLE_MS, () => raw.destroy())
    }
  }
}

function isHit(watch: { moment: Moment; hits: number }, type: string, sentCount: number): boolean {
  const { after_events: afterEvents, on_event: onEvent, nth = 1 } = watch.moment
  if (afterEvents !== undefined) return sentCount >= afterEvents
  if (type !== onEvent) return false
  watch.hits++
  return watch.hits >= nth
}
