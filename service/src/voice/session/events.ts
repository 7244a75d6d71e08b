import type { ModelCommand, ModelEvent } from '../../platform/realtime/port.ts'
import type { VoiceEvent } from '../../platform/speech/streamed-port.ts'
import type { LineSound } from '../answer/line-reading.ts'
import type { PartySaid } from '../answer/party-words.ts'
import type { AnsweredBy, ReadFrom } from './party.ts'
import type { Plan } from './plan.ts'

/** Why a session ended. */
export type EndReason =
  | 'caller_hangup'
  | 'agent_hangup'
  | 'supervisor'
  | 'transferred'
  | 'idle_timeout'
  | 'max_duration'
  | 'carrier_lost'
  | 'model_lost'
  | 'voicemail'
  | 'shutdown'

/** A timer of the session; arming one that runs starts it anew. */
export type TimerName =
  | 'model_setup'
  | 'reconnect'
  | 'retry'
  | 'missed_words'
  | 'padding'
  | 'dtmf'
  | 'idle'
  | 'time_warning'
  | 'time_up'
  | 'last_words'
  | 'renewal'
  | 'stall'
  | 'dead_air'
  | 'filler'
  | 'words'
  | 'resume'
  | 'backlog'
  | 'detached'
  | 'person'
  | 'transfer'
  | 'hold'
  | 'party'
  | 'party_end'
  | 'drain'
  | 'grace'

/** How a tool call ended; `output` is what the model is told, and asked to say something about, unless it `isSilent`. */
export type ToolOutcome = {
  callId: string
  output: string
  status: 'ok' | 'error' | 'timeout'
  endsCall: boolean
  isSilent?: boolean
}

/** Why a call was not put through. */
export type TransferFault = 'busy' | 'no_answer' | 'declined' | 'failed'

/** Why a transfer is called off. ending: the call ends, or goes elsewhere · late: it has not begun, or come to anything · spoken: by the caller's words · unknown: by words of theirs that are lost */
export type CallOff = 'ending' | 'late' | 'spoken' | 'unknown'

/**
 * What a carrier says in our place, unless that was heard (null), in which language where that is known, and whom it connects then. One that
 * does not speak that language says the English.
 */
export type Apology = { text: string | null; language?: string; english?: string; number: string | null }

/** What happens to a session. Every event comes with the instant at which it happened, in monotonic ms. */
export type SessionEvent =
  | { type: 'opened' }
  /** From the model session that was opened with this epoch; those of an earlier one are late and change nothing. */
  | { type: 'model'; epoch: number; event: ModelEvent }
  /** From the stream of the secondary provider's speech that was opened with this id. */
  | { type: 'voice'; id: string; event: VoiceEvent }
  /** Audio that went to the caller on the fast path. `arrivedAtMs`: when the model's first of an answer came in. */
  | { type: 'sent'; responseId: string; itemId: string; ms: number; mark: string | null; arrivedAtMs?: number }
  /** `loudMs` of the `ms` were louder than a line's own noise. */
  | { type: 'caller_audio'; ms: number; loudMs: number }
  /** What was set aside of the agent's audio was sent again, as far as there was any. */
  | { type: 'went_on' }
  /** The carrier's socket takes less than it is sent, or takes it again. */
  | { type: 'backlog'; isOver: boolean }
  | { type: 'mark'; name: string }
  | { type: 'dtmf'; digit: string }
  /** The carrier says that the call has ended. */
  | { type: 'hung_up'; isLost?: boolean }
  /** The carrier has ended the stream in order: as a rule because the call is over. */
  | { type: 'stream_stopped' }
  /** The stream is gone without a word. */
  | { type: 'stream_lost' }
  /** The carrier says that a machine answered; `kind` in its own word, where it is known. */
  | { type: 'machine'; kind?: string }
  /** What is heard of who answered a call that was placed, and what their words tell of them. */
  | { type: 'party_heard'; sound: LineSound }
  | { type: 'party_said'; kind: PartySaid }
  /** The carrier has asked what comes next for the call, and was told to open another stream. */
  | { type: 'stream_promised' }
  /** Another stream has the call, which the runner holds ready. */
  | { type: 'attached' }
  /** Another node is to go on with the call: it is served here until its stream ends, and its end is not ours. */
  | { type: 'hand_over' }
  /** No other node can go on with it. */
  | { type: 'kept' }
  /** Another stream has the call, and it is not here. */
  | { type: 'taken' }
  | { type: 'tool_finished'; outcome: ToolOutcome }
  | { type: 'fired'; timer: TimerName }
  /** A supervisor's words for the caller, or for the agent alone. */
  | { type: 'say'; text: string }
  | { type: 'whisper'; text: string }
  | { type: 'end'; reason: 'supervisor' | 'shutdown' }
  /** The agent is to be silent and to listen, or may speak again. */
  | { type: 'mute' }
  | { type: 'unmute' }
  /** A person's line is there, which the runner holds ready: they speak with the caller from now on, and the agent does not. */
  | { type: 'take_over' }
  /** The agent is to have the call again. */
  | { type: 'release' }
  /** The person's line is gone without a word. */
  | { type: 'person_lost' }
  /** What the person said, and when they began to, in monotonic ms. */
  | { type: 'person_said'; text: string; sinceMs: number; untilMs?: number }
  /** All is written down that the person said before they gave the call back. */
  | { type: 'person_written' }
  /** The call is to be put through to a number, of which the runner knows more by `id`. `isAgents`: the agent wants it, by a tool. */
  | { type: 'transfer'; id: string; target: string; isWarm: boolean; isAgents: boolean }
  /** The target is rung, while the caller waits here. */
  | { type: 'transfer_ringing' }
  /** The carrier takes the call to the target: its stream is about to end. */
  | { type: 'transfer_sent' }
  | { type: 'transfer_failed'; why: TransferFault }
  /** Who had taken the call has gone: nobody is with the caller, whose carrier is to bring them back. */
  | { type: 'taker_gone' }
  /** The target has the call. */
  | { type: 'transferred' }
  /** Another agent goes on with the caller, by a plan of its own. */
  | { type: 'hand_off'; plan: Plan; agentName: string; summary: string }
  /** The agent presses keys, by a tool. */
  | { type: 'press'; keys: string }
  /** What is said from now on is not to be recorded, or is again. */
  | { type: 'pause_recording'; isPaused: boolean }

