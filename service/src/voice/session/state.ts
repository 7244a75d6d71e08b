import type { ModelCommand, ModelUsage } from '../../platform/realtime/port.ts'
import { type Playback, SILENT } from '../playback.ts'
import type { Answers } from './answers.ts'
import type { CallerSpeech, Stopped, Undecided } from './caller-speech.ts'
import type { EndReason, Phase, SessionEffect, ToolOutcome, TransferFault } from './events.ts'
import type { Party } from './party.ts'
import type { Plan } from './plan.ts'
import { type Resumption, resumedTranscript } from './resumption.ts'
import { NO_TIMING, type Timing } from './timing.ts'
import { EMPTY, type Transcript } from './transcript.ts'
import type { SecondVoice } from './voice-stream.ts'

/** A tool call in progress. `epoch` is the model session's that asked for it. */
export type RunningTool = {
  readonly callId: string
  readonly name: string
  readonly epoch: number
  readonly responseId: string
  /** The answer that called it had been cut short, or since it was done and waits the caller has spoken, or others had the call. */
  readonly isOfCancelled: boolean
  /** How it has ended, where that ends the call, and waits for what its answer called before it; null else. */
  readonly held: ToolOutcome | null
}

/** A session that nobody hears. */
export type Detached = {
  readonly sinceMs: number
  /** The caller was being spoken to, or was owed an answer. */
  readonly wasOwed: boolean
  readonly wasSpeaking: boolean
  /** The session had not begun to talk: it was to greet, or to go on from what an earlier one has left. */
  readonly wasWaiting: boolean
  /** Its stream stands yet: another node is to take the call, and its end will not be ours. */
  readonly isHandedOver: boolean
}

/**
 * A person has the call. on: the caller hears them · lost: their line is gone, and they may come back · leaving: they gave the
 * call back, and their last words are being written down.
 */
export type Takeover = { readonly phase: 'on' | 'lost' | 'leaving' }

/**
 * The call is being put through. words: once the agent's last words were heard · asking: its carrier is asked · holding: the target
 * is rung, and the caller hears music · going: the carrier goes to the target with the call.
 */
export type Transfer = {
  readonly id: string
  readonly target: string
  readonly isWarm: boolean
  readonly isAgents: boolean
  readonly phase: 'words' | 'asking' | 'holding' | 'going'
  /** Why nobody has taken it, once that is known. */
  readonly why: TransferFault | null
  /** How often the music was played. */
  readonly holds: number
  /** Sounds of the caller's that may be words, after which the agent does not go on by itself: the call is not put through before that is known. */
  readonly stoppedBy: readonly string[]
}

/**
 * `isGuessed`: the call is only taken to be over, because its stream is; nobody has said so. `isUntold`: its carrier was asked to end it,
 * and has not said that it is over.
 */
export type Ending = {
  readonly reason: EndReason
  readonly hangUp: boolean
  readonly hungUp: boolean
  readonly isGuessed: boolean
  readonly isUntold: boolean
}

