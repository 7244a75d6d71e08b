import { channel } from 'node:diagnostics_channel'
import { assertNever } from '../kernel/errors.ts'
import { AnsweringEar } from './answer/answering-ear.ts'
import { AudioRooms } from './audio-rooms.ts'
import { CallModels } from './call-models.ts'
import { type CallStream, CallStreams, type StreamLeg } from './call-streams.ts'
import { HOLD_MUSIC } from './hold-music.ts'
import { keyTones } from './key-tones.ts'
import { CallLines } from './lines/call-lines.ts'
import { MediaPath } from './media-path.ts'
import { leftMs } from './playback.ts'
import { BEEP, BEEP_ID } from './recording/beep.ts'
import type { EndReason, SessionEffect, SessionEvent, ToolOutcome } from './session/events.ts'
import { ownId } from './session/own-audio.ts'
import { isPartyRead } from './session/party.ts'
import type { Plan } from './session/plan.ts'
import { reduce } from './session/reduce.ts'
import { isOthers, newSession, type SessionState } from './session/state.ts'
import type { SessionDeps, ToolRequest } from './session-deps.ts'
import { SessionTimers } from './session-timers.ts'
import { SpokenAnswers } from './spoken-answers.ts'
import { CallTransfers } from './transfer/call-transfers.ts'

/**
 * Told of each session that has finished, as `{ session }`, for whoever watches that none keeps anything. Without a listener it
 * costs nothing.
 */
const FINISHED = channel('parley.session.finished')

type Reduced = [SessionState, SessionEffect[]]

/**
 * Runs one call: owns its sockets and timers, feeds what happens to the reducer and does what comes out of it.
 *
 * All effects of an event are done before the next event is looked at; an event that arises meanwhile waits its turn.
 */
export class CallSession {
  readonly #deps: SessionDeps
  readonly #media: MediaPath
  readonly #timers: SessionTimers
  readonly #waiting: SessionEvent[] = []
  #isBusy = false
  #presses = 0
  readonly #models: CallModels
  /** Null once it is known who answered, and where nobody asks. */
  #ear: AnsweringEar | null = null
  #state: SessionState
  /** Null where the model speaks by itself. */
  readonly #voice: SpokenAnswers | null
  readonly #streams: CallStreams
  /** The lines of people into the call. */
  readonly lines: CallLines
  readonly transfers: CallTransfers