/** A tool that ran while an answer was owed; `endMs` is null of one that was still running when that began to sound. */
export type ToolTime = { callId: string; name: string; startMs: number; endMs: number | null }

/**
 * How a turn of the caller became an answer that was heard: ms since the session's start, in this order. `askedMs` is null where
 * nobody had asked for the answer; `heardMs` is by the carrier's echo, or by the clock where none came.
 */
export type TurnTimeline = {
  /** The caller's last sound. */
  speechEndMs: number
  /** It was known that the turn is over, and meant. */
  committedMs: number
  /** The model was asked, for the first time: what comes of a tool is asked for again. */
  askedMs: number | null
  /** The first byte of the answer's audio came. */
  firstByteMs: number
  /** It had been passed on to the carrier. */
  firstSentMs: number
  heardMs: number
  tools: readonly ToolTime[]
}

/** One finished piece of the conversation, as it is kept. `heardMs` is null for what was not audio of ours. */
export type Turn = {
  itemId: string
  seq: number
  role: 'caller' | 'agent' | 'system' | 'supervisor'
  text: string
  startMs: number
  endMs: number
  interrupted: boolean
  sentMs: number | null
  heardMs: number | null
  /** What was generated of it and never heard. */
  unheard: string
  /** The agent that has said it; not given of others, or where that is not known. */
  agentName?: string
  /** What it cost to say, in USD, with what was thought for it; not given where that is not known. */
  costUsd?: number
  /** Of an answer to the caller: how it came about. */
  timeline?: TurnTimeline
}

/** Something that those who watch a call are told at once. */
export type LiveNote =
  | { type: 'state'; state: Phase }
  /** A person has the call, or the agent has it again. */
  | { type: 'taken_over'; state: Phase; isOn: boolean }
  /** A supervisor has silenced the agent, or lets it speak again. */
  | { type: 'muted'; state: Phase; isOn: boolean }
  /** It is known, or known better, who or what answered a call that was placed. */
  | { type: 'answered'; state: Phase; by: AnsweredBy; from: ReadFrom }
  | { type: 'turn_delta'; itemId: string; role: 'agent'; text: string }
  | { type: 'tool'; callId: string; name: string; status: 'started' | 'ok' | 'error' | 'timeout' }
  | { type: 'latency'; responseMs: number }
  /** All is known of how an answer came about. */
  | { type: 'timeline'; itemId: string; timeline: TurnTimeline }
  | { type: 'interrupted'; itemId: string; heardMs: number }
  /** What had stopped the agent was no words: it goes on. */
  | { type: 'resumed' }
  | { type: 'dead_air' }
  /** The secondary provider has failed: the model speaks from now on. */
  | { type: 'voice_lost' }
  | { type: 'digits'; digits: string }

/**
 * waiting: the carrier's stream is open, the model is not ready yet → talking ⇄ detached: nobody hears us, somebody may bring
 * the call back → draining: the last words play, the last transcripts come in → ended: absorbs everything. From waiting and
 * detached a call may go straight to draining, or back to where it was.
 */
