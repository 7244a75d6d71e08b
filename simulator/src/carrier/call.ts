import { callForm } from './call-form.ts'
import type { CallEnd, CallPlan, DocumentSource } from './call-plan.ts'
import { CallRecord, type CallStatus } from './call-record.ts'
import type { Callback } from './callback-sender.ts'
import { CallbackSender } from './callback-sender.ts'
import { type CallerWatcher, prepareStep, type ScriptedCaller } from './caller.ts'
import { saying } from './caller-script.ts'
import { makeDeferred } from './deferred.ts'
import type { FarEnd } from './far-end.ts'
import { type CallFaults, copyFaults } from './faults.ts'
import { Line } from './line.ts'
import { type CallMeasures, measureCall } from './measure.ts'
import type { MediaStream } from './media-stream.ts'
import type { CallRecording } from './recording.ts'
import type { SimulatedCall } from './simulated-call.ts'
import { statusFields } from './status-fields.ts'
import { type CallEvent, type EndedBy, Timeline } from './timeline.ts'
import type { Notification } from './verbs.ts'
import type { PlacedCall, VerbHost, World } from './world.ts'

/** The states that a status callback can be asked for. */
type StatusEvent = 'initiated' | 'ringing' | 'answered' | 'completed'

// A misbehaving server can cause one for every frame.
const MOST_NOTIFICATIONS = 1000

/**
 * One call: its record, its line, what runs on it, and its end, which comes once. What it goes through from ringing to
 * the end is told in `call-life.ts`.
 */
export class Call implements SimulatedCall, VerbHost, PlacedCall {
  readonly world: World
  readonly plan: CallPlan
  readonly record: CallRecord
  readonly timeline: Timeline
  readonly faults: CallFaults
  readonly notifications: Notification[] = []

  #line: Line | null = null
  #streams: MediaStream[] = []
  #callbacks: CallbackSender
  #sequence = 0
  #over = new AbortController()
  #document = new AbortController()
  #redirect: DocumentSource | null = null
  #ended = makeDeferred<CallEnd>()
  #ready = makeDeferred<boolean>()
  #left = makeDeferred<'ended' | 'redirected'>()
  #settled = makeDeferred<void>()
  #cancelTimeLimit = () => {}

  constructor(world: World, plan: CallPlan) {
    const { from, to, direction, parentSid } = plan
    this.world = world
    this.plan = plan
    this.record = new CallRecord(world.clock, { accountSid: world.accountSid, from, to, direction, parentSid })
    this.timeline = new Timeline(world.clock)
    this.faults = copyFaults(world.faults)
    const notify = this.notify.bind(this)
    const { clock, webhooks } = world
    this.#callbacks = new CallbackSender({ clock, webhooks, faults: this.faults.callbacks, notify })
    this.timeline.add({ kind: 'status', status: this.record.status })
  }

  get ended(): Promise<CallEnd> {
    return this.#ended.promise
  }

  get ready(): Promise<boolean> {
    return this.#ready.promise
  }

  get left(): Promise<'ended' | 'redirected'> {
    return this.#left.promise
  }

  get settled(): Promise<void> {
    return this.#settled.promise
  }

  get sid(): string {
    return this.record.sid
  }

  get from(): string {
    return this.plan.from
  }

  get to(): string {
    return this.plan.to
  }

  get direction(): CallPlan['direction'] {
    return this.plan.direction
  }

  get status(): CallStatus {
    return this.record.status
  }

  get events(): readonly CallEvent[] {
    return this.timeline.events
  }

  get recording(): CallRecording | null {
    return this.record.isAnswered ? (this.#line?.recording ?? null) : null
  }

  get streams(): readonly MediaStream['counts'][] {
    return this.#streams.map(({ counts }) => counts)
  }

  /** Aborts when the call is over. */
  get over(): AbortSignal {
    return this.#over.signal
  }

  /** The party's line. It is there from before the answer on; asking earlier is a fault of this program. */
  get line(): Line {
    if (!this.#line) throw new Error('nobody sits at this line yet')
    return this.#line
  }

  measure(): CallMeasures | null {
    return this.recording && measureCall(this.recording, this.events)
  }

  async say(text: string): Promise<boolean> {
    const step = await prepareStep(saying(text), this.plan.party, this.world.speech)
    return this.status === 'in-progress' && this.line.add(step)
  }

  watch(watcher: (event: CallEvent) => void): () => void {
    return this.timeline.watch(watcher)
  }

  until(fits: (event: CallEvent) => boolean, withinMs: number): Promise<CallEvent | null> {
    return this.timeline.until(fits, { withinMs })
  }

  connect(farEnd: FarEnd): void {
    this.line.connect(farEnd)
  }

  notify(problem: Notification): void {
    this.timeline.add({ kind: 'notification', ...problem })
    if (this.notifications.length < MOST_NOTIFICATIONS) this.notifications.push(problem)
  }

  callback(callback: Callback): void {
    this.#callbacks.fire(callback)
  }

  keep(stream: MediaStream): void {
    this.#streams.push(stream)
  }

  /** Seats the party at the line. */
  seat(makeCaller: (watcher: CallerWatcher) => ScriptedCaller): void {
    const { clock, jitter } = this.world
    this.#line = new Line({
      clock,
      random: jitter,
      jitterMs: () => this.faults.stream.jitterMs,
      timeline: this.timeline,
      makeCaller,
      onHangUp: (reason) => this.hangUp(reason === 'script' ? 'caller' : reason),
    })
  }

