import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'

/** Why there is no room for a call. */
export type NoRoom = 'overloaded' | 'process_full' | 'tenant_full' | 'stopping'

/** A call that wants room. `maxConcurrentCalls` is its tenant's own limit, null for none. */
export type WantedRoom = { tenantId: TenantId; callSid: string; maxConcurrentCalls: number | null }

type Place = { tenantId: TenantId; endsAtMs: number }

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
  #isStopping = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Takes a place for a call until its stream begins, or keeps the one that it has. Null when it has one. */
  reserve(wanted: WantedRoom): NoRoom | null {
    const endsAtMs = this.#deps.clock.monotonicMs() + this.#deps.reserveMs
    return this.#placeOf(wanted.callSid) ? this.#keep(wanted, endsAtMs) : this.#take(wanted, endsAtMs)
  }

  /** The same for a call whose stream begins, which is asked once more: its place lasts until it is released. */
  begin(wanted: WantedRoom): NoRoom | null {
    if (this.#deps.isOverloaded()) return 'overloaded'
    const has = this.#placeOf(wanted.callSid)
    return has ? this.#keep(wanted, Number.POSITIVE_INFINITY) : this.#take(wanted, Number.POSITIVE_INFINITY)
  }

  /** The call is over, or will not come. */
  release(callSid: string): void {
    this.#places.delete(callSid)
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

  #take({ tenantId, callSid, maxConcurrentCalls }: WantedRoom, endsAtMs: number): NoRoom | null {
    if (this.#isStopping) return 'stopping'
    if (this.#deps.isOverloaded()) return 'overloaded'
    if (this.#places.size >= this.#deps.maxCalls) return 'process_full'
    if (maxConcurrentCalls !== null && this.#countOf(tenantId) >= maxConcurrentCalls) return 'tenant_full'
    this.#places.set(callSid, { tenantId, endsAtMs })
    return null
  }

  #keep({ tenantId, callSid }: WantedRoom, endsAtMs: number): null {
    const known = this.#places.get(callSid)
    this.#places.set(callSid, { tenantId, endsAtMs: Math.max(endsAtMs, known?.endsAtMs ?? 0) })
    return null
  }

  #placeOf(callSid: string): Place | undefined {
    this.#dropLate()
    return this.#places.get(callSid)
  }

  #countOf(tenantId: TenantId): number {
    return this.#places
      .values()
      .filter((place) => place.tenantId === tenantId)
      .toArray().length
  }

  #dropLate(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    for (const [callSid, { endsAtMs }] of this.#places) if (endsAtMs <= nowMs) this.#places.delete(callSid)
  }
}