export type SessionState = {
  readonly plan: Plan
  readonly phase: Phase
  /** What an earlier session of the call has left; null for its first. */
  readonly resumption: Resumption | null
  readonly detached: Detached | null
  /** When its carrier was told last to open another stream, monotonic ms; null once that is there. */
  readonly promisedAtMs: number | null
  /** Somebody else has the call: the end of the session is not that of the call, and not ours to write down. */
  readonly isLetGo: boolean
  readonly startedAtMs: number
  readonly model: {
    readonly epoch: number
    readonly isReady: boolean
    /** When the first sound was heard that this session was given: some of them are kept until it is ready. */
    readonly heardSinceMs: number
    /** By how much the last onset that seemed late has moved that on; 0 where none has. */
    readonly onsetMovedMs: number
    readonly readyAtMs: number
    /** The session that is to take over, being opened since then with what the conversation was. */
    readonly next: { readonly epoch: number; readonly sinceMs: number; readonly transcript: Transcript } | null
    /** The losses that count for how long the next try waits. */
    readonly failedAtMs: readonly number[]
    /** When sessions were lost that were there, within a minute. */
    readonly droppedAtMs: readonly number[]
    /** Since when sessions are lost, one soon after the other, and none has answered; null where none is, or one has. */
    readonly outSinceMs: number | null
    /** The call's own stayed away: the one that is there for that takes its place. */
    readonly isFallback: boolean
    /** None is looked for any more: others have the call. */
    readonly isGivenUp: boolean
    /** Since when no session could be had; null while there is one. */
    readonly downSinceMs: number | null
    /** Since when no session hears the caller; null while one does. What was kept of them is as old, whatever is looked for. */
    readonly deafSinceMs: number | null
    /** Until when the provider wants no requests. */
    readonly limitedUntilMs: number
  }
  readonly renewalDue: boolean
  readonly playback: Playback
  readonly transcript: Transcript
  readonly clips: {
    /** Which first words of the plan were played, each time by another id. */
    readonly played: readonly { itemId: string; index: number }[]
    /** Those of them that are to be played again when the call is back. */
    readonly due: readonly number[]
    /** How many fillers were played. */
    readonly fillers: number
  }
  readonly answers: Answers
  readonly secondVoice: SecondVoice
  readonly speech: CallerSpeech | null
  /** Short speech whose words will tell whether it is answered. */
  readonly undecided: readonly Undecided[]
  /** Null while the agent is not stopped by what may be no words, nor goes on after it. */
  readonly stopped: Stopped | null
  /** How often it has gone on. */
  readonly resumes: number
  /** The caller was speaking when a model session was lost, or may have been while it was deaf: that is known to nobody. False once they have gone on. */
  readonly hasMissedWords: boolean
  readonly runningTools: readonly RunningTool[]
  /** Those during which the agent goes on talking. */
  readonly asyncTools: readonly RunningTool[]
  readonly seenTools: readonly string[]
  /** The newest answers that called a tool which failed, or gave the call to another agent: none of them ends the call. */
  readonly goingOnIds: readonly string[]
  /** How many were called since the caller spoke last, or heard words of the agent. */
  readonly toolsInRow: number
  /** When it was said last that the tool takes long that is waited for; null before that, and where none is. */
  readonly toolToldAtMs: number | null
  /** How often what is heard on hold was played for a tool, or an answer. */
  readonly toolHolds: number
  /** The same for transfers: what was cut off in one is not heard by its id any more. */
  readonly holds: number
  /** How often the agent has pressed keys, and those that it presses once what it has written before them has become sound. */
  readonly presses: number
  readonly dueKeys: string
  readonly idleStage: number
  /** The clock of the caller's silence runs, and counts. */
  readonly idleArmed: boolean
  /** When it runs out, monotonic ms, while it runs, or was to run out before sounds of the caller's put that off. */
  readonly idleDueMs: number
  /** When it is to run out that a sound of the caller's has stopped, as long as that may be no words; null while none has. */
  readonly idleHeldUntilMs: number | null
  readonly deadAirArmed: boolean
  readonly digits: string
  /** When the last key made an entry as long as one may be, monotonic ms; null where it did not. */
  readonly fullEntryMs: number | null
  /** Answers that did not come, one after the other, and since when nothing has; null once one was given, or nobody waits for one. */
  readonly stall: { readonly count: number; readonly sinceMs: number } | null
  /** Answers that stalled before the one that is waited for, or sounds, one after the other; 0 once one has ended as it should. */
  readonly earlierStalls: number
  /** The model session in which the first of all these was counted; of no meaning while there are none. */
  readonly stallEpoch: number
  /** When the greeting was asked for first, and when it began to sound. */
  readonly greetingAtMs: number | null
  readonly greetedAtMs: number | null
  /** When the caller's last turn ended, while its answer has not begun to sound. */
  readonly owedSinceMs: number | null
  readonly timing: Timing
  readonly lastCallerAudioMs: number
  /** When the call was over for the caller: the carrier was gone, or was told to hang up; monotonic ms. Null until then. */
  readonly carrierGoneAtMs: number | null
  readonly ending: Ending | null
  readonly isRecordingPaused: boolean
  /** A supervisor has silenced the agent. */
  readonly isMuted: boolean
  /** A person speaks in the agent's place; null while nobody does. */
  readonly takeover: Takeover | null
  /** How often somebody has taken the call over. */
  readonly takeovers: number
  /** Not all is written down yet, as far as is known, that the last of them said. */
  readonly isPersonUnwritten: boolean
  /** Somebody else is to have the call; null while nobody is. */
  readonly transfer: Transfer | null
  /** Who answered the call, in one that was placed; null where nobody asks. */
  readonly party: Party | null
  readonly usage: ModelUsage
  /** What the model cost so far, in USD; null where a part of it has no known price. */
  readonly costUsd: number | null
  /** A part of it that no turn has yet: of answers without words. */
  readonly unsaidUsd: number
  /** What of the budget has had its consequence: told, the model knows that little is left · spent, the call is being ended. */
  readonly budget: 'open' | 'told' | 'spent'
  /** Whose time is up: that of the tenant's day, or that of the longest call. */
  readonly timeUp: null | 'day' | 'call'
  readonly latency: {
    readonly greetingMs: number | null
    /** Of the newest answers. */
    readonly responsesMs: readonly number[]
    /** Of those that an earlier session of the call has given, as `packTimes` writes them. */
    readonly earlierTimes: string | null
    readonly interruptions: number
  }
}

