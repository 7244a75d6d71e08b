import { assertNever } from '../../kernel/errors.ts'
import type { ModelEvent } from '../../platform/realtime/port.ts'
import { echoed, sent, settle } from '../playback.ts'
import { audioDone, audioSent, responseDone, responseStarted } from './answering.ts'
import { machineAnswered, partyHeard, partyQuiet, partySaid, partyWindowOver, readParty } from './answering-party.ts'
import { ask, exactly } from './asking.ts'
import { BUDGET_SHARE, watchBudget } from './budget.ts'
import { beginWithClips } from './clips.ts'
import {
  attached,
  handOver,
  hungUp,
  kept,
  streamLost,
  streamPromised,
  streamStopped,
  waitedInVain,
} from './detached.ts'
import { beginEnding, finish, goOnEnding, hangUp } from './ending.ts'
import type { SessionEffect, SessionEvent, TimerName } from './events.ts'
import { askForRest, wentOn, wordsStayAway } from './going-on.ts'
import { handOff } from './handing-off.ts'
import { playForTool } from './holding.ts'
import { addNote, closeUtterance } from './keeping.ts'
import { keyPressed, tellKeys } from './keys.ts'
import { letCallGo } from './letting-go.ts'
import { modelLost, modelReady, openModel } from './model-session.ts'
import { mute, unmute } from './muting.ts'
import { refused } from './refusals.ts'
import { onNext, renewalFired, renewIfDue } from './renewal.ts'
import { letGo } from './retry.ts'
import { followVoice, onVoice, wrote } from './second-voice.ts'
import { deadAir, silencePassed, watchSilence } from './silence.ts'
import { callerAudio, padIfMuted, speechStarted, speechStopped } from './speech.ts'
import { stalled } from './stalled.ts'
import { type SessionState, Step } from './state.ts'
import { dismissIfOver, onPerson, personTimer } from './taking-over.ts'
import { markPlayed } from './timeline.ts'
import { fillTheWait, toolCalled, toolFinished } from './tools.ts'
import { beginTransfer, cancelTransferIfOver, onTransfer, playOn, transferTimer } from './transferring.ts'
import { callerTranscript, committed, wordsOverdue } from './turns.ts'
import { askForMissedWords } from './unsaid.ts'
import { agentWords, itemAdded } from './words.ts'
import { timeIsShort, timeIsUp } from './wrapping-up.ts'

/** Nine tenths: when the model is told that the call must end. */
const WARNING_SHARE = 0.9
/** A carrier that does not take what it is sent for this long is gone. */
const BACKLOG_MS = 5_000
/** Longer than this no provider keeps us waiting: it is tried again sooner than it says. */
const MAX_LIMITED_MS = 5_000

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
  dismissIfOver(step)
  cancelTransferIfOver(step)
  settlePlayed(step)
  beginTransfer(step)
  watchBudget(step)
  if (step.state.ending) goOnEnding(step)
  else renewIfDue(step)
  watchSilence(step)
  return [step.state, step.effects]
}

