import type { ModelCommand, ModelEvent, ModelUsage } from '../../platform/realtime/port.ts'
import { type Playback, SILENT } from '../playback.ts'
import type { EndReason, Phase, SessionEffect, TransferFault } from './events.ts'
import type { Plan } from './plan.ts'
import { type Resumption, resumedTranscript } from './resumption.ts'
import { NO_TIMING, type Timing } from './timing.ts'
import { EMPTY, type Transcript } from './transcript.ts'

/** Why the agent is to speak; `thenEnd` ends the call once it has. `rest`: what a lost model left unsaid. */
export type Ask = {
  why: 'greeting' | 'turn' | 'rest' | 'tool' | 'idle' | 'goodbye' | 'say' | 'filler' | 'back'
  instructions: string | null
  thenEnd: EndReason | null
  /** In place of what was begun before, which is not heard to its end otherwise: said also while the call is about to be put through. */
  isInPlace?: true
}

/** An answer that was asked for and has not begun. Abandoned: the caller spoke meanwhile, nobody wants it any more. */
export type Asked = {
  readonly requestId: string
  readonly ask: Ask
  readonly isAbandoned: boolean
  /** The same was asked for before and nothing came of it. */
  readonly isRepeat: boolean
  /** It is to be written, for the secondary provider; not given: the model says it. */
  readonly isWritten?: boolean
}

/** An answer in the making. `asked` is null for one that the model's server began by itself. */
export type Active = {
  readonly responseId: string
  readonly asked: Asked | null
  readonly hasAudio: boolean
  /** The audio so far is all there is of its item. */
  readonly isWhole: boolean
  readonly hasTool: boolean
  readonly isCancelled: boolean
  /** Whole for long, and nothing has said that it is over. */
  readonly isOverdue: boolean
  /** Its items that are words and no audio. */
  readonly writtenItemIds: readonly string[]
}

/** A stream of the secondary provider's speech; one at a time. */
export type VoiceStreamState = {
  readonly id: string
  /** The answer and the item that it speaks; null while it waits for the first word of one. */
  readonly of: { readonly responseId: string; readonly itemId: string } | null
  /** How the answer ended at the model, which counts once all of it has become sound. */
  readonly done: Extract<ModelEvent, { type: 'response_done' }> | null
}

/** The voice of the secondary provider. */
export type SecondVoice = {
  /** Answers are written, and it speaks them; else the model speaks: where nobody wants it, or once it has failed, until the end. */
  readonly isOn: boolean
  readonly stream: VoiceStreamState | null
  /** How many streams were opened. */
  readonly count: number
  /** How many characters they were given. */
  readonly characters: number
}

/** "May the agent speak now?": at most one answer is asked for or active; the others wait in line. */
export type Answers = {
  readonly asked: Asked | null
  readonly active: Active | null
  readonly queue: readonly Ask[]
  /** How many were asked for so far. */
  readonly asks: number
  /** The model takes no requests for a moment: a timer lets them go on. */
  readonly isHeld: boolean
  readonly lastDoneId: string | null
  /** Whose usage was added up: the newest of them, for an end may be told twice. */
  readonly billedIds: readonly string[]
}

/** What the caller is saying now, or said last. `counts` is null until it is known whether it is more than a cough. */
export type CallerSpeech = {
  readonly itemId: string
  /** Where it begins in the audio that the model's session was given, with what its server puts before it. */
  readonly audioStartMs: number
  readonly startedAtMs: number
  readonly stoppedAtMs: number | null
  /** When it really ended; null until that is told. */
  readonly untilMs: number | null
  /** How long the caller has been heard, but for what the greeting is guarded against. */
  readonly loudMs: number
  /** How much of it we measured to be loud, guarded or not. */
  readonly measuredLoudMs: number
  readonly lastLoudAtMs: number
  readonly overlaps: boolean
  readonly counts: boolean | null
}

/** An utterance that a sound stopped before it was heard to its end; `epoch` is the model session's that made it. */
export type StoppedPart = {
  readonly itemId: string
  readonly epoch: number
  /** How much of it was sent and heard before it is gone on with. */
  readonly sentMs: number
  readonly heardMs: number
  /** Its words that the model knows to be heard. */
  readonly told: string
}

