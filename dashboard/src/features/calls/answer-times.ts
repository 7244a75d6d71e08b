import type { VoiceSession } from './call-queries.ts'

/** What the time until an answer went to. */
export type AnswerStage = { name: 'End of turn' | 'Request' | 'Model' | 'Sending' | 'Way'; ms: number }

/** How long the caller waited for an answer, and for which tools meanwhile. */
export type AnswerTime = {
  /** Of the answer. */
  seq: number
  /** When the caller had ended. */
  askedMs: number
  waitedMs: number
  /** In their order; none of calls that were not measured so. */
  stages: AnswerStage[]
  tools: { name: string; durationMs: number }[]
}

type Spoken = Pick<VoiceSession, 'transcript' | 'function_calls'>
type Turn = VoiceSession['transcript'][number]

/** Each answer of the agent to something that the caller said. */
export function answerTimes({ transcript, function_calls: calls }: Spoken): AnswerTime[] {
  const spoken = transcript.filter(({ role }) => role === 'caller' || role === 'agent')
  return spoken.flatMap((turn, index) => {
    if (turn.timeline) return [measured(turn, turn.timeline)]
    const asked = spoken[index - 1]
    if (turn.role !== 'agent' || asked?.role !== 'caller') return []
    return [reckoned(turn, asked.end_ms, calls)]
  })
}

function measured({ seq }: Turn, timeline: NonNullable<Turn['timeline']>): AnswerTime {
  const { speech_end_ms: endMs, committed_ms: committedMs, first_byte_ms: byteMs, first_sent_ms: sentMs } = timeline
  const askedMs = timeline.asked_ms ?? committedMs
  const stages: AnswerStage[] = [
    { name: 'End of turn', ms: committedMs - endMs },
    { name: 'Request', ms: askedMs - committedMs },
    { name: 'Model', ms: byteMs - askedMs },
    { name: 'Sending', ms: sentMs - byteMs },
    { name: 'Way', ms: timeline.heard_ms - sentMs },
  ]
  const tools = timeline.tools.map(({ name, start_ms, end_ms }) => ({
    name,
    durationMs: (end_ms ?? byteMs) - start_ms,
  }))
  return { seq, askedMs: endMs, waitedMs: timeline.heard_ms - endMs, stages, tools }
}

function reckoned({ seq, start_ms: startMs }: Turn, askedMs: number, calls: Spoken['function_calls']): AnswerTime {
  const meanwhile = calls.filter(({ start_ms }) => start_ms >= askedMs && start_ms <= startMs)
  const tools = meanwhile.map(({ name, duration_ms: durationMs }) => ({ name, durationMs }))
  return { seq, askedMs, waitedMs: Math.max(0, startMs - askedMs), stages: [], tools }
}