function apply(step: Step, event: SessionEvent): void {
  switch (event.type) {
    case 'opened':
      return opened(step)
    case 'model':
      if (event.epoch === step.state.model.epoch) onModel(step, event.event)
      else if (event.epoch === step.state.model.next?.epoch) onNext(step, event.event)
      return
    case 'voice':
      return onVoice(step, event)
    case 'sent':
      step.set({ playback: sent(step.state.playback, event, step.nowMs) })
      return audioSent(step, event)
    case 'caller_audio':
      return callerAudio(step, event)
    case 'went_on':
      return wentOn(step)
    case 'mark':
      step.set({ playback: echoed(step.state.playback, event.name, step.nowMs) })
      return markPlayed(step, event.name)
    case 'dtmf':
      return keyPressed(step, event.digit)
    case 'tool_finished':
      return toolFinished(step, event.outcome)
    case 'fired':
      return fired(step, event.timer)
    case 'backlog':
    case 'hung_up':
    case 'stream_stopped':
    case 'stream_lost':
    case 'stream_promised':
    case 'attached':
    case 'hand_over':
    case 'kept':
    case 'taken':
      return onCarrier(step, event)
    case 'machine':
      return machineAnswered(step, event.kind ?? null)
    case 'party_heard':
      return partyHeard(step, event.sound)
    case 'party_said':
      return partySaid(step, event.kind)
    case 'say':
    case 'whisper':
    case 'end':
      return onSupervisor(step, event)
    case 'mute':
      return mute(step)
    case 'unmute':
      return unmute(step)
    case 'hand_off':
      return handOff(step, event)
    case 'pause_recording':
      return pauseRecording(step, event.isPaused)
    case 'take_over':
    case 'release':
    case 'person_lost':
    case 'person_said':
    case 'person_written':
      return onPerson(step, event)
    case 'transfer':
    case 'transfer_ringing':
    case 'transfer_sent':
    case 'transfer_failed':
    case 'transferred':
      return onTransfer(step, event)
    default:
      assertNever(event)
  }
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

function onModel(step: Step, event: ModelEvent): void {
  switch (event.type) {
    case 'ready':
      return modelReady(step)
    case 'speech_started':
      return speechStarted(step, event)
    case 'speech_stopped':
      return speechStopped(step, event)
    case 'committed':
      return committed(step, event)
    case 'item_added':
      return itemAdded(step, event)
    case 'caller_transcript':
      return callerTranscript(step, event.itemId, event.text)
    case 'caller_transcript_failed':
      return callerTranscript(step, event.itemId, null)
    case 'response_started':
      return responseStarted(step, event.responseId)
    case 'agent_transcript':
      return agentWords(step, event)
    case 'agent_text':
      return wrote(step, event)
    case 'audio_done':
      return audioDone(step, event)
    case 'tool_call':
      return toolCalled(step, event)
    case 'response_done':
      return responseDone(step, event)
    case 'rate_limited':
      return limited(step, event.resetMs)
    case 'refused':
      return refused(step, event)
    case 'closed':
      return modelLost(step, event.fault)
    default:
      assertNever(event)
  }
}

function limited(step: Step, resetMs: number): void {
  const limitedUntilMs = step.nowMs + Math.min(resetMs, MAX_LIMITED_MS)
  step.set({ model: { ...step.state.model, limitedUntilMs } })
}

type OnCarrier = Extract<
  SessionEvent,
  {
    type:
      | ('backlog' | 'hung_up' | 'stream_stopped' | 'stream_lost')
      | ('stream_promised' | 'attached' | 'hand_over' | 'kept' | 'taken')
  }
>

function onCarrier(step: Step, event: OnCarrier): void {
  if (event.type !== 'backlog') return ON_CARRIER[event.type](step)
  if (event.isOver) step.do({ type: 'disarm', timer: 'backlog' })
  else step.do({ type: 'arm', timer: 'backlog', ms: BACKLOG_MS })
}

const ON_CARRIER: Record<Exclude<OnCarrier['type'], 'backlog'>, (step: Step) => void> = {
  hung_up: hungUp,
  stream_stopped: streamStopped,
  stream_lost: streamLost,
  stream_promised: streamPromised,
  attached,
  hand_over: handOver,
  kept,
  taken: (step) => letCallGo(step),
}

type OnSupervisor = Extract<SessionEvent, { type: 'say' | 'whisper' | 'end' }>

function onSupervisor(step: Step, event: OnSupervisor): void {
  if (event.type === 'say') return ask(step, { why: 'say', instructions: exactly(event.text), thenEnd: null })
  if (event.type === 'end') {
    const { phase, detached } = step.state
    const isUnheard = phase === 'detached' && !detached?.isHandedOver
    beginEnding(step, event.reason, true)
    // A supervisor means now; a server that is to stop lets the agent finish its sentence, if anybody hears it.
    return event.reason === 'supervisor' || isUnheard ? hangUp(step) : undefined
  }
  addNote(step, 'supervisor', { text: event.text, isKept: true })
  step.command({ type: 'system_message', text: event.text })
}

function pauseRecording(step: Step, isPaused: boolean): void {
  if (step.state.isRecordingPaused === isPaused) return
  step.set({ isRecordingPaused: isPaused })
  step.do({ type: 'pause_recording', isPaused })
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

function fired(step: Step, timer: TimerName): void {
  switch (timer) {
    case 'model_setup':
      return modelLost(step, 'retry')
    case 'reconnect':
      return openModel(step)
    case 'retry':
      return letGo(step)
    case 'missed_words':
      return askForMissedWords(step)
    case 'padding':
      return padIfMuted(step)
    case 'dtmf':
      return tellKeys(step)
    case 'idle':
      return silencePassed(step)
    case 'time_warning':
      return timeIsShort(step)
    case 'time_up':
      return timeIsUp(step)
    case 'last_words':
      return beginEnding(step, 'max_duration', true)
    case 'renewal':
      return renewalFired(step)
    case 'stall':
      return stalled(step)
    case 'dead_air':
      return deadAir(step)
    case 'filler':
      return fillTheWait(step)
    case 'words':
      return wordsOverdue(step)
    case 'resume':
      return wordsStayAway(step)
    case 'backlog':
      return streamLost(step)
    case 'detached':
      return waitedInVain(step)
    case 'person':
      return personTimer(step)
    case 'transfer':
      return transferTimer(step)
    case 'hold':
      return step.state.transfer ? playOn(step) : playForTool(step)
    case 'party':
      return partyQuiet(step)
    case 'party_end':
      return partyWindowOver(step)
    case 'drain':
      return hangUp(step)
    case 'grace':
      return finish(step)
    default:
      assertNever(timer)
  }
}
