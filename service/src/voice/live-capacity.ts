import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'

/** Why there is no room for a call. */
export type NoRoom = 'overloaded' | 'process_full' | 'tenant_full' | 'stopping'

/** A call, as the room for it is known by. */
export type CallOfTenant = { tenantId: TenantId; callSid: string }

/**
 * A call that wants room. `maxConcurrentCalls` is its tenant's own limit, null for none. `comesBack`: its caller has talked to an
 * agent already, and would be cut off: only a process that is full or stops has no room for it.
 */
export type WantedRoom = CallOfTenant & { maxConcurrentCalls: number | null; comesBack?: boolean }

/**
 * The answer to a call that is to be answered: why there is no room, or null and a place. `giveBack` is for who then cannot go
 * on; the place stays as long as another request of the same call was given it too.
 */
export type Room = { noRoom: NoRoom | null; giveBack(): void }

type Place = { tenantId: TenantId; endsAtMs: number; requests: number }

type Deps = {
  clock: Clock
  /** MAX_CALLS. */
  maxCalls: number
  /** How long a call that was answered keeps its place until its stream begins: as long as its token is good. */
  reserveMs: number
  isOverloaded: () => boolean
}

/**
 * Room for calls on this process. A call takes its place when it is answered, before its stream begins, so that any number
 * of calls that arrive at once get no more places than there are.
 */
export class LiveCapacity {
  readonly #deps: Deps
  readonly #places = new Map<string, Place>()
  /** By the reference of their dial, until when at most they ring. */
  readonly #ringing = new Map<string, number>()
  #isStopping = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Takes a place for a call until its stream begins, `forMs` at most, or keeps the one that it has. */
  reserve(wanted: WantedRoom, forMs = this.#deps.reserveMs): Room {
    const noRoom = this.#enter(wanted, this.#deps.clock.monotonicMs() + forMs)
    const place = this.#places.get(keyOf(wanted))
    if (noRoom || !place) return { noRoom, giveBack: () => {} }
    place.requests += 1
    const giveBack = () => {
      place.requests -= 1
      if (place.requests === 0 && this.#places.get(keyOf(wanted)) === place) this.release(wanted)
    }
    return { noRoom: null, giveBack }
  }

  /**
   * The same for a call whose stream begins, which is asked once more: its place lasts until it is released. One that is turned away
   * loses the place that it had: it must not be promised another stream by that while the process is as busy as before.
   */
  begin(wanted: WantedRoom): NoRoom | null {
    if (!this.#isTooMuch(wanted)) return this.#enter(wanted, Number.POSITIVE_INFINITY)
    this.release(wanted)
    return 'overloaded'
  }

  /**
   * `end` ends the session that a call has here, and the next one has its place: a call that has one is not asked whether there
   * is room. Why there is none, for one that has not.
   */
  passOn(wanted: WantedRoom, end: () => void): NoRoom | null {
    const place = this.#places.get(keyOf(wanted))
    end()
    if (!place) return this.begin(wanted)
    this.#places.set(keyOf(wanted), { ...place, endsAtMs: Number.POSITIVE_INFINITY })
    return null
  }

  /** Whether there would be room, without taking it: null when there would. */
  ask(wanted: WantedRoom): NoRoom | null {
    this.#dropLate()
    return this.#places.has(keyOf(wanted)) ? null : this.#refusal(wanted)
  }

  /**
   * Whether one more call may be placed, whosever: null when there would be room for it and for all whose phones ring. Those keep nobody
   * out who calls: not all of them are answered. A tenant's own limit is the dial gate's, which knows of all nodes.
   */
  askToDial(): NoRoom | null {
    this.#dropLate()
    return this.#refusalOfAny({}, this.#ringing.size)
  }

  /** By what references phones ring, as far as it is known here: of some the carrier may have told other nodes. */
  get ringing(): string[] {
    this.#dropLate()
    return [...this.#ringing.keys()]
  }

  /** A phone is to ring, for `forMs` at most, and whoever answers it wants room. */
  ring(dialRef: string, forMs: number): void {
    this.#ringing.set(dialRef, this.#deps.clock.monotonicMs() + forMs)
  }

  /** It rings no more, whether it was answered or not. */
  rang(dialRef: string): void {
    this.#ringing.delete(dialRef)
  }

  /** Whether the call has a place. */
  has(call: CallOfTenant): boolean {
    this.#dropLate()
    return this.#places.has(keyOf(call))
  }

  /** The call is over, or will not come. */
  release(call: CallOfTenant): void {
    this.#places.delete(keyOf(call))
  }

  /** Takes no further calls; those that have a place may still begin. */
  stop(): void {
    this.#isStopping = true
  }

  /** Calls that have a place now. */
  get taken(): number {
    this.#dropLate()
    return this.#places.size
  }

  #enter(wanted: WantedRoom, endsAtMs: number): NoRoom | null {
    this.#dropLate()
    const known = this.#places.get(keyOf(wanted))
    const noRoom = known ? null : this.#refusal(wanted)
    if (known) known.endsAtMs = Math.max(endsAtMs, known.endsAtMs)
    else if (!noRoom) this.#places.set(keyOf(wanted), { tenantId: wanted.tenantId, endsAtMs, requests: 0 })
    return noRoom
  }

  #refusal(wanted: WantedRoom): NoRoom | null {
    const { tenantId, maxConcurrentCalls, comesBack } = wanted
    const noRoom = this.#refusalOfAny(wanted)
    if (noRoom) return noRoom
    const isFull = !comesBack && maxConcurrentCalls !== null && this.#countOf(tenantId) >= maxConcurrentCalls
    return isFull ? 'tenant_full' : null
  }

  /** Why there is no room for a call, whosever it is. `others`: who may want room as well. */
  #refusalOfAny(wanted: Pick<WantedRoom, 'comesBack'>, others = 0): NoRoom | null {
    if (this.#isStopping) return 'stopping'
    if (this.#isTooMuch(wanted)) return 'overloaded'
    return this.#places.size + others >= this.#deps.maxCalls ? 'process_full' : null
  }

  #isTooMuch({ comesBack }: Pick<WantedRoom, 'comesBack'>): boolean {
    return !comesBack && this.#deps.isOverloaded()
  }

  #countOf(tenantId: TenantId): number {
    return this.#places
      .values()
      .filter((place) => place.tenantId === tenantId)
      .toArray().length
  }

  #dropLate(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    for (const [key, { endsAtMs }] of this.#places) if (endsAtMs <= nowMs) this.#places.delete(key)
    for (const [dialRef, endsAtMs] of this.#ringing) if (endsAtMs <= nowMs) this.#ringing.delete(dialRef)
  }
}

/** By tenant as well: whoever names a call of another tenant's has not that call's place. */
function keyOf({ tenantId, callSid }: CallOfTenant): string {
  return `${tenantId} ${callSid}`
}
