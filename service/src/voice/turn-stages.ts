import type { TurnTimeline } from './session/events.ts'

/**
 * What the time of a turn went to: commit: until it was known that the caller had ended · ask: until the model was asked · tools:
 * those that were waited for · model: the rest until the answer's first byte · send: until that had left · play: until it was heard.
 */
export const TURN_STAGES = ['commit', 'ask', 'tools', 'model', 'send', 'play'] as const

export type TurnStage = (typeof TURN_STAGES)[number]

/** How long each stage of a turn took, in ms: what did not happen is not there. Together they are the time from end to hearing. */
export function stagesOf(timeline: TurnTimeline): Map<TurnStage, number> {
  const { speechEndMs, committedMs, askedMs, firstByteMs, firstSentMs, heardMs, tools } = timeline
  const stages = new Map<TurnStage, number>([['commit', committedMs - speechEndMs]])
  if (askedMs !== null) {
    const toolsMs = waitedMs(timeline, askedMs)
    stages.set('ask', askedMs - committedMs)
    if (tools.length > 0) stages.set('tools', toolsMs)
    stages.set('model', firstByteMs - askedMs - toolsMs)
  }
  return stages.set('send', firstSentMs - firstByteMs).set('play', heardMs - firstSentMs)
}

/** For how long at least one tool was running before the answer began. */
function waitedMs({ tools, firstByteMs }: TurnTimeline, askedMs: number): number {
  let untilMs = askedMs
  let ms = 0
  for (const { startMs, endMs } of tools) {
    const toMs = Math.min(endMs ?? firstByteMs, firstByteMs)
    ms += Math.max(0, toMs - Math.max(startMs, untilMs))
    untilMs = Math.max(untilMs, toMs)
  }
  return ms
}
