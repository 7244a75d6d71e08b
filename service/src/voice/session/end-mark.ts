import { hasOpenEnd, marked } from '../playback.ts'
import type { Step } from './state.ts'

/** No more audio follows for now: the carrier is asked to tell when all of it has played. `name` is its own in the call. */
export function markEnd(step: Step, name: string): void {
  const { playback } = step.state
  if (!hasOpenEnd(playback)) return
  step.set({ playback: marked(playback, `end-${name}`) })
  step.do({ type: 'mark', name: `end-${name}` })
}
