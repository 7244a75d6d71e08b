import type { ModelListener, ModelSession } from '../../src/platform/realtime/port.ts'
import { CallSession } from '../../src/voice/call-session.ts'
import { PutOff } from '../../src/voice/put-off.ts'
import { planWith } from '../../src/voice/session/call.fixture.ts'
import type { EndReason, LiveNote, ToolOutcome, Turn } from '../../src/voice/session/events.ts'
import type { Plan } from '../../src/voice/session/plan.ts'
import type { SessionState } from '../../src/voice/session/state.ts'
import type { ModelOpening, SessionDeps, ToolRequest } from '../../src/voice/session-deps.ts'
import { TestClock } from '../harness/clock.ts'
import { type Brain, restaurant } from './brain.ts'
import { type Act, VirtualCaller } from './caller.ts'
import { STREAM_SID, VirtualCarrier } from './carrier.ts'
import { VirtualModel } from './model.ts'
import type { VirtualSession } from './model-session.ts'
import { type ModelTimes, TIMES } from './model-world.ts'
import { Regrouped } from './regrouped.ts'
import { RunLog } from './run-log.ts'
import { SessionClock } from './session-clock.ts'
import { type Side, type Tampering, Wire } from './wire.ts'

export type WorldOptions = {
  /** That of what is around it; its own if not given. */
  clock?: TestClock
  script?: readonly Act[]
  brain?: Brain
  plan?: Partial<Plan>
  times?: Partial<ModelTimes>
  /** Of a message between us and the carrier, one way. */
  carrierDelayMs?: number | (() => number)
  /** How long a tool takes by its name; 0 if not given. */
  toolMs?: Record<string, number>
  /** The carrier leaves for what it was told to do instead without a word: it closes its socket, and that is all. */
  leavesSilently?: boolean
  /** How much later the echo of a mark comes than the carrier has played it; Infinity for never. */
  marksLateMs?: number
  /** The echo of a mark comes twice. */
  marksTwice?: boolean
  /** Whether a frame of the caller arrives; all do if not given. */
  isHeard?: (nowMs: number) => boolean
  /** How much audio of the caller the carrier sends at once; 20 if not given. */
  frameMs?: number
  /** Done to the wire as one event arrives. */
  tamper?: (world: World) => Tampering
  /** Takes the place of the model, or of the tools. */
  openModel?: SessionDeps['openModel']
  openScribe?: SessionDeps['openScribe']
  runTool?: SessionDeps['runTool']
  openVoice?: SessionDeps['openVoice']
  transfer?: SessionDeps['transfer']
  recorder?: SessionDeps['recorder']
  holdAudio?: SessionDeps['holdAudio']
  clips?: SessionDeps['clips']
  resumption?: SessionDeps['resumption']
}

/** From a request to the carrier to what it does. */
const REST_MS = 150
const STEP_MS = 200

/** A caller, a carrier and a model around one real session, in virtual time. */
export class World {
  readonly clock: TestClock
  readonly sessionClock: SessionClock
  readonly wire: Wire
  /** One for each stream of the call. */
  readonly carriers: VirtualCarrier[] = []
  readonly model: VirtualModel
  /** As the model takes them from here on. */
  readonly times: ModelTimes
  readonly caller: VirtualCaller
  readonly session: CallSession
  readonly toolRuns: ToolRequest[] = []
  readonly turns = new Map<string, Turn>()
  readonly notes: LiveNote[] = []
  /** When each turn was kept first, by its item. */
  readonly keptAtMs = new Map<string, number>()
  /** The model sessions that were opened, each with what it was told of the conversation, and what the record was then. */
  readonly openings: { session: VirtualSession; history: string; turns: Turn[] }[] = []
  /** The keys that arrived, each with the phase of the call then. */
  readonly keys: { digit: string; atMs: number; isTaken: boolean }[] = []
  /** What the session could be run again from. */
  readonly log = new RunLog()
  /** When the agent went on with what had been silenced. */
  readonly resumedAtMs: number[] = []
  readonly ends: EndReason[] = []
  readonly errors: unknown[] = []
  endedAtMs: number | null = null
  /** For each model session, in order, whether it was one of the fallback model. */
  readonly fallbacks: boolean[] = []
  hangUps = 0
  apologies = 0
  /** Whether the carrier was told meanwhile to go elsewhere with the call. */
  isElsewhere: () => boolean = () => false
  /** Told when the carrier has nothing of the call any more. */
  onCallOver: () => void = () => {}
  #isLineDead = false
  #isCallOver = false
  readonly #options: WorldOptions

