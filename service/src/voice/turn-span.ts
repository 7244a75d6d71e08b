import type { PastSpan } from '../platform/tracing.ts'
import type { TurnTimeline } from './session/events.ts'
import { stagesOf, TURN_STAGES } from './turn-stages.ts'

/** A turn as a span: its stages and its tools are the spans below it. `startedAtMs` is the session's start, monotonic. */
export function turnSpan(timeline: TurnTimeline, startedAtMs: number): PastSpan {
  const { speechEndMs, committedMs, askedMs, firstByteMs, firstSentMs, heardMs, tools } = timeline
  const span = (name: string, fromMs: number, toMs: number): PastSpan => ({
    ...{ name, startMs: startedAtMs + fromMs, endMs: startedAtMs + toMs },
  })
  const stages = stagesOf(timeline)
  const took = TURN_STAGES.flatMap((stage) => [[`voice.${stage}_ms`, stages.get(stage)] as const])
  return {
    ...span('voice.turn', speechEndMs, heardMs),
    attributes: Object.fromEntries(took.filter(([, ms]) => ms !== undefined)),
    parts: [
      span('voice.turn.commit', speechEndMs, committedMs),
      ...(askedMs === null ? [] : [span('voice.turn.ask', committedMs, askedMs)]),
      span('voice.turn.model', askedMs ?? committedMs, firstByteMs),
      ...tools.map(({ name, startMs, endMs }) => ({
        ...span('voice.turn.tool', startMs, endMs ?? firstByteMs),
        attributes: { 'voice.tool': name },
      })),
      span('voice.turn.send', firstByteMs, firstSentMs),
      span('voice.turn.play', firstSentMs, heardMs),
    ],
  }
}
