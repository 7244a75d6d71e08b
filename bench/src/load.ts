import { randomBytes } from 'node:crypto'
import type { Server } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { THINK_MS } from './answer-script.ts'
import { Random } from './audio.ts'
import { Call } from './call.ts'
import { Caller } from './caller.ts'
import { Carrier, type Entrance } from './carrier.ts'
import { answerRest } from './carrier-rest.ts'
import { type ListenOptions, listenWebSocket, portOf } from './handshake.ts'
import { type Line, Lines } from './lines.ts'
import { Metronome, PHASES } from './metronome.ts'
import { ModelSocket } from './model-socket.ts'
import { Scratch } from './scratch.ts'
import { type LoadReport, Tally } from './tally.ts'
import { GREETING_MS } from './turn-script.ts'

/**
 * One run of the load. `entrance`: where the system under test takes calls. The window opens `warmupSeconds` after the
 * last call was opened and lasts `seconds`. `churnPerSecond`: so many new calls start, from the warm-up to the window's
 * end; those end that are older than `callSeconds`, or as many of the oldest as start when that is 0. `firstTurnMs`: how
 * long a caller listens to the greeting at least; default: to its end. `thinkMs`: from a request to the first delta of the
 * answer; default: 100.
 */
export type LoadPlan = {
  entrance: Entrance
  calls: number
  seconds: number
  warmupSeconds: number
  rampPerSecond: number
  churnPerSecond: number
  callSeconds: number
  firstTurnMs?: number
  thinkMs?: number
}

/** Where a system under test finds the two providers that the load plays. */
export type Providers = { modelUrl: string; carrierUrl: string }

const DRAIN_MS = 10_000
const FRAMES_PER_SECOND = 50
/** Makes the ids of one process's calls different from those of all others. */
const RUN_BYTES = 12

/**
 * Carrier, callers and model of all calls, in this one process and on its one clock.
 *
 * Each caller has a phase in the 20 ms; the model speaks half a period later, so that the two do not wait for each other.
 */
export class Load {
  readonly providers: Providers
  readonly #server: Server
  readonly #models = new Set<ModelSocket>()
  readonly #calls = new Map<number, Call>()
  readonly #lines = new Lines()
  readonly #metronome = new Metronome((phase, lateMs) => this.#beat(phase, lateMs))
  readonly #random = new Random(0x5eed)
  readonly #scratch = new Scratch()
  readonly #run = randomBytes(RUN_BYTES).toString('hex')
  #tally = new Tally()
  #thinkMs = THINK_MS
  #nextId = 1

  private constructor(server: Server, isTls: boolean) {
    this.#server = server
    const host = `127.0.0.1:${portOf(server)}`
    const s = isTls ? 's' : ''
    this.providers = { modelUrl: `ws${s}://${host}/v1/realtime?model=bench`, carrierUrl: `http${s}://${host}` }
  }

  /** Starts the servers of model and carrier on one free loopback port, over TLS when there is a key for it. */
  static async listen(tls?: ListenOptions['tls']): Promise<Load> {
    const server = await listenWebSocket(
      (upgraded) => {
        const socket = new ModelSocket(upgraded, { ...load.#shared(), thinkMs: load.#thinkMs })
        load.#models.add(socket)
        upgraded.socket.once('close', () => load.#models.delete(socket))
      },
      { tls, onRequest: (request, response) => void answerRest(request, response, load.#lines) },
    )
    const load = new Load(server, tls !== undefined)
    return load
  }

  /** Runs the plan once; `onWindow` is told when the window opens and closes. Runs follow each other, never overlap. */
  async run(plan: LoadPlan, onWindow: (state: 'open' | 'closed') => void): Promise<LoadReport> {
    this.#tally = new Tally()
    this.#thinkMs = plan.thinkMs ?? THINK_MS
    const carrier = new Carrier(plan.entrance)
    this.#metronome.start()
    await this.#ramp(plan, carrier)
    const churn = new AbortController()
    const churned = this.#churn(plan, carrier, churn.signal)
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
    carrier.close()
    return this.#tally.report()
  }

  /** Cuts every socket and stops listening. */
  close(): void {
    this.#metronome.stop()
    for (const model of this.#models) model.destroy()
    this.#server.close()
  }

  #shared() {
    return { tally: this.#tally, scratch: this.#scratch, callOf: (id: number) => this.#calls.get(id) }
  }

  async #ramp(plan: LoadPlan, carrier: Carrier): Promise<void> {
    const startMs = performance.now()
    const opened: Promise<void>[] = []
    for (let i = 0; i < plan.calls; i++) {
      await waitUntil(startMs + (i * 1000) / plan.rampPerSecond)
      opened.push(this.#open(plan, carrier))
    }
    await Promise.all(opened)
  }

  async #churn(plan: LoadPlan, carrier: Carrier, signal: AbortSignal): Promise<void> {
    if (plan.churnPerSecond <= 0) return
    const startMs = performance.now()
    const opened: Promise<void>[] = []
    for (let i = 1; !signal.aborted; i++) {
      await waitUntil(startMs + (i * 1000) / plan.churnPerSecond, signal)
      if (signal.aborted) break
      this.#lines.endSome(performance.now(), plan.callSeconds)
      opened.push(this.#open(plan, carrier))
    }
    await Promise.all(opened)
  }

  async #open({ firstTurnMs = GREETING_MS }: LoadPlan, carrier: Carrier): Promise<void> {
    const call = new Call(this.#nextId++, this.#run, performance.now() + firstTurnMs)
    this.#calls.set(call.id, call)
    try {
      const stream = await carrier.ring(call)
      if (stream === undefined) {
        this.#calls.delete(call.id)
        this.#tally.callRefused()
        return
      }
      this.#tally.answered(call.rungUs)
      const caller = await Caller.open(stream, call, { ...this.#shared(), random: this.#random })
      this.#tally.callOpened()
      this.#follow({ call, caller, stream }, carrier)
    } catch (error) {
      this.#calls.delete(call.id)
      this.#tally.callDropped(error)
    }
  }

  /** Looks after a call until it has ended and the system under test was told. */
  #follow(line: Line, carrier: Carrier): void {
    const { call, caller, stream } = line
    const dropped = (error: unknown) => this.#tally.callDropped(error)
    this.#lines.add(line)
    void carrier.streamChanged(call, stream, 'started').catch(dropped)
    const over = caller.closed
      .then(() => carrier.streamChanged(call, stream, 'stopped'))
      .then(() => carrier.hungUp(call, Math.ceil(call.framesSent / FRAMES_PER_SECOND)))
      .catch(dropped)
    void over.then(() => this.#lines.remove(line))
  }

  async #drain(): Promise<void> {
    const deadlineMs = performance.now() + DRAIN_MS
    this.#lines.endAll(performance.now())
    while (this.#lines.count > 0 || this.#models.size > 0) {
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
    for (const { call, caller } of this.#lines.inPhase(phase)) {
      caller.beat(nowMs)
      if (call.isSettled(nowMs)) caller.stop()
    }
    for (const { call } of this.#lines.inPhase((phase + PHASES / 2) % PHASES)) call.modelEnd?.beat(call, nowMs)
  }
}

function waitUntil(atMs: number, signal?: AbortSignal): Promise<void> {
  const leftMs = atMs - performance.now()
  if (leftMs <= 0) return Promise.resolve()
  return wait(leftMs, undefined, signal === undefined ? {} : { signal }).catch(() => {})
}
