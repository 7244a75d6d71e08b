import type { ModelEvent } from '../../platform/realtime/port.ts'
import { costOf } from '../../platform/realtime/price.ts'
import { keepEntry } from './keeping.ts'
import type { Step } from './state.ts'

type Done = Extract<ModelEvent, { type: 'response_done' }>

/** Adds what an answer cost, to the call and to the turn that it was; that of one without words goes to the next. */
export function spend(step: Step, { responseId, usage }: Pick<Done, 'responseId' | 'usage'>): void {
  const { plan, costUsd, unsaidUsd, transcript } = step.state
  if (usage.inputTokens + usage.outputTokens === 0) return
  if (plan.price === null || costUsd === null) return step.set({ costUsd: null })
  const usd = costOf(plan.price, usage)
  const said = transcript.entries.findLast((entry) => entry.responseId === responseId && entry.isKept)
  step.set({ costUsd: costUsd + usd, unsaidUsd: said ? 0 : unsaidUsd + usd })
  if (said) keepEntry(step, said.itemId, { costUsd: (said.costUsd ?? 0) + unsaidUsd + usd })
}
