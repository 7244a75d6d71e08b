import type { Clock } from '../kernel/clock.ts'
import { AudioRooms } from './audio-rooms.ts'
import { CallModels } from './call-models.ts'
import { CallStreams } from './call-streams.ts'
import { CalledTools } from './called-tools.ts'
import { CallLines } from './lines/call-lines.ts'
import { MediaPath } from './media-path.ts'
import { leftMs } from './playback.ts'
import type { EndReason, SessionEvent } from './session/events.ts'
import { hasMoved } from './session/letting-go.ts'
import type { Plan } from './session/plan.ts'
import type { SessionState } from './session/state.ts'
import type { SessionDeps } from './session-deps.ts'
import { SessionTimers } from './session-timers.ts'
import { SpokenAnswers } from './spoken-answers.ts'
import { CallTransfers } from './transfer/call-transfers.ts'

/** What the parts of a call know of its session. */
type Session = {
  deps: SessionDeps
  dispatch(event: SessionEvent): void
  state(): SessionState
  /** By how many whole ms what is looked at now was put off. */
  lateMs(): number
  /** Looks at what was put off. */
  catchUp(): void
  /** Does the work; a fault of it is told, and takes nothing else down. */
  guarded<T>(work: () => T): T | undefined
  /** Nothing more comes of it. */
  finish(reason: EndReason): void
}

/** All that a session owns: its sockets and timers, each in the hands of what looks after it. */
export type CallParts = Session & {
  timers: SessionTimers
  media: MediaPath
  models: CallModels
  /** Null where the model speaks by itself. */
  voice: SpokenAnswers | null
  streams: CallStreams
  transfers: CallTransfers
  calledTools: CalledTools
  /** The lines of people into the call. */
  lines: CallLines
}

/** In whole µs, so that a log can tell it without loss. */
export function wholeUs(clock: Clock): number {
  return Math.round(clock.monotonicMs() * 1_000)
}

/** None of them does anything until it is told to. */
export function makeCallParts(session: Session): CallParts {
  const { deps, dispatch, state } = session
  const { clock } = deps
  const media = mediaOf(session)
  return {
    ...session,
    media,
    timers: new SessionTimers(clock, {
      waking: session.catchUp,
      fired: (timer) => dispatch({ type: 'fired', timer }),
    }),
    models: new CallModels({ open: deps.openModel, media, dispatch, isFallback: () => state().model.isFallback }),
    voice: voiceOf(session, media),
    streams: new CallStreams(deps, media),
    transfers: new CallTransfers({
      ...{ clock, carrier: deps.transfer ?? null, dispatch },
      current: () => state().transfer?.id ?? null,
    }),
    calledTools: new CalledTools(clock, state),
    lines: new CallLines({
      ...{ clock, media, callSid: deps.callSid, openScribe: deps.openScribe, dispatch },
      leftMs: () => leftMs(state().playback, clock.monotonicMs()),
    }),
  }
}

function mediaOf({ deps, dispatch }: Session): MediaPath {
  const { clock, plan, streamSid, carrier, codec, rooms = new AudioRooms() } = deps
  return new MediaPath(streamSid, {
    ...{ carrier, codec },
    tap: deps.recorder ?? null,
    nowMs: () => wholeUs(clock) / 1_000,
    unheardIn: mayGoOn(plan) ? rooms : null,
    reports: {
      sent: (audio) => dispatch({ type: 'sent', ...audio }),
      callerAudio: ({ ms, loudMs }) => dispatch({ type: 'caller_audio', ms, loudMs }),
      backlog: (isOver) => dispatch({ type: 'backlog', isOver }),
    },
  })
}

/** Whether an agent who was stopped by what were no words goes on with what was not heard. */
function mayGoOn({ interruption, capabilities }: Plan): boolean {
  return interruption.resumeFalseMs > 0 && capabilities.callerTranscripts
}

function voiceOf({ deps: { openVoice }, dispatch }: Session, media: MediaPath): SpokenAnswers | null {
  if (!openVoice) return null
  return new SpokenAnswers({
    open: openVoice,
    audio: (responseId, itemId, payload) => media.fromModel(responseId, itemId, payload),
    event: (id, event) => dispatch({ type: 'voice', id, event }),
  })
}

/** What they still have of the process: nothing, once the session has finished. */
export function heldBy({ streams, models, timers, media, lines, voice, transfers, calledTools }: CallParts): string[] {
  return [
    ...streams.held,
    ...models.held,
    ...timers.armed.map((timer) => `timer ${timer}`),
    ...media.held,
    ...lines.held,
    ...(voice?.held ?? []),
    ...transfers.held,
    ...calledTools.held,
  ]
}

/** The session is over for that reason: nothing of it stays open. */
export function closeParts(parts: CallParts, reason: EndReason): void {
  const { timers, media, voice, models, lines, streams, transfers, deps, guarded } = parts
  timers.disarmAll()
  parts.calledTools.close()
  media.close()
  voice?.close()
  models.close()
  guarded(() => lines.close(hasMoved(parts.state(), reason) ? 'broken' : 'ended'))
  guarded(() => streams.close())
  // That the target has the call may come from elsewhere than the transfer.
  guarded(() => (parts.state().isLetGo ? transfers.leave() : transfers.cancel('ending')))
  deps.eventLog?.close()
}
