import { Call } from './call.fixture.ts'
import type { Plan } from './plan.ts'

/** What a model says ahead of its answer, the answer, and what bridges a wait. */
export const PREAMBLE = 'Let me look into that for a moment.'
export const ANSWER = 'It was sent on Tuesday, and will be with you tomorrow.'
export const FILLER = { kind: 'filler' as const, text: 'One moment.', ms: 800 }
/** How a provider tells of words that are said ahead of an answer: some name them, others do not. */
export const PROVIDERS = [
  ['named', true],
  ['not named', false],
] as const

/** A call whose model has said its preamble of two seconds, all of which was sent, and thinks about the answer. */
export function thinking(isNamed: boolean, plan: Partial<Plan> = {}): Call {
  const call = Call.greeted(plan)
  call.says('turn_1', 500)
  call.begins('resp_1')
  preamble(call, isNamed)
  return call
}

/** It says what it says ahead of its answer. */
export function preamble(call: Call, isNamed: boolean, ms = 2_000): void {
  call.item('resp_1', 'item_1', ms, PREAMBLE)
  if (isNamed) call.model({ type: 'preamble', responseId: 'resp_1', itemId: 'item_1' })
}

/** It says the answer itself, and is done. */
export function answers(call: Call, ms = 3_000): void {
  call.item('resp_1', 'item_2', ms, ANSWER)
  call.ends('resp_1')
}

/** What the record has of an item. */
export function turn(call: Call, itemId: string) {
  return call.turns.find((one) => one.itemId === itemId)
}
