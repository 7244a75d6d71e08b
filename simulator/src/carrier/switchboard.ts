import { Call } from './call.ts'
import { liveInbound, liveOutbound } from './call-life.ts'
import type { CallPlan, DialPlan } from './call-plan.ts'
import type { CallRecord } from './call-record.ts'
import type { CallerScript } from './caller-script.ts'
import { DialQueue } from './dial-queue.ts'
import type { World } from './world.ts'

// Recordings are big: those of more calls are let go of (who holds the call keeps its own).
const MOST_CALLS = 100
// What the REST surface still knows of; the carrier itself keeps them for months.
const MOST_RECORDS = 20_000

/** `anybody` answers at numbers that nobody was given. */
export type SwitchboardOptions = { callsPerSecond: number; anybody: CallerScript }

/** Begins calls, knows those that are and were, and who answers at which number. */
export class Switchboard {
  readonly calls: Call[] = []
  readonly records = new Map<string, CallRecord>()
  #world: World
  #queue: DialQueue
  #live = new Map<string, Call>()
  #open = new Set<Call>()
  #lives = new Map<string, Promise<void>>()
  #subscribers = new Map<string, CallerScript>()
  #anybody: CallerScript
  #watchers = new Set<(call: Call) => void>()
  #isClosed = false

  constructor(world: Omit<World, 'place'>, { callsPerSecond, anybody }: SwitchboardOptions) {
    this.#world = { ...world, place: (plan) => this.#place(plan) }
    this.#queue = new DialQueue(world.clock, callsPerSecond)
    this.#anybody = anybody
  }

  /** Calls the watcher with each call that begins from now on; the function that it returns ends that. */
  watch(watcher: (call: Call) => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Says who answers at a number; the function that it returns gives the number back to who had it before. */
  subscribe(number: string, script: CallerScript): () => void {
    const before = this.#subscribers.get(number)
    this.#subscribers.set(number, script)
    return () => {
      if (before) this.#subscribers.set(number, before)
      else this.#subscribers.delete(number)
    }
  }

  /** A call that is not over, by its identifier. */
  live(sid: string): Call | null {
    return this.#live.get(sid) ?? null
  }

  /** Begins an inbound call at once. @throws Error when the carrier is closed */
  ring(plan: CallPlan): Call {
    return this.#begin(plan, liveInbound)
  }

  /** Queues an outbound call; it is dialled when its turn comes. @throws Error when the carrier is closed */
  queue(plan: Omit<CallPlan, 'party'>): Call {
    const call = this.#make({ ...plan, party: this.#party(plan.to) })
    this.#queue.add((waitedMs) => {
      call.record.queueMs = waitedMs
      if (!call.over.aborted) this.#run(call, liveOutbound)
    })
    return call
  }

  /** Ends all calls and resolves when nothing of them is left. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#queue.close()
    const calls = [...this.#open]
    await Promise.all(calls.map((call) => call.close()))
    await Promise.all(calls.map(({ settled }) => settled))
  }

  #place(plan: DialPlan): Call {
    return this.#begin(
      {
        ...plan,
        party: this.#party(plan.to),
        fallback: { url: '', method: 'POST' },
        afterInstructions: 'stay',
        machineDetection: null,
      },
      liveOutbound,
    )
  }

  #party(number: string): CallerScript {
    return this.#subscribers.get(number) ?? this.#anybody
  }

  #begin(plan: CallPlan, live: (call: Call) => Promise<void>): Call {
    const call = this.#make(plan)
    this.#run(call, live)
    return call
  }

  #make(plan: CallPlan): Call {
    if (this.#isClosed) throw new Error('the carrier is closed')
    const call = new Call(this.#world, plan)
    this.calls.push(call)
    if (this.calls.length > MOST_CALLS) this.calls.shift()
    this.records.set(call.sid, call.record)
    const [oldest] = this.records.keys()
    if (this.records.size > MOST_RECORDS && oldest) this.records.delete(oldest)
    this.#live.set(call.sid, call)
    this.#open.add(call)
    for (const watcher of this.#watchers) watcher(call)
    void call.ended.then(() => this.#settle(call))
    return call
  }

  #run(call: Call, live: (call: Call) => Promise<void>): void {
    const living = live(call).catch((error: unknown) => {
      call.notify({
        code: 0,
        message: `the simulator failed: ${error instanceof Error ? error.message : String(error)}`,
      })
      call.end('failed', 'carrier')
    })
    this.#lives.set(call.sid, living)
  }

  async #settle(call: Call): Promise<void> {
    // A call that ended before its turn in the queue has not lived.
    await this.#lives.get(call.sid)
    await call.quiet()
    this.#lives.delete(call.sid)
    this.#live.delete(call.sid)
    call.settle()
    await call.gone()
    this.#open.delete(call)
  }
}