/**
 * What a sound of the caller has stopped the agent in. silent: whether it was words is not known yet · on: none have come, and
 * the agent goes on.
 */
export type Stopped = {
  readonly phase: 'silent' | 'on'
  /** The caller's items that may still turn out to be words. */
  readonly itemIds: readonly string[]
  readonly parts: readonly StoppedPart[]
  /** What was not made any more of what the agent was saying, or about to say. */
  readonly rest: Ask | null
  /** The caller was owed an answer before. */
  readonly wasOwed: boolean
}

/** A sound whose words tell what it is. `isMeant`: it was long enough for speech, but the agent spoke, and it may only say "go on". */
export type Undecided = { readonly itemId: string; readonly isMeant: boolean }

/** A tool call in progress. `epoch` is the model session's that asked for it. */
export type RunningTool = {
  readonly callId: string
  readonly name: string
  readonly epoch: number
  /** The answer that called it had been cut short. */
  readonly isOfCancelled: boolean
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
}

/** `isGuessed`: the call is only taken to be over, because its stream is; nobody has said so. */
export type Ending = {
  readonly reason: EndReason
  readonly hangUp: boolean
  readonly hungUp: boolean
  readonly isGuessed: boolean
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
    readonly readyAtMs: number
    /** The session that is to take over, being opened since then with what the conversation was. */
    readonly next: { readonly epoch: number; readonly sinceMs: number; readonly transcript: Transcript } | null
    readonly failedAtMs: readonly number[]
    /** The call's own stayed away: the one that is there for that takes its place. */
    readonly isFallback: boolean
    /** Since when no session could be had; null while there is one. */
    readonly downSinceMs: number | null
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
  /** The caller was speaking when a model session was lost: what was said until then is known to nobody. */
  readonly hasMissedWords: boolean
  readonly runningTools: readonly RunningTool[]
  /** Those during which the agent goes on talking. */
  readonly asyncTools: readonly RunningTool[]
  readonly seenTools: readonly string[]
  /** How often what is heard on hold was played for a tool. */
  readonly toolHolds: number
  readonly idleStage: number
  readonly idleArmed: boolean
  readonly deadAirArmed: boolean
  readonly digits: string
  /** Answers that did not come, one after the other, and since when nothing has. */
  readonly stall: { readonly count: number; readonly sinceMs: number } | null
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
  /** Somebody else is to have the call; null while nobody is. */
  readonly transfer: Transfer | null
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
    readonly interruptions: number
  }
}

const NO_USAGE: ModelUsage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }

/** A session before its first event; `resumption` is what it goes on from. */
export function newSession(plan: Plan, nowMs: number, resumption: Resumption | null = null): SessionState {
  return {
    plan,
    phase: 'waiting',
    resumption,
    detached: null,
    promisedAtMs: null,
    isLetGo: false,
    startedAtMs: nowMs - (resumption?.elapsedMs ?? 0),
    model: {
      ...{ epoch: resumption?.idBase ?? 0, isReady: false, heardSinceMs: nowMs, readyAtMs: nowMs, next: null },
      ...{ failedAtMs: [], isFallback: false, downSinceMs: nowMs, limitedUntilMs: 0 },
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
    toolHolds: 0,
    idleStage: 0,
    idleArmed: false,
    deadAirArmed: false,
    digits: '',
    stall: null,
    greetingAtMs: null,
    greetedAtMs: null,
    owedSinceMs: null,
    timing: NO_TIMING,
    lastCallerAudioMs: nowMs,
    carrierGoneAtMs: null,
    ending: null,
    isRecordingPaused: false,
    isMuted: false,
    takeover: null,
    takeovers: 0,
    transfer: null,
    usage: resumption?.usage ?? NO_USAGE,
    ...{ costUsd: resumption?.costUsd ?? 0, unsaidUsd: 0, budget: 'open', timeUp: null },
    latency: {
      greetingMs: resumption?.greetingMs ?? null,
      responsesMs: [],
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