  constructor(deps: SessionDeps) {
    this.#deps = deps
    const startUs = this.#nowUs()
    const { plan, resumption = null, version = '' } = deps
    this.#state = newSession(plan, startUs / 1_000, resumption)
    deps.eventLog?.begin({ v: 1, version, startUs, plan, resumption })
    this.#timers = new SessionTimers(deps.clock, (timer) => this.dispatch({ type: 'fired', timer }))
    this.#media = new MediaPath(deps.streamSid, {
      carrier: deps.carrier,
      codec: deps.codec,
      tap: deps.recorder ?? null,
      nowMs: () => this.#nowUs() / 1_000,
      unheardIn: mayGoOn(deps.plan) ? (deps.rooms ?? new AudioRooms()) : null,
      reports: {
        sent: (audio) => this.dispatch({ type: 'sent', ...audio }),
        callerAudio: (audio) => this.dispatch({ type: 'caller_audio', ...audio }),
        backlog: (isOver) => this.dispatch({ type: 'backlog', isOver }),
      },
    })
    this.#models = new CallModels({
      ...{ open: deps.openModel, media: this.#media },
      dispatch: (event) => this.dispatch(event),
      isFallback: () => this.#state.model.isFallback,
    })
    this.#voice = deps.openVoice
      ? new SpokenAnswers({
          open: deps.openVoice,
          audio: (responseId, itemId, payload) => this.#media.fromModel(responseId, itemId, payload),
          event: (id, event) => this.dispatch({ type: 'voice', id, event }),
        })
      : null
    this.#streams = new CallStreams(deps, this.#media)
    this.transfers = new CallTransfers({
      ...{ clock: deps.clock, carrier: deps.transfer ?? null },
      dispatch: (event) => this.dispatch(event),
      current: () => this.#state.transfer?.id ?? null,
    })
    this.lines = new CallLines({
      ...{ clock: deps.clock, media: this.#media, callSid: deps.callSid, openScribe: deps.openScribe },
      dispatch: (event) => this.dispatch(event),
      leftMs: () => leftMs(this.#state.playback, deps.clock.monotonicMs()),
    })
  }

  get state(): SessionState {
    return this.#state
  }

  get recording(): 'off' | 'on' | 'paused' {
    if (!this.#deps.recorder) return 'off'
    return this.#state.isRecordingPaused ? 'paused' : 'on'
  }

  /** What went past on the fast path, for the one who looks after all calls. */
  get media(): Pick<MediaPath, 'framesIn' | 'shedFrames' | 'lateDeltas'> {
    return this.#media
  }

  /** What it still has of the process: nothing, once it has finished. */
  get held(): string[] {
    return [
      ...this.#streams.held,
      ...this.#models.held,
      ...this.#timers.armed.map((timer) => `timer ${timer}`),
      ...this.#media.held,
      ...this.lines.held,
      ...(this.#voice?.held ?? []),
    ]
  }

  /** Plays the tones of keys to the caller, behind what the agent has said. */
  press(keys: string): void {
    this.#presses += 1
    if (!isOthers(this.#state)) this.#media.play(ownId('keys', this.#presses), keyTones(keys))
  }

  /** The fast path in: one frame of the caller. */
  fromCaller(payload: Buffer): void {
    this.#media.fromCaller(payload)
  }

  /** What the stream that the session has now may say to it. */
  leg(): StreamLeg {
    return this.#streams.legOf(this)
  }

  /** Whether another stream can have the call: not when it is ending. */
  get isAttachable(): boolean {
    const { phase } = this.#state
    return phase === 'waiting' || phase === 'talking' || phase === 'detached'
  }

  /** Goes on with another stream; one that still stands is closed. @throws Error unless `isAttachable`. */
  attach(stream: CallStream): StreamLeg {
    if (!this.isAttachable) throw new Error('the call is ending')
    this.#streams.offer(stream)
    this.dispatch({ type: 'attached' })
    return this.leg()
  }

  /** Something happened. Returns when all that follows from it at once is done. */
  dispatch(event: SessionEvent): void {
    this.#waiting.push(event)
    if (this.#isBusy) return
    this.#isBusy = true
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) this.#step(next)
    this.#isBusy = false
  }

  /** One fault does not take the call down: a rejected event changes nothing, and every effect is tried. */
  #step(event: SessionEvent): void {
    const effects = this.#guarded(() => this.#reduce(event)) ?? []
    for (const effect of effects) this.#guarded(() => this.#do(effect))
    const { speech } = this.#state
    this.#media.gate(isOthers(this.#state))
    this.#media.meter(speech !== null && speech.stoppedAtMs === null)
    this.#guarded(() => this.#listen(event))
  }

  /** To who answered, while it is not known who that is. */
  #listen(event: SessionEvent): void {
    if (isPartyRead(this.#state)) {
      this.#ear ??= new AnsweringEar((heard) => this.dispatch(heard))
      this.#media.readBy(this.#ear.line)
      this.#ear.follow(event)
    } else if (this.#ear !== null) {
      this.#ear = null
      this.#media.readBy(null)
    }
  }

  #reduce(event: SessionEvent): SessionEffect[] {
    const nowUs = this.#nowUs()
    const nowMs = nowUs / 1_000
    const [state, effects] = this.#logged(nowUs, event, () => reduce(this.#state, event, nowMs))
    this.#deps.recorder?.follow(this.#state, state)
    this.#media.follow(this.#state.playback, state.playback, nowMs)
    this.#state = state
    return effects
  }

  /** In whole µs, so that a log can tell it without loss. */
  #nowUs(): number {
    return Math.round(this.#deps.clock.monotonicMs() * 1_000)
  }

  #logged(nowUs: number, event: SessionEvent, run: () => Reduced): Reduced {
    const { eventLog } = this.#deps
    if (!eventLog) return run()
    try {
      const reduced = run()
      eventLog.step(nowUs, event, reduced[1])
      return reduced
    } catch (error) {
      eventLog.step(nowUs, event, null)
      throw error
    }
  }

  #guarded<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      this.#deps.failed(error)
      return undefined
    }
  }

  #do(effect: SessionEffect): void {
    switch (effect.type) {
      case 'open_model':
        return this.#models.open(effect.epoch, effect.history)
      case 'close_model':
        return this.#models.close()
      case 'open_next':
        return this.#models.openNext(effect.epoch, effect.history)
      case 'take_next':
        return this.#models.takeNext()
      case 'close_next':
        return this.#models.closeNext()
      case 'command':
        return this.#models.current?.send(effect.command)
      case 'open_voice':
        return this.#voice?.open(effect.id)
      case 'speak':
        return this.#voice?.speak(effect.id, effect)
      case 'flush_voice':
        return this.#voice?.flush(effect.id)
      case 'end_voice':
        return this.#voice?.end(effect.id)
      case 'cut_voice':
        return this.#voice?.cut(effect.id)
      case 'open_uplink':
        return this.#openUplink()
      case 'hold_uplink':
        return this.#media.holdUplink()
      case 'discard':
        return this.#media.discard(effect.responseIds)
      case 'clear':
        return this.#media.clear()
      case 'play_aside':
        return this.#goOn(effect.id)
      case 'drop_aside':
        return this.#media.dropAside()
      case 'mark':
        return this.#media.mark(effect.name)
      case 'pad':
        return this.#media.pad(effect.ms)
      case 'beep':
        return this.#media.play(BEEP_ID, BEEP)
      case 'pause_recording':
        return this.#deps.recorder?.pause(effect.isPaused)
      case 'connect_person':
        return this.lines.connect(effect.id)
      case 'silence_person':
        return this.lines.silence()
      case 'dismiss_person':
        return this.lines.dismiss(effect.isMoving ? 'broken' : 'ended')
      case 'begin_transfer':
        return this.transfers.begin()
      case 'cancel_transfer':
        return this.transfers.cancel()
      case 'play_hold':
        return this.#media.playStretch(effect, this.#deps.holdAudio ?? [HOLD_MUSIC])
      case 'play_clip':
        return this.#media.playAll(effect.id, this.#deps.clips?.[effect.index] ?? [])
      case 'put_through':
        return this.transfers.putThrough()
      case 'arm':
        return this.#timers.arm(effect.timer, effect.ms)
      case 'disarm':
        return this.#timers.disarm(effect.timer)
      case 'run_tool':
        return void this.#runTool(effect)
      case 'keep':
        return this.#deps.keepTurn(effect.turn)
      case 'forget':
        return this.#deps.forgetTurn(effect.itemId)
      case 'note':
        return this.#deps.note(effect.note)
      case 'apologise':
        return this.#deps.apologise(effect.text, effect.number)
      case 'hang_up':
        return this.#deps.hangUp()
      case 'detach':
        return this.#streams.letGo()
      case 'attach':
        return this.#streams.takeNext()
      case 'checkpoint':
        return this.#deps.checkpoint?.(this.#state)
      case 'finish':
        return this.#finish(effect.reason)
      default:
        assertNever(effect)
    }
  }

  #openUplink(): void {
    const { current } = this.#models
    if (current) this.#media.openUplink(current)
  }

  #goOn(id: string): void {
    this.#media.playAside(id)
    this.dispatch({ type: 'went_on' })
  }

  async #runTool({ callId, name, argumentsText, atMs }: ToolRequest): Promise<void> {
    const outcome = await this.#toolOutcome({ callId, name, argumentsText, atMs })
    this.dispatch({ type: 'tool_finished', outcome })
  }

  /** A tool that breaks its promise never to reject must not leave the model waiting for it. */
  async #toolOutcome(request: ToolRequest): Promise<ToolOutcome> {
    try {
      return await this.#deps.runTool(request)
    } catch (error) {
      this.#deps.failed(error)
      return { callId: request.callId, output: '{"error":"The tool failed."}', status: 'error', endsCall: false }
    }
  }

  #finish(reason: EndReason): void {
    this.#timers.disarmAll()
    this.#media.close()
    this.#voice?.close()
    this.#models.close()
    const isMoved = this.#state.isLetGo && reason === 'shutdown'
    this.#guarded(() => this.lines.close(isMoved ? 'broken' : 'ended'))
    this.#guarded(() => this.#streams.close())
    this.#deps.eventLog?.close()
    this.#deps.finished(reason, this.#state)
    if (FINISHED.hasSubscribers) FINISHED.publish({ session: this })
  }
}

/** Whether an agent who was stopped by what were no words goes on with what was not heard. */
function mayGoOn({ interruption, capabilities }: Plan): boolean {
  return interruption.resumeFalseMs > 0 && capabilities.callerTranscripts
}
