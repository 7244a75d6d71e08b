import { type Span, seamStepDb, talkSpans, voicedShare } from '../audio/levels.ts'
import { repeatedSpans } from '../audio/repeats.ts'
import type { CallRecording } from './recording.ts'
import type { CallEvent } from './timeline.ts'

// From here on a jump between two samples is heard as a click.
const CLICK_DB = 12

/** What a call was like for the one who made it; times in milliseconds from the answer. */
export type CallMeasures = {
  durationMs: number
  /** When the agent's first word was heard; null when there was none. */
  firstWordMs: number | null
  /** From the end of each utterance of the caller to the agent's next word, where the agent was the next to speak. */
  replyGapsMs: number[]
  /** The longest time, between the agent's first word and the last of anybody's, in which nobody spoke. */
  longestSilenceMs: number
  callerVoicedShare: number
  agentVoicedShare: number
  clears: number
  seams: number
  /** Seams at which the wave jumps: a click. Audio that a `clear` cut off is not counted. */
  clicks: number
  /** Pieces of the agent's audio that were heard twice in a row. */
  repeats: number
}

/** Measures a call from its recording; `events` tells what the audio does not show. */
export function measureCall(recording: CallRecording, events: readonly CallEvent[]): CallMeasures {
  const { caller, agent, seams } = recording
  const callerSpans = talkSpans(caller)
  const agentSpans = talkSpans(agent)
  return {
    durationMs: recording.durationMs,
    firstWordMs: agentSpans[0]?.startMs ?? null,
    replyGapsMs: replyGapsMs(callerSpans, agentSpans),
    longestSilenceMs: longestSilenceMs(callerSpans, agentSpans),
    callerVoicedShare: voicedShare(caller),
    agentVoicedShare: voicedShare(agent),
    clears: events.filter(({ kind }) => kind === 'clear').length,
    seams: seams.length,
    clicks: seams.filter((seam) => seamStepDb(agent, seam) > CLICK_DB).length,
    repeats: repeatedSpans(agent).length,
  }
}

function replyGapsMs(callerSpans: Span[], agentSpans: Span[]): number[] {
  return callerSpans.flatMap((span, i) => {
    const answer = agentSpans.find(({ startMs }) => startMs >= span.endMs)
    const nextTurnMs = callerSpans[i + 1]?.startMs ?? Number.POSITIVE_INFINITY
    return answer && answer.startMs < nextTurnMs ? [answer.startMs - span.endMs] : []
  })
}

function longestSilenceMs(callerSpans: Span[], agentSpans: Span[]): number {
  const first = agentSpans[0]
  if (!first) return 0
  let spokenUntilMs = first.startMs
  let longestMs = 0
  for (const span of [...callerSpans, ...agentSpans].sort((a, b) => a.startMs - b.startMs)) {
    if (span.endMs <= spokenUntilMs) continue
    longestMs = Math.max(longestMs, span.startMs - spokenUntilMs)
    spokenUntilMs = span.endMs
  }
  return longestMs
}