  constructor(options: WorldOptions = {}) {
    this.#options = options
    const { clock = new TestClock() } = options
    this.clock = clock
    this.sessionClock = new SessionClock(clock)
    this.wire = new Wire(clock, options.tamper?.(this) ?? null)
    this.carriers.push(this.#newCarrier())
    this.times = { ...TIMES, ...options.times }
    this.model = new VirtualModel({
      clock,
      brain: options.brain ?? restaurant,
      times: this.times,
      wordsOf: (sound) => this.caller.wordsOf(sound),
      deliver: (what, run) => this.wire.deliver('model', what, run),
    })
    this.session = new CallSession(this.#deps())
    this.caller = this.#newCaller(options.script ?? [])
  }

  /** How late the echoes are that come. */
  get marksLateMs(): number {
    const { marksLateMs: ms = 0 } = this.#options
    return Number.isFinite(ms) ? ms : 0
  }

  /** That of the newest stream. */
  get carrier(): VirtualCarrier {
    const carrier = this.carriers.at(-1)
    if (!carrier) throw new Error('a world has a carrier')
    return carrier
  }

  /** How much of an answer the caller has heard. */
  heardMs(answer: number): number {
    return this.carriers.reduce((sum, carrier) => sum + carrier.heardMs(answer), 0)
  }

  get isOver(): boolean {
    return this.ends.length > 0
  }

  /** The turns of the record, in its order. */
  get transcript(): Turn[] {
    return [...this.turns.values()].sort((a, b) => a.seq - b.seq)
  }

  begin(): void {
    this.session.dispatch({ type: 'opened' })
  }

  /** Lets time pass until the session has ended, for `maxMs` at most. */
  async run(maxMs: number): Promise<void> {
    const endMs = this.clock.monotonicMs() + maxMs
    while (!this.isOver && this.clock.monotonicMs() < endMs) await this.clock.advance(STEP_MS)
  }

  /** Lets time pass until something is the case, for `maxMs` at most. */
  async until(what: () => boolean, maxMs = 30_000): Promise<boolean> {
    const endMs = this.clock.monotonicMs() + maxMs
    while (!what() && this.clock.monotonicMs() < endMs) await this.clock.advance(20)
    return what()
  }

  /** What the caller hears now. */
  hearing(): string | null {
    const answer = this.carrier.playing()
    return answer === null ? null : this.model.textOf(answer)
  }

  /** The carrier ends the stream, and says so. */
  endStream(): void {
    if (this.#isLineDead) return
    this.#lineDies()
    this.session.dispatch({ type: 'hung_up' })
  }

  /** The carrier's socket is gone without a word. */
  loseStream(): void {
    if (this.#isLineDead) return
    this.#lineDies()
    this.session.dispatch({ type: 'stream_lost' })
  }

  /** The carrier's socket is gone without a word, and the carrier opens another one for the call. */
  changeStream(afterMs: number): void {
    if (this.#isLineDead) return
    this.#isLineDead = true
    this.carrier.close()
    this.session.dispatch({ type: 'stream_lost' })
    this.clock.after(afterMs, () => {
      if (!this.isElsewhere()) this.#comeBack()
    })
  }

  #comeBack(): void {
    if (this.#isCallOver) return
    if (!this.session.isAttachable) return this.endCall()
    this.carriers.push(this.#newCarrier())
    this.#isLineDead = false
    const { codec, socket } = this.carrier
    this.wire.note('-> the stream is back')
    this.session.attach({ codec, carrier: socket, streamSid: STREAM_SID })
  }

  /** The carrier ends the stream in order, and goes elsewhere with the call. */
  leaveStream(): void {
    if (this.#isLineDead) return
    this.#isLineDead = true
    const leg = this.session.leg()
    this.carrier.close()
    this.clock.after(this.carrier.delayMs(), () =>
      this.#deliver('carrier', 'stop', () => leg.dispatch({ type: 'stream_stopped' })),
    )
  }

  /** The carrier opens another stream for the call, as it was told to; false where nobody would take it. */
  openStream(): boolean {
    if (!this.session.isAttachable || !this.#isLineDead) return false
    this.#comeBack()
    return true
  }

  /** The call is over at the carrier, wherever the caller was. */
  endCall(): void {
    if (this.#isCallOver) return
    this.#isLineDead = true
    this.carrier.close()
    this.#callOver()
    this.clock.after(this.carrier.delayMs(), () =>
      this.#deliver('carrier', 'completed', () => this.session.dispatch({ type: 'hung_up' })),
    )
  }

  get isCallOver(): boolean {
    return this.#isCallOver
  }

  #callOver(): void {
    if (this.#isCallOver) return
    this.#isCallOver = true
    this.caller.stop()
    this.onCallOver()
  }

  /** Nothing of the carrier arrives any more, and nobody is told. */
  loseLine(): void {
    if (this.#isLineDead) return
    this.#isLineDead = true
    this.carrier.fallIntoHole()
    this.caller.stop()
  }

  #lineDies(): void {
    this.#isLineDead = true
    this.carrier.close()
    this.#callOver()
  }

  #fromCarrier(what: string, run: () => void): void {
    if (!this.#isLineDead) this.#deliver('carrier', what, run)
  }

  #deliver(side: Side, what: string, run: () => void): void {
    this.wire.deliver(side, what, run)
  }

  #newCarrier(): VirtualCarrier {
    const delay = this.#options.carrierDelayMs ?? 40
    return new VirtualCarrier({
      clock: this.clock,
      delayMs: typeof delay === 'number' ? () => delay : delay,
      echo: (name) => this.#echo(name, this.#options.marksLateMs ?? 0),
    })
  }

  #echo(name: string, lateMs: number): void {
    const tell = () => this.#fromCarrier(`mark ${name}`, () => this.session.dispatch({ type: 'mark', name }))
    if (this.#options.marksTwice) tell()
    if (lateMs === 0) tell()
    else if (lateMs < Number.POSITIVE_INFINITY) this.clock.after(lateMs, tell)
  }

  #newCaller(script: readonly Act[]): VirtualCaller {
    const frames = new Regrouped(this.#options.frameMs ?? 20)
    const deps = {
      clock: this.clock,
      hear: () => this.hearing(),
      frame: (payload: Buffer) => {
        const isHeard = this.#options.isHeard?.(this.clock.monotonicMs()) ?? true
        if (this.#isLineDead || !isHeard) return
        for (const frame of frames.take(payload)) this.session.fromCaller(frame)
      },
      press: (digit: string) => this.#fromCarrier(`key ${digit}`, () => this.#pressed(digit)),
      hangUp: () => this.#stop(() => this.endStream()),
    }
    return new VirtualCaller(deps, script)
  }

  #pressed(digit: string): void {
    const { phase, detached } = this.session.state
    const isTaken =
      phase === 'talking' || phase === 'waiting' || (phase === 'detached' && detached?.isHandedOver === true)
    this.keys.push({ digit, atMs: this.clock.monotonicMs(), isTaken })
    this.session.dispatch({ type: 'dtmf', digit })
  }

  #deps(): SessionDeps {
    return {
      clock: this.sessionClock,
      putOff: new PutOff(this.sessionClock),
      codec: this.carrier.codec,
      streamSid: STREAM_SID,
      callSid: 'CA1',
      eventLog: this.log,
      openScribe: this.#options.openScribe ?? null,
      carrier: this.carrier.socket,
      plan: planWith(this.#options.plan),
      openModel: this.#options.openModel ?? ((listener, opening) => this.#openModel(listener, opening)),
      openVoice: this.#options.openVoice ?? null,
      transfer: this.#options.transfer ?? null,
      recorder: this.#options.recorder ?? null,
      holdAudio: this.#options.holdAudio ?? null,
      clips: this.#options.clips ?? [],
      resumption: this.#options.resumption ?? null,
      runTool: this.#options.runTool ?? ((request) => this.#runTool(request)),
      refuseTool: () => {},
      keepTurn: (turn) => this.#kept(turn),
      forgetTurn: (itemId) => void this.turns.delete(itemId),
      note: (note) => this.#noted(note),
      checkpoint: (state) => {
        this.checkpoint = state
      },
      hangUp: () => {
        this.hangUps += 1
        this.#carrierEnds('hang up')
      },
      apologise: () => {
        this.apologies += 1
        if (this.#options.leavesSilently) this.#carrierLeaves()
        else this.#carrierEnds('apologise')
      },
      failed: (error) => void this.errors.push(error),
      finished: (reason, state) => this.#finished(reason, state),
    }
  }

  #openModel(listener: ModelListener, { history, isFallback }: ModelOpening): ModelSession {
    this.fallbacks.push(isFallback)
    this.wire.note(`-> open model${history === null ? '' : `: ${history.split('\n').at(-1)}`}`)
    // One that is to take over is opened beside the one that is talked to.
    const { epoch, next } = this.session.state.model
    const session = this.model.open(null, listener, next?.epoch ?? epoch)
    if (history !== null) session.send({ type: 'system_message', text: history })
    this.openings.push({ session, history: history ?? '', turns: this.transcript })
    return session
  }

  #kept(turn: Turn): void {
    this.turns.set(turn.itemId, turn)
    if (!this.keptAtMs.has(turn.itemId)) this.keptAtMs.set(turn.itemId, this.clock.monotonicMs())
  }

  #noted(note: LiveNote): void {
    this.notes.push(note)
    if (note.type === 'resumed') this.resumedAtMs.push(this.clock.monotonicMs())
    if (note.type !== 'turn_delta') this.wire.note(`   ${JSON.stringify(note)}`)
  }

  #carrierEnds(what: string): void {
    this.wire.note(`-> ${what}`)
    this.clock.after(REST_MS, () => this.#stop(() => this.endStream()))
  }

  #carrierLeaves(): void {
    this.wire.note('-> apologise, and the carrier closes its socket')
    this.clock.after(REST_MS, () => this.#stop(() => this.loseStream()))
  }

  /** The carrier plays nothing any more, and the end of its stream is on its way. */
  #stop(end: () => void): void {
    // One that has no stream is ended all the same.
    const tell = () => (this.#isLineDead ? this.endCall() : this.#fromCarrier('stop', end))
    this.carrier.close()
    this.clock.after(this.carrier.delayMs(), tell)
  }

  #runTool(request: ToolRequest): Promise<ToolOutcome> {
    this.wire.note(`-> tool ${request.name}`)
    this.toolRuns.push(request)
    const { callId, name } = request
    const outcome: ToolOutcome = { callId, output: '{"ok":true}', status: 'ok', endsCall: name === 'end_call' }
    const tookMs = this.#options.toolMs?.[name] ?? 0
    return new Promise((resolve) => this.clock.after(tookMs, () => resolve(outcome)))
  }

  /** What was written down last of what has come of it. */
  checkpoint: SessionState | null = null

  #finished(reason: EndReason, _state: SessionState): void {
    this.wire.note(`-> finished: ${reason}`)
    this.ends.push(reason)
    this.endedAtMs = this.clock.monotonicMs()
    this.caller.stop()
  }
}