export type Phase = 'waiting' | 'talking' | 'detached' | 'draining' | 'ended'

/** What the runner has to do, in this order, before it looks at the next event. */
export type SessionEffect =
  /** Opens a model session; `history` is the conversation so far, null for the first. */
  | { type: 'open_model'; epoch: number; history: string | null }
  | { type: 'close_model' }
  /** Opens a model session beside the one that is talked to; from now on the caller's audio is kept for it, too. */
  | { type: 'open_next'; epoch: number; history: string }
  /** The session beside takes the place of the other, which is closed; what was kept for it goes to it first. */
  | { type: 'take_next' }
  | { type: 'close_next' }
  | { type: 'command'; command: ModelCommand }
  /** Opens a stream of the secondary provider's speech, for what will be written next. */
  | { type: 'open_voice'; id: string }
  /** More of a text for it. Its audio goes by the ids of the answer and the item that are written. */
  | { type: 'speak'; id: string; responseId: string; itemId: string; text: string }
  /** What it was given is spoken without waiting for more. */
  | { type: 'flush_voice'; id: string }
  /** No more text follows. */
  | { type: 'end_voice'; id: string }
  /** It is closed as it is. */
  | { type: 'cut_voice'; id: string }
  /** From now on the caller's audio goes to the model, what was kept of it first. */
  | { type: 'open_uplink' }
  /** From now on the caller's audio is kept, a few seconds of it, for the next model session. */
  | { type: 'hold_uplink' }
  /** Audio of these answers is dropped from now on. */
  | { type: 'discard'; responseIds: readonly string[] }
  /** Empties the carrier's buffer. What is unwanted was discarded before. */
  | { type: 'clear' }
  /** Sends again what the last `clear` has kept from being heard, by this id, or lets go of it. */
  | { type: 'play_aside'; id: string }
  | { type: 'drop_aside' }
  /** Asks the carrier to tell when all audio so far has played. */
  | { type: 'mark'; name: string }
  /** Sends silence to the model in the caller's name, so that it can see the end of a turn. */
  | { type: 'pad'; ms: number }
  /** Plays the beep that tells of the recording. */
  | { type: 'beep' }
  /** Both sides are silent in the recording from now on, or are heard in it again. */
  | { type: 'pause_recording'; isPaused: boolean }
  /** The caller hears the person from now on, whose audio goes by this id, as an answer's does. */
  | { type: 'connect_person'; id: string }
  /** The caller hears the person no more. What they said last is still written down, and that this is done is told. */
  | { type: 'silence_person' }
  /**
   * The person's line ends with the call, or because that goes on elsewhere, where they may take it over again. What they said last is yet to
   * come, as it is told.
   */
  | { type: 'dismiss_person'; isMoving: boolean }
  /** The carrier is to put the call through, or does not have to any more. */
  | { type: 'begin_transfer' }
  | { type: 'cancel_transfer'; why: CallOff }
  /** Plays the plan's clip of this index, by this id. */
  | { type: 'play_clip'; id: string; index: number }
  /** Plays a stretch of what a caller hears who waits, by this id. */
  | { type: 'play_hold'; id: string; fromMs: number; ms: number }
  /** Plays a short sound that tells that somebody is there, by this id. */
  | { type: 'play_chords'; id: string }
  /** Plays the tones of keys, by this id. */
  | { type: 'play_keys'; id: string; keys: string }
  /** It is written down that somebody else has the call. */
  | { type: 'put_through' }
  | { type: 'arm'; timer: TimerName; ms: number }
  | { type: 'disarm'; timer: TimerName }
  | { type: 'run_tool'; callId: string; name: string; argumentsText: string; atMs: number }
  /** A call of a tool that is not run: it is written down with what the model is told of it. */
  | { type: 'refuse_tool'; callId: string; name: string; argumentsText: string; atMs: number; output: string }
  /** Keeps a turn; the same item again replaces it. */
  | { type: 'keep'; turn: Turn }
  /** The item is no part of the conversation after all. */
  | { type: 'forget'; itemId: string }
  | { type: 'note'; note: LiveNote }
  /** The carrier itself says this, unless that was heard (null), and then connects the number, or hangs up. */
  | ({ type: 'apologise' } & Apology)
  | { type: 'hang_up' }
  /** The stream is given up: nothing goes to it any more, and its socket is closed. */
  | { type: 'detach' }
  /** From now on the audio goes to the stream that the runner holds ready. */
  | { type: 'attach' }
  /** What has come of the session so far is written down: somebody else may have to go on from there. */
  | { type: 'checkpoint' }
  /** Last effect of a session: close everything, write the end down. */
  | { type: 'finish'; reason: EndReason }
