import type { Server } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { Random } from './audio.ts'
import { Call } from './call.ts'
import { Caller, type CallerDeps } from './caller.ts'
import { listenWebSocket, portOf } from './handshake.ts'
import { Metronome, PHASES } from './metronome.ts'
import { ModelSocket } from './model-socket.ts'
import { Scratch } from './scratch.ts'
import { type LoadReport, Tally } from './tally.ts'

/**
 * One run of the load. `mediaUrl`: where the system under test takes calls. The window opens `warmupSeconds` after the
 * last call was opened and lasts `seconds`. `churnPerSecond`: so many calls end and as many new ones start, from the
 * warm-up to the window's end.
 */
export type LoadPlan = {
  mediaUrl: string
  calls: number
  seconds: number
  warmupSeconds: number
  rampPerSecond: number
  churnPerSecond: number
}

type Line = { call: Call; caller: Caller }

const DRAIN_MS = 10_000

/**
 * Callers and model of all calls, in this one process and on its one clock.
 *
 * Each caller has a phase in the 20 ms; the model speaks half a period later, so that the two do not wait for each other.
 */
export class Load {
  readonly #server: Server
  readonly #models = new Set<ModelSocket>()
  readonly #calls = new Map<number, Call>()
  readonly #phases: Line[][] = Array.from({ length: PHASES }, () => [])
  readonly #metronome = new Metronome((phase, lateMs) => this.#beat(phase, lateMs))
  readonly #random = new Random(0x5eed)
  readonly #scratch = new Scratch()
  #tally = new Tally()
  #nextId = 1

  private constructor(server: Server) {
    this.#server = server
  }

  /** Starts the model's server on a free loopback port. */
  static async listen(): Promise<Load> {
    const server = await listenWebSocket((upgraded) => {
      const socket = new ModelSocket(upgraded, {
        tally: load.#tally,
        scratch: load.#scratch,
        callOf: (id) => load.#calls.get(id),
      })
      load.#models.add(socket)
      upgraded.socket.once('close', () => load.#models.delete(socket))
    })
    const load = new Load(server)
    return load
  }

  /** Where the system under test finds its model. */
  get modelUrl(): string {
    return `ws://127.0.0.1:${portOf(this.#server)}/v1/realtime?model=bench`
  }

  /** Runs the plan once; `onWindow` is told when the window opens and closes. Runs follow each other, never overlap. */
  async run(plan: LoadPlan, onWindow: (state: 'open' | 'closed') => void): Promise<LoadReport> {
    this.#tally = new Tally()
    this.#metronome.start()
    await this.#ramp(plan)
    const churn = new AbortController()
    const churned = this.#churn(plan, churn.signal)
    await wait(plan.warmupSeconds * 1000)
    this.#tally.open()
    onWindow('open')
    await wait(plan.seconds * 1000)
    this.#tally.close()
    onWindow('closed')
    churn.abort()
    await churned
    await this.#drain()
    this.#metronome.stop()
    return this.#tally.report()
  }

  /** Cuts every socket and stops listening. */
  close(): void {
    this.#metronome.stop()
    for (const model of this.#models) model.destroy()
    this.#server.close()
  }

  async #ramp(plan: LoadPlan): Promise<void> {
    const startMs = performance.now()
    const opened: Promise<void>[] = []
    for (let i = 0; i < plan.calls; i++) {
      await waitUntil(startMs + (i * 1000) / plan.rampPerSecond)
      opened.push(this.#open(plan.mediaUrl))
    }
    await Promise.all(opened)
  }

  async #churn(plan: LoadPlan, signal: AbortSignal): Promise<void> {
    if (plan.churnPerSecond <= 0) return
    const startMs = performance.now()
    const opened: Promise<void>[] = []
    for (let i = 1; !signal.aborted; i++) {
      await waitUntil(startMs + (i * 1000) / plan.churnPerSecond, signal)
      if (signal.aborted) break
      this.#oldest()?.call.end(performance.now())
      opened.push(this.#open(plan.mediaUrl))
    }
    await Promise.all(opened)
  }

  #oldest(): Line | undefined {
    const lines = this.#phases.flat().filter((line) => !line.call.isEnding)
    return lines.toSorted((a, b) => a.call.id - b.call.id)[0]
  }

  async #open(mediaUrl: string): Promise<void> {
    const call = new Call(this.#nextId++, performance.now())
    const deps: CallerDeps = { tally: this.#tally, scratch: this.#scratch, random: this.#random }
    this.#calls.set(call.id, call)
    try {
      const caller = await Caller.open(mediaUrl, call, deps)
      const line = { call, caller }
      this.#phases[call.id % PHASES]?.push(line)
      void caller.closed.then(() => this.#remove(line))
    } catch {
      this.#calls.delete(call.id)
      this.#tally.faults.callsDropped += 1
    }
  }

  #remove(line: Line): void {
    const lines = this.#phases[line.call.id % PHASES] ?? []
    lines.splice(lines.indexOf(line), 1)
  }

  async #drain(): Promise<void> {
    const deadlineMs = performance.now() + DRAIN_MS
    for (const { call } of this.#phases.flat()) call.end(performance.now())
    while (this.#phases.some((lines) => lines.length > 0) || this.#models.size > 0) {
      if (performance.now() > deadlineMs) break
      await wait(20)
    }
    for (const model of this.#models) model.destroy()
    for (const call of this.#calls.values()) call.close(this.#tally)
    this.#calls.clear()
  }

  #beat(phase: number, lateMs: number): void {
    this.#tally.beat(lateMs)
    const nowMs = performance.now()
    for (const { call, caller } of this.#phases[phase] ?? []) {
      caller.beat(nowMs)
      if (call.isSettled(nowMs)) caller.stop()
    }
    for (const { call } of this.#phases[(phase + PHASES / 2) % PHASES] ?? []) call.modelEnd?.beat(call, nowMs)
  }
}

function waitUntil(atMs: number, signal?: AbortSignal): Promise<void> {
  const leftMs = atMs - performance.now()
  if (leftMs <= 0) return Promise.resolve()
  return wait(leftMs, undefined, signal === undefined ? {} : { signal }).catch(() => {})
}
