import { heard } from '../playback.ts'
import type { Active } from './answers.ts'
import { isClip } from './clip-id.ts'
import { isOwnAudio } from './own-audio.ts'
import type { SessionState, Step } from './state.ts'

/** An answer may take several tools; a model that goes on asking them, and says nothing, leaves the caller waiting. */
const MAX_IN_ROW = 10

/** Whether another tool may be called before the caller speaks, or hears words of the agent. */
export function mayCallTool({ toolsInRow }: SessionState): boolean {
  return toolsInRow < MAX_IN_ROW
}

/** Whether a tool was refused because there were so many: the caller is to be answered with what is known. */
export function isToAnswer({ toolsInRow }: SessionState): boolean {
  return toolsInRow > MAX_IN_ROW
}

/** A tool is called, or refused because it may not be. */
export function countTool(step: Step): void {
  step.set({ toolsInRow: step.state.toolsInRow + 1 })
}

/** No tool may be called in the answer that is asked for next. */
export function forbidTools(step: Step): void {
  step.set({ toolsInRow: MAX_IN_ROW + 1 })
}

/** The caller has spoken, or the agent has. */
export function endRow(step: Step): void {
  step.set({ toolsInRow: 0 })
}

/**
 * The agent is heard. Words beside a call that was refused are no answer without tools: a model that goes on calling, and speaks with each
 * call, would be asked on and on. So would one whose words are still to be heard behind those of its answers before.
 */
export function endRowByWords(step: Step, { responseId, asked }: Pick<Active, 'responseId' | 'asked'>): void {
  if (isBehindWords(step, responseId)) return
  if (!isToAnswer(step.state) || asked?.noTools) endRow(step)
}

function isBehindWords({ state, nowMs }: Step, responseId: string): boolean {
  return heard(state.playback, nowMs).some(
    (one) =>
      one.responseId !== responseId && one.heardMs < one.sentMs && !isOwnAudio(one.itemId) && !isClip(one.itemId),
  )
}
