import type { ResolvedAgent } from '../agents/resolve.ts'
import type { Clock } from '../kernel/clock.ts'
import { shownNumber } from '../kernel/phone.ts'
import type { Log } from '../platform/log.ts'
import type { RealtimeDriver } from '../platform/realtime/port.ts'
import type { SharedSpeech } from '../platform/speech/guarded.ts'
import type { Tracing } from '../platform/tracing.ts'
import type { Journal } from '../records/journal.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { AudioRooms } from './audio-rooms.ts'
import { CallSession } from './call-session.ts'
import type { EventLogs } from './event-log/event-logs.ts'
import { holdOf, resumptionOf } from './held-stream.ts'
import { keptWords } from './kept-words.ts'
import { LiveEvents } from './live-events.ts'
import type { LiveMetrics } from './live-metrics.ts'
import { tellEnd } from './live-notes.ts'
import type { LiveFacts, LiveSession } from './live-sessions.ts'
import { PutOff } from './put-off.ts'
import type { Recorders } from './recording/recorders.ts'
import { hasOpenTurns } from './session/ending.ts'
import type { Apology, EndReason } from './session/events.ts'
import { isLeaving } from './session/leaving.ts'
import { hasMoved } from './session/letting-go.ts'
import type { SessionState } from './session/state.ts'
import { greetingOf } from './session-builder-setup.ts'
import { controlsOf, toolCallOf } from './session-controls.ts'
import { customerOf } from './session-customer.ts'
import type { SessionDeps } from './session-deps.ts'
import { modelsFor } from './session-models.ts'
import { Speaker, speakerNames } from './session-speaker.ts'
import { secondVoiceFor } from './session-voice.ts'
import type { HangUpOutcome } from './stream-ends.ts'
import type { StreamedCall } from './streamed-call.ts'
import { makeToolRunner } from './tools/run.ts'
import type { Tool } from './tools/tool.ts'
import type { CallTransfer } from './transfer/transfer.ts'
import { turnSpan } from './turn-span.ts'

/** How a session ended, for whoever writes it down. */
export type EndedCall = { call: StreamedCall; reason: EndReason; state: SessionState }

/** What is done to calls by way of their carriers. Never waits, never throws. */
export type CarrierCalls = {
  /** What is returned settles when the carrier is not asked any more, and never rejects. */
  hangUp(tenant: TenantRuntime, callSid: string, isHeld?: IsHeld): Promise<HangUpOutcome>
  /** The carrier says this, if it is not null, and connects the number; without one it hangs up. */
  apologise(tenant: TenantRuntime, callSid: string, words: ShownApology, isHeld?: IsHeld): void
}

/** `callerId`: whose number they see who are rung, as `shownNumber` has it. */
export type ShownApology = Apology & { callerId?: string | null }

/** Whether the call is still that of who wants something done to it: nothing is done to one that another stream has taken. */
export type IsHeld = () => Promise<boolean>

/** Makes the sessions of calls. */
export type SessionBuilder = {
  /** What the call's session will run with, a default of the driver's by its name; null where the driver does not tell. */
  modelOf(tenant: TenantRuntime, agent: ResolvedAgent): { model: string | null; voice: string | null }
  /** A session that has not begun: dispatch `opened` to it. `onEnded` is called once, when nothing of it is left running. */
  build(call: StreamedCall, onEnded: (ended: EndedCall) => void): { session: CallSession; live: LiveSession }
}

type Deps = {
  clock: Clock
  log: Log
  model: RealtimeDriver
  /** What takes its place in a call in which it stays away; null, or not given, where nothing does. */
  fallback?: RealtimeDriver | null
  /** The secondary provider of voices; null, or not given, where there is none. */
  secondVoice?: SharedSpeech | null
  journal: Pick<Journal, 'of'>
  tools: readonly Tool[]
  carrierCalls: CarrierCalls
  metrics: LiveMetrics
  tracing: Tracing
  /** Without it nothing is recorded. */
  recorders?: Pick<Recorders, 'of'>
  /** Without it nothing is logged of what happens. */
  eventLogs?: Pick<EventLogs, 'of'>
  /** Of the service. */
  version?: string
  /** Whether the call is still that of its stream. */
  isHeld(call: StreamedCall): Promise<boolean>
  /** What puts a call through to others. */
  transferOf(call: StreamedCall): CallTransfer
  /** Writes down what has come of a session so far. Never waits, never throws. */
  checkpoint(call: StreamedCall, state: SessionState): void
  /** MODEL_SESSION_MAX_MINUTES. */
  modelSessionMs: number
}

