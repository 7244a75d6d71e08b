import type { ToolOutcome } from './events.ts'
import type { RunningTool, SessionState, Step } from './state.ts'

/** So many answers are remembered that end no call; the oldest is forgotten. */
const MAX_GOING_ON = 8

/** Whether tools still run that the same answer called before this one. */
export function isBehindOthers({ runningTools }: SessionState, tool: RunningTool): boolean {
  return runningTools.slice(0, runningTools.indexOf(tool)).some(({ responseId }) => responseId === tool.responseId)
}

/** What ends the call is done, and waits for those: they may fail, or take the call elsewhere. */
export function holdEnd(step: Step, tool: RunningTool, held: ToolOutcome): void {
  step.set({ runningTools: step.state.runningTools.map((one) => (one === tool ? { ...tool, held } : one)) })
}

/** What has waited long enough. */
export function nextHeld(state: SessionState): RunningTool | undefined {
  return state.runningTools.find((tool) => tool.held !== null && !isBehindOthers(state, tool))
}

/** A tool of an answer has failed, or given the call to another agent: what the same answer ends the call with is too early. */
export function callGoesOn(step: Step, responseId: string): void {
  step.set({ goingOnIds: [...step.state.goingOnIds, responseId].slice(-MAX_GOING_ON) })
}

/** Whether a call is to end as soon as tools are done that run yet, as far as is known by now. */
export function isEndDue({ runningTools, goingOnIds }: SessionState): boolean {
  return runningTools.some(
    ({ held, isOfCancelled, responseId }) => held !== null && !isOfCancelled && !goingOnIds.includes(responseId),
  )
}

/** The same where the agent has said what the call is to end with: the caller waits for nothing any more. */
export function hasParted(state: SessionState): boolean {
  return state.owedSinceMs === null && isEndDue(state)
}

/** While the end of the call waits the caller has said something, or others had the call. */
export function keepCall(step: Step): void {
  const { runningTools } = step.state
  if (!runningTools.some(({ held }) => held !== null)) return
  step.set({ runningTools: runningTools.map((one) => (one.held ? { ...one, isOfCancelled: true } : one)) })
}
