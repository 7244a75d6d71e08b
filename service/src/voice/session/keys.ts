import { pressed } from '../../records/pressed-keys.ts'
import { isGreetingComing } from './hearing.ts'
import { interrupt } from './interrupting.ts'
import { addNote } from './keeping.ts'
import type { Step } from './state.ts'
import { answerTurn } from './turns.ts'

/**
 * A key was pressed: the agent falls silent at the first, but is not kept from its greeting. An entry is told to the model as one
 * message: at its end key, when it is full, or after a pause. One that is being connected keeps it until it is ready, and then
 * answers it behind its greeting.
 */
export function keyPressed(step: Step, digit: string): void {
  const { phase, plan, digits } = step.state
  if (phase !== 'talking' && phase !== 'waiting') return
  if (!isGreetingComing(step.state)) interrupt(step)
  step.set({ idleStage: 0, idleArmed: false })
  if (digit === plan.dtmf.endKey) return tellKeys(step)
  step.set({ digits: digits + digit })
  if (step.state.digits.length >= plan.dtmf.maxDigits) tellKeys(step)
  else step.do({ type: 'arm', timer: 'dtmf', ms: plan.dtmf.timeoutMs })
}

/** The entry is complete. An end key alone is an entry too: it is told as that key. */
export function tellKeys(step: Step): void {
  const digits = step.state.digits || step.state.plan.dtmf.endKey
  const text = pressed(digits)
  step.set({ digits: '' })
  if (!isGreetedSince(step)) interrupt(step)
  addNote(step, 'system', { text, isKept: true })
  step.do({ type: 'disarm', timer: 'dtmf' }, { type: 'note', note: { type: 'digits', digits } })
  step.command({ type: 'system_message', text })
  answerTurn(step, step.nowMs)
}

/** Whether the greeting is yet to come, or began only behind the last key: no other has told since that nobody wants to hear it. */
function isGreetedSince({ state, nowMs }: Step): boolean {
  const { greetedAtMs, plan } = state
  return isGreetingComing(state) || (greetedAtMs !== null && greetedAtMs > nowMs - plan.dtmf.timeoutMs)
}