export function makeSessionBuilder(deps: Deps): SessionBuilder {
  const { clock, model: driver, fallback, journal } = deps
  const rooms = new AudioRooms()
  const putOff = new PutOff(clock)

  return {
    modelOf: (tenant, { config }) =>
      speakerNames(driver, { model: config.realtime_model || tenant.model, voice: config.voice || tenant.voice }),
    build(call, onEnded) {
      const { tenant, streamSid, codec, carrier } = call
      const now = new Date(clock.now())
      // The transcript counts from there, and so does what the caller waits for.
      const waitedMs = Math.max(0, clock.monotonicMs() - (call.streamAtMs ?? clock.monotonicMs()))
      const { capabilities } = driver
      const openVoice = secondVoiceFor(call, { speech: deps.secondVoice ?? null, capabilities, log: deps.log })
      const facts = {
        secondVoice: openVoice !== null,
        ...{ capabilities, modelSessionMs: deps.modelSessionMs, isResumable: call.direction !== 'browser' },
        spentToday: call.spentToday ?? null,
        maxCallSeconds: call.maxCallSeconds ?? null,
        readsParty: call.direction === 'outbound',
      }
      // What the model is told is when the call began, also where another session has begun it.
      const begunAt = call.before?.startedAt ?? now
      const speaker = new Speaker({ call, tools: deps.tools, facts, driver, fallback, now: begunAt })
      const entries = journal.of(call)
      const events = new LiveEvents()
      const words = keptWords({ tenant, journal: entries, events })
      const recorder = deps.recorders?.of(call) ?? null
      const span = deps.tracing.begin('voice.call', spanFacts(call))
      const hangingUp: HangingUpCall = { outcome: null }
      const toolCall = toolCallOf(
        call,
        speaker,
        controlsOf(call, speaker, () => ({ session, live })),
      )
      const runner = makeToolRunner({
        ...{ clock, log: deps.log, journal: words, call: toolCall, earlier: call.before?.toolCalls ?? [] },
        get tools() {
          return speaker.tools
        },
      })
      const session: CallSession = new CallSession({
        clock,
        recorder,
        eventLog: deps.eventLogs?.of(call) ?? null,
        version: deps.version ?? '',
        codec,
        streamSid,
        carrier,
        rooms,
        putOff,
        plan: speaker.plan,
        get clips() {
          return speaker.clips.map(({ pieces }) => pieces)
        },
        get holdAudio() {
          return speaker.holdAudio?.pieces ?? null
        },
        resumption: call.before
          ? { ...resumptionOf(call.before, call.epoch, now), notThrough: call.notThrough ?? null }
          : null,
        waitedMs,
        checkpoint: (state) => deps.checkpoint(call, state),
        ...carrierOf(deps, call, { hangingUp, state: () => session.state }),
        callSid: call.callSid,
        transfer: call.direction === 'browser' ? null : deps.transferOf(call),
        ...modelsFor(deps, call, { speaker, isFallback: () => session.state.model.isFallback }),
        openVoice: openVoice && ((listener) => openVoice(speaker.agent.config.speech, listener)),
        runTool: (request) => runner.run(request),
        refuseTool: (request, output) => runner.refuse(request, output),
        keepTurn: (turn) => words.turn(turn),
        forgetTurn: (itemId) => entries.forget(itemId),
        note(note) {
          words.note(note)
          deps.metrics.noted(note)
          if (note.type === 'timeline') span.add(() => turnSpan(note.timeline, session.state.startedAtMs))
        },
        failed: (err) => deps.log.error({ err, call_sid: call.callSid }, 'a session went wrong'),
        finished(reason, state) {
          void recorder?.close()
          const isMoved = hasMoved(state, reason)
          if (isMoved) events.publish('moved', { call_sid: call.callSid })
          else tellEnd(events, reason, clock.monotonicMs() - state.startedAtMs)
          deps.metrics.ended(isMoved ? null : reason, session.media)
          deps.metrics.spoken(state.secondVoice.characters)
          span.end({ 'voice.end_reason': reason })
          onEnded({ call, reason, state })
        },
      })
      const live = liveOf(session, events, {
        ...{ call, speaker, hangingUp },
        facts: factsOf(call, greetingOf(tenant, speaker.agent.config), new Date(now.getTime() - Math.round(waitedMs))),
      })
      return { session, live }
    },
  }
}

