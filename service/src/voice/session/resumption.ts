import type { ModelUsage } from '../../platform/realtime/port.ts'
import type { TransferFault } from './events.ts'
import { pastOf } from './history.ts'
import type { AnsweredBy, ReadFrom } from './party.ts'
import type { Plan, PlannedClip } from './plan.ts'
import { calledWith, hasAnswered, hasNotAnswered } from './tool-notes.ts'
import { EMPTY, type Transcript } from './transcript.ts'
import { letters } from './word-ends.ts'

/** A turn of the record, as far as a model is told of it. */
export type PastTurn = {
  role: 'caller' | 'agent' | 'system' | 'supervisor'
  seq: number
  text: string
  unheard: string
}

/** A tool that was called, and what it answered; null: it had not, and whether it was done is not known. */
export type PastToolCall = {
  name: string
  argumentsText: string
  result: string | null
  /** How many of the turns stand before it. */
  afterTurns: number
  /** The agent was to speak of it, and has not. Default: it has, or was not to. */
  isOwed?: boolean
}

/**
 * What a session goes on from that another process, or this one before a restart, has begun: all of it was stored.
 *
 * What the model used, how long answers took and how often they were interrupted go on from what was stored, so that the end tells of the whole call. A
 * process that was killed had not stored its part: of what the model used that is missing.
 */
export type Resumption = {
  /** Since the session's real start. */
  elapsedMs: number
  turns: readonly PastTurn[]
  /** In their order. Default: none. */
  toolCalls?: readonly PastToolCall[]
  usage: ModelUsage
  /** In USD; null where a part of it has no known price. Default: nothing. */
  costUsd?: number | null
  greetingMs: number | null
  interruptions: number
  /** How long its answers took, as `packTimes` writes them. Default: there were none. */
  responseTimes?: string | null
  /** The same in ms, of answers that are not in `responseTimes`. Default: there were none. */
  responsesMs?: readonly number[]
  /** Ids of items, notes and tool calls count from here: those below it have been given. */
  idBase: number
  /** Why nobody took the call that was on its way to somebody, where its carrier has said so. Default: it has not. */
  notThrough?: TransferFault | null
  /** The agent has paused the recording. Default: it has not. */
  isRecordingPaused?: boolean
  /** Who or what answered, by what was heard of them. Default: nothing was found out so. */
  answered?: { by: AnsweredBy; from: ReadFrom } | null
}

/** The model that paused it is gone: the next one is to know that it may go on with it. */
const PAUSED = 'The recording of the call is paused.'

/** The conversation so far: told to every model session, and too old to change. */
export function resumedTranscript({ turns, toolCalls = [], idBase, isRecordingPaused }: Resumption): Transcript {
  const called = Map.groupBy(toolCalls, ({ afterTurns }) => afterTurns)
  const calledAfter = (count: number) => (called.get(count) ?? []).flatMap(toldOf)
  const told = [
    ...turns.flatMap((turn, at) => [...calledAfter(at), turn]),
    ...calledAfter(turns.length),
    ...(isRecordingPaused ? [{ role: 'system' as const, text: PAUSED }] : []),
  ]
  return { ...EMPTY, past: { turns: lastSeq(turns), text: pastOf(told) }, notes: idBase }
}

/** Whether it is a clip that only bridged a wait: no answer, and nothing to go on with. */
export function isBridge({ role, text, unheard }: PastTurn, { clips }: Plan): boolean {
  const whole = letters(text + unheard)
  const isOfWait = (kind: PlannedClip['kind']) => kind === 'filler' || kind === 'apology'
  return role === 'agent' && clips.some((clip) => isOfWait(clip.kind) && letters(clip.text) === whole)
}

/** The number of the newest turn. Those that were not finished when their process was lost are missing before it. */
export function lastSeq(turns: readonly PastTurn[]): number {
  return turns.reduce((highest, { seq }) => Math.max(highest, seq), 0)
}

/** As a session of the same process would be told of it. */
function toldOf({ name, argumentsText, result }: PastToolCall): { role: 'system'; text: string }[] {
  const texts = [calledWith(name, argumentsText), result === null ? hasNotAnswered(name) : hasAnswered(name, result)]
  return texts.map((text) => ({ role: 'system', text }))
}