  /** The other side's telephone rings. */
  ring(): void {
    if (this.#move('ringing')) this.tell('ringing')
  }

  /** The call is taken: the line carries sound from now on. Repeats change nothing. */
  answer(): void {
    if (!this.#move('in-progress')) return
    this.line.start()
    this.limit(this.plan.timeLimitMs)
    this.tell('answered')
  }

  /** How long the call may last from its answer on, in place of what was said before. It has to be in progress. */
  limit(timeLimitMs: number): void {
    this.#cancelTimeLimit()
    const leftMs = Math.max(0, timeLimitMs - this.record.answeredForMs)
    this.#cancelTimeLimit = this.world.clock.after(leftMs, () => this.end('completed', 'time-limit'))
  }

  reject(status: 'busy' | 'no-answer'): void {
    // Who has been answered cannot be refused any more.
    if (this.status === 'ringing') this.end(status, 'document')
  }

  hangUp(by: EndedBy = 'caller'): void {
    this.end(this.status === 'in-progress' ? 'completed' : 'canceled', by)
  }

  /** Ends the call. Only the first end counts. */
  end(status: CallStatus, by: EndedBy): void {
    if (!this.#move(status)) return
    this.timeline.add({ kind: 'hang-up', by })
    this.#cancelTimeLimit()
    this.#over.abort()
    this.#document.abort()
    this.#line?.stop()
    this.tell('completed')
    this.#callbacks.release()
    this.#ready.resolve(false)
    this.#left.resolve('ended')
    this.#ended.resolve({ status: this.status, by })
  }

  /** Sends the live call to another document: what runs is broken off. False when the call is not in progress. */
  redirect(source: DocumentSource): boolean {
    if (this.status !== 'in-progress') return false
    this.#redirect = source
    this.#document.abort()
    this.#left.resolve('redirected')
    return true
  }

  /** The signal for the document that runs next; it aborts with a redirect and with the end. */
  nextDocument(): AbortSignal {
    this.#document = new AbortController()
    if (this.#redirect || this.over.aborted) this.#document.abort()
    return this.#document.signal
  }

  /** Where the call was redirected to meanwhile; once. */
  takeRedirect(): DocumentSource | null {
    const redirect = this.#redirect
    this.#redirect = null
    return redirect
  }

  /** What was to be run first has been run; whoever dialled this call may speak now. */
  becomeReady(): void {
    this.#ready.resolve(true)
  }

  /** Tells a state to whoever asked for it. */
  tell(event: StatusEvent): void {
    const { url, method, events } = this.plan.callback
    if (!events.includes(event)) return
    const status = event === 'initiated' ? 'initiated' : this.status
    const form = callForm(this.record).map(([name, value]): [string, string] =>
      name === 'CallStatus' ? [name, status] : [name, value],
    )
    const fields = statusFields(this.record, { sequence: this.#sequence++, now: this.world.clock.date() })
    this.callback({ address: url, method, form: [...form, ...fields], group: { isLast: event === 'completed' } })
  }

  /** Resolves when the streams' sockets are closed (or left open by a switch) and no callback is under way. */
  async quiet(): Promise<void> {
    await Promise.all(this.#streams.map(({ closed }) => closed))
    await this.#callbacks.idle()
  }

  /** Resolves when no socket is open, not even one that a switch left open. */
  async gone(): Promise<void> {
    await Promise.all(this.#streams.map((stream) => stream.gone))
  }

  /** Nothing of the call goes on any more. */
  settle(): void {
    this.#settled.resolve()
  }

  /** Ends the call with the carrier itself: sockets are cut, callbacks given up. */
  async close(): Promise<void> {
    this.end(this.status === 'in-progress' ? 'completed' : 'canceled', 'carrier')
    await Promise.all([...this.#streams.map((stream) => stream.destroy()), this.#callbacks.close()])
  }

  #move(status: CallStatus): boolean {
    const moved = this.record.move(status)
    if (moved) this.timeline.add({ kind: 'status', status })
    return moved
  }
}
