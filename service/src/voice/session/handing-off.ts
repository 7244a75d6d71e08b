import { tellUnsaidDisclosure } from './clips.ts'
import { cutDisclosure } from './disclosing.ts'
import { callGoesOn } from './held-end.ts'
import { stopHoldAudio } from './interrupting.ts'
import { addNote } from './keeping.ts'
import { replaceModel } from './model-session.ts'
import type { Plan } from './plan.ts'
import { isOutOfHands, type Step } from './state.ts'
import { forgetRest } from './stopped.ts'
import { forgetShortSounds } from './turns.ts'
import { closeUnusedVoice, endWriting } from './voicing.ts'

/**
 * Another agent goes on with the caller: a new session of the model takes the place of the other, and is told all that was said.
 * What the first was still saying is heard out. How long the call may last, and what it may cost, stays as it was, and so do the first
 * words, with which the plan's clips begin.
 */
export function handOff(
  step: Step,
  { plan, agentName, summary }: { plan: Plan; agentName: string; summary: string },
): void {
  const { ending, phase, plan: before } = step.state
  if (ending || isOutOfHands(step) || (phase !== 'talking' && phase !== 'detached')) return
  const about = summary === '' ? '' : ` What it was told: ${summary}`
  addNote(step, 'system', { text: `The agent ${agentName} has the call from now on.${about}`, isKept: true })
  const { maxCallMs, budgetMs, budgetUsd } = before
  const price = step.state.model.isFallback ? (plan.fallback?.price ?? null) : plan.price
  // What is heard of it is the other agent's.
  step.do({ type: 'disarm', timer: 'hold' })
  stopHoldAudio(step)
  step.set({ plan: { ...plan, price, maxCallMs, budgetMs, budgetUsd } })
  // It has the first agent's language, and speed.
  closeUnusedVoice(step)
  // Whoever goes on with the call elsewhere is this agent too.
  step.do({ type: 'checkpoint' })
  // The other agent does not begin by asking the caller to repeat what was a cough, as a rule.
  forgetShortSounds(step)
  for (const { responseId } of step.state.runningTools) callGoesOn(step, responseId)
  endWriting(step)
  replaceModel(step)
  // The one who was about to go on with its own words is not there any more. What the call ends with is said all the same.
  const { queue } = step.state.answers
  const left = queue.filter(({ why, thenEnd }) => why !== 'rest' || thenEnd !== null)
  step.setAnswers({ queue: left })
  // What was over with it by now stands in what the session is told of the call so far.
  if (left.length < queue.length && cutDisclosure(step.state) === null) tellUnsaidDisclosure(step, true)
  if (step.state.stopped?.rest?.why === 'rest') forgetRest(step)
}
