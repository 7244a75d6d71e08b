import type { VoiceSession } from './call-queries.ts'

/** How long the caller waited for an answer, and for which tools meanwhile. */
export type AnswerTime = {
  /** Of the answer. */
  seq: number
  /** When the caller had ended. */
  askedMs: number
  waitedMs: number
  tools: { name: string; durationMs: number }[]
}

type Spoken = Pick<VoiceSession, 'transcript' | 'function_calls'>

/** Each answer of the agent to something that the caller said. */
export function answerTimes({ transcript, function_calls: calls }: Spoken): AnswerTime[] {
  const spoken = transcript.filter(({ role }) => role === 'caller' || role === 'agent')
  return spoken.flatMap(({ role, seq, start_ms: startMs }, index) => {
    const asked = spoken[index - 1]
    if (role !== 'agent' || asked?.role !== 'caller') return []
    const askedMs = asked.end_ms
    const meanwhile = calls.filter(({ start_ms }) => start_ms >= askedMs && start_ms <= startMs)
    const tools = meanwhile.map(({ name, duration_ms: durationMs }) => ({ name, durationMs }))
    return [{ seq, askedMs, waitedMs: Math.max(0, startMs - askedMs), tools }]
  })
}
