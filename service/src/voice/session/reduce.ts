import { echoed, sent, settle } from '../playback.ts'
import { audioSent } from './answering.ts'
import { machineAnswered, partyHeard, partySaid, readParty } from './answering-party.ts'
import { BUDGET_SHARE, watchBudget } from './budget.ts'
import { beginWithClips } from './clips.ts'
import { seekModel } from './coming-back.ts'
import {
  attached,
  backlogChanged,
  handOver,
  hungUp,
  kept,
  streamLost,
  streamPromised,
  streamStopped,
} from './detached.ts'
import { goOnEnding } from './ending.ts'
import type { SessionEffect, SessionEvent } from './events.ts'
import { askForRest, wentOn } from './going-on.ts'
import { handOff } from './handing-off.ts'
import { pressDueKeys, pressKeys } from './holding.ts'
import { closeUtterance } from './keeping.ts'
import { keyPressed } from './keys.ts'
import { cancelTransferIfOver } from './leaving.ts'
import { letCallGo } from './letting-go.ts'
import { onModel } from './model-events.ts'
import { openModel } from './model-session.ts'
import { mute, unmute } from './muting.ts'
import { onNext, renewIfDue } from './renewal.ts'
import { followVoice, onVoice } from './second-voice.ts'
import { watchSilence } from './silence.ts'
import { callerAudio } from './speech.ts'
import { type SessionState, Step } from './state.ts'
import { endCall, pauseRecording, say, whisper } from './supervising.ts'
import { dismissIfOver, onPerson } from './taking-over.ts'
import { markPlayed } from './timeline.ts'
import { fired } from './timers.ts'
import { toolFinished } from './tools.ts'
import { beginTransfer, onTransfer } from './transferring.ts'

type Event<T extends SessionEvent['type']> = Extract<SessionEvent, { type: T }>
type OnEvent = { [T in SessionEvent['type']]: (step: Step, event: Event<T>) => void }

/** Nine tenths: when the model is told that the call must end. */
const WARNING_SHARE = 0.9

/**
 * Everything that a call decides: what follows from an event at `nowMs` (monotonic ms), given all that went before.
 *
 * Pure: the same events at the same instants give the same effects. An ended session absorbs every event.
 */
export function reduce(state: SessionState, event: SessionEvent, nowMs: number): [SessionState, SessionEffect[]] {
  if (state.phase === 'ended') return [state, []]
  const step = new Step(state, nowMs)
  apply(step, event)
  followVoice(step)
  const isPressed = pressDueKeys(step)
  dismissIfOver(step)
  cancelTransferIfOver(step)
  settlePlayed(step)
  if (!isPressed) beginTransfer(step)
  watchBudget(step)
  seekModel(step)
  if (!step.state.ending) renewIfDue(step)
  else if (!isPressed) goOnEnding(step)
  watchSilence(step)
  return [step.state, step.effects]
}

function apply(step: Step, event: SessionEvent): void {
  // The compiler does not follow that the entry of a type takes an event of that type.
  const on = ON_EVENT[event.type] as (step: Step, event: SessionEvent) => void
  on(step, event)
}

/** What follows from each event by itself, told by who decides it; model and timers have tables of their own. */
const ON_EVENT: OnEvent = {
  opened,
  model: fromModel,
  voice: onVoice,
  tool_finished: (step, { outcome }) => toolFinished(step, outcome),
  fired: (step, { timer }) => fired(step, timer),

  sent: audioWent,
  mark: markCame,
  went_on: wentOn,
  caller_audio: callerAudio,
  dtmf: (step, { digit }) => keyPressed(step, digit),

  backlog: backlogChanged,
  hung_up: (step, event) => hungUp(step, event),
  stream_stopped: (step) => streamStopped(step),
  stream_lost: (step) => streamLost(step),
  stream_promised: (step) => streamPromised(step),
  attached: (step) => attached(step),
  hand_over: (step) => handOver(step),
  kept: (step) => kept(step),
  taken: (step) => letCallGo(step),

  machine: (step, { kind }) => machineAnswered(step, kind ?? null),
  party_heard: (step, { sound }) => partyHeard(step, sound),
  party_said: (step, { kind }) => partySaid(step, kind),

  say,
  whisper,
  end: endCall,
  mute: (step) => mute(step),
  unmute: (step) => unmute(step),
  hand_off: handOff,
  press: pressKeys,
  pause_recording: pauseRecording,

  take_over: onPerson,
  release: onPerson,
  person_lost: onPerson,
  person_said: onPerson,
  person_written: onPerson,

  transfer: onTransfer,
  transfer_ringing: onTransfer,
  transfer_sent: onTransfer,
  transfer_failed: onTransfer,
  taker_gone: onTransfer,
  transferred: onTransfer,
}

function opened(step: Step): void {
  const { maxCallMs, budgetMs } = step.state.plan
  const dayMs = budgetMs ?? Number.POSITIVE_INFINITY
  const leftMs = (ms: number) => Math.max(1, ms - step.atMs)
  step.do(
    { type: 'note', note: { type: 'state', state: 'waiting' } },
    { type: 'arm', timer: 'time_warning', ms: leftMs(Math.min(maxCallMs * WARNING_SHARE, dayMs * BUDGET_SHARE)) },
    { type: 'arm', timer: 'time_up', ms: leftMs(Math.min(maxCallMs, dayMs)) },
  )
  if (step.state.plan.recordBeep) step.do({ type: 'beep' })
  readParty(step)
  beginWithClips(step)
  openModel(step)
}

/** Of the model that is talked to, or of the one that is to take its place; any other was given up. */
function fromModel(step: Step, { epoch, event }: Event<'model'>): void {
  const { model } = step.state
  if (epoch === model.epoch) onModel(step, event)
  else if (epoch === model.next?.epoch) onNext(step, event)
}

function audioWent(step: Step, event: Event<'sent'>): void {
  step.set({ playback: sent(step.state.playback, event, step.nowMs) })
  audioSent(step, event)
}

function markCame(step: Step, { name }: Event<'mark'>): void {
  step.set({ playback: echoed(step.state.playback, name, step.nowMs) })
  markPlayed(step, name)
}

/** Utterances that were heard to their end are written down. */
function settlePlayed(step: Step): void {
  const { playback, answers } = step.state
  const { playback: rest, settled } = settle(playback, answers.active?.responseId ?? null, step.nowMs)
  if (settled.length === 0) return
  step.set({ playback: rest })
  for (const utterance of settled) closeUtterance(step, utterance)
  askForRest(step)
}