/** What comes of the request to end the call; null while its carrier was not asked. */
type HangingUpCall = { outcome: Promise<HangUpOutcome> | null }

/** What the session may have its carrier do. A call without one ends with its socket. */
function carrierOf(
  { carrierCalls, isHeld }: Deps,
  call: StreamedCall,
  { hangingUp, state }: { hangingUp: HangingUpCall; state: () => SessionState },
): Pick<SessionDeps, 'hangUp' | 'apologise'> {
  const { tenant, callSid, direction, carrier } = call
  const isHeldYet = () => isHeld(call)
  // A carrier that has left our stream has done as it was told, though it may not have said so: told again it would begin anew.
  const isUnheeded = async () => !isLeftByCarrier(state()) && (await isHeldYet())
  if (direction === 'browser') return { hangUp: () => carrier.close(), apologise: () => carrier.close() }
  return {
    hangUp() {
      hangingUp.outcome = carrierCalls.hangUp(tenant, callSid, isHeldYet)
    },
    apologise: (words) =>
      carrierCalls.apologise(tenant, callSid, { ...words, callerId: shownNumber(call) }, isUnheeded),
  }
}

/** Whether the stream is over by its carrier, and not by what it was asked for and has not told the end of. */
function isLeftByCarrier({ ending }: SessionState): boolean {
  return ending?.hungUp === true && !ending.isUntold
}

type LiveParts = { call: StreamedCall; speaker: Speaker; hangingUp: HangingUpCall; facts: LiveFacts }

function liveOf(session: CallSession, events: LiveEvents, { call, speaker, hangingUp, facts }: LiveParts): LiveSession {
  return {
    escalation: call.before?.escalation ?? null,
    get isMuted() {
      return session.state.isMuted
    },
    get isTakenOver() {
      return session.state.takeover !== null
    },
    get isPersonGone() {
      return session.state.takeover?.phase === 'lost'
    },
    lines: session.lines,
    transfers: session.transfers,
    get isBeingPutThrough() {
      return session.state.transfer !== null
    },
    get facts() {
      const { agentName, config } = speaker.agent
      return { ...facts, streamSid: call.streamSid, agentName, language: config.speech.language }
    },
    events,
    get phase() {
      return session.state.phase
    },
    get recording() {
      return session.recording
    },
    get endReason() {
      return session.state.ending?.reason ?? null
    },
    get isEndGuessed() {
      return session.state.ending?.isGuessed ?? false
    },
    get hasOpenTurns() {
      return hasOpenTurns(session.state)
    },
    get hangUp() {
      return hangingUp.outcome
    },
    get isLeaving() {
      return isLeaving(session)
    },
    get isLetGo() {
      return session.state.isLetGo
    },
    hold: call.direction === 'browser' ? null : holdOf(session, call),
    command: (command) => session.dispatch(command),
  }
}

function factsOf(call: StreamedCall, greeting: string, startedAt: Date): LiveFacts {
  const { tenant, agent, callSid, streamSid, sessionId, orgId, direction } = call
  return {
    streamSid,
    callSid,
    sessionId,
    tenantId: tenant.tenant_id,
    orgId,
    agentName: agent.agentName,
    language: agent.config.speech.language,
    callType: direction,
    customerPhone: customerOf(call),
    greeting,
    startedAt: call.startedAt ?? call.before?.startedAt ?? startedAt,
  }
}

function spanFacts({ tenant, callSid, sessionId, direction, epoch }: StreamedCall) {
  return {
    ...{ 'parley.tenant_id': tenant.tenant_id, 'parley.call_sid': callSid, 'parley.voice_session_id': sessionId },
    ...{ 'parley.direction': direction, 'parley.epoch': epoch },
  }
}