const NO_USAGE: ModelUsage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }

/** `resumption`: what a session goes on from. `waitedMs`: how long its stream had been there before it could begin. */
type Origin = { resumption?: Resumption | null; waitedMs?: number }

/** A session before its first event. */
export function newSession(plan: Plan, nowMs: number, { resumption = null, waitedMs = 0 }: Origin = {}): SessionState {
  return {
    plan,
    phase: 'waiting',
    resumption,
    detached: null,
    promisedAtMs: null,
    isLetGo: false,
    startedAtMs: nowMs - (resumption?.elapsedMs ?? waitedMs),
    model: {
      ...{ epoch: resumption?.idBase ?? 0, isReady: false, heardSinceMs: nowMs, readyAtMs: nowMs, next: null },
      ...{ onsetMovedMs: 0, failedAtMs: [], droppedAtMs: [], outSinceMs: null, isFallback: false, isGivenUp: false },
      ...{ downSinceMs: nowMs, deafSinceMs: nowMs, limitedUntilMs: 0 },
    },
    renewalDue: false,
    playback: SILENT,
    transcript: resumption ? resumedTranscript(resumption) : EMPTY,
    clips: { played: [], due: [], fillers: 0 },
    answers: { asked: null, active: null, queue: [], asks: 0, isHeld: false, lastDoneId: null, billedIds: [] },
    secondVoice: { isOn: plan.secondVoice === true, stream: null, count: resumption?.idBase ?? 0, characters: 0 },
    speech: null,
    undecided: [],
    stopped: null,
    resumes: 0,
    hasMissedWords: false,
    runningTools: [],
    asyncTools: [],
    seenTools: [],
    goingOnIds: [],
    toolsInRow: 0,
    toolToldAtMs: null,
    ...{ toolHolds: 0, holds: 0 },
    ...{ presses: 0, dueKeys: '' },
    idleStage: 0,
    ...{ idleArmed: false, idleDueMs: 0, idleHeldUntilMs: null },
    deadAirArmed: false,
    ...{ digits: '', fullEntryMs: null },
    stall: null,
    ...{ earlierStalls: 0, stallEpoch: 0 },
    greetingAtMs: null,
    greetedAtMs: null,
    owedSinceMs: null,
    timing: NO_TIMING,
    lastCallerAudioMs: nowMs,
    carrierGoneAtMs: null,
    ending: null,
    isRecordingPaused: resumption?.isRecordingPaused ?? false,
    isMuted: false,
    takeover: null,
    takeovers: 0,
    isPersonUnwritten: false,
    transfer: null,
    party: null,
    usage: resumption?.usage ?? NO_USAGE,
    costUsd: resumption?.costUsd === undefined ? 0 : resumption.costUsd,
    ...{ unsaidUsd: 0, budget: 'open', timeUp: null },
    latency: {
      greetingMs: resumption?.greetingMs ?? null,
      responsesMs: resumption?.responsesMs ?? [],
      earlierTimes: resumption?.responseTimes ?? null,
      interruptions: resumption?.interruptions ?? 0,
    },
  }
}

/** One event on its way through the reducer: the state so far, and the effects so far. */
export class Step {
  readonly nowMs: number
  readonly effects: SessionEffect[] = []
  #state: SessionState

  constructor(state: SessionState, nowMs: number) {
    this.#state = state
    this.nowMs = nowMs
  }

  get state(): SessionState {
    return this.#state
  }

  /** Milliseconds since the session's start, as the transcript counts them. */
  get atMs(): number {
    return Math.round(this.nowMs - this.#state.startedAtMs)
  }

  set(facts: Partial<SessionState>): void {
    this.#state = { ...this.#state, ...facts }
  }

  /** Changes what is known of the answers, and leaves the rest of it. */
  setAnswers(facts: Partial<Answers>): void {
    this.set({ answers: { ...this.#state.answers, ...facts } })
  }

  do(...effects: SessionEffect[]): void {
    this.effects.push(...effects)
  }

  /** Tells the model to do something; one that is not there does nothing. */
  command(command: ModelCommand): void {
    this.do({ type: 'command', command })
  }
}

/** Whether others have the call, or are about to: the agent is asked for nothing. */
export function isOutOfHands({ state: { takeover, transfer } }: Step): boolean {
  return takeover !== null || transfer !== null
}

/** Whether the caller hears others than the agent, whose last words before a transfer are still its own. */
export function isOthers({ takeover, transfer }: SessionState): boolean {
  return takeover !== null || (transfer !== null && transfer.phase !== 'words')
}
