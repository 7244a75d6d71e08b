import type { ModelEvent } from '../../platform/realtime/port.ts'
import { audioDone, preambleSaid, responseDone, responseStarted } from './answering.ts'
import { modelLost, modelReady } from './model-session.ts'
import { refused } from './refusals.ts'
import { wrote } from './second-voice.ts'
import { speechStarted, speechStopped } from './speech.ts'
import type { Step } from './state.ts'
import { toolCalled } from './tools.ts'
import { callerTranscript, committed } from './turns.ts'
import { missWords } from './unsaid.ts'
import { agentWords, itemAdded } from './words.ts'

type OnModel = { [T in ModelEvent['type']]: (step: Step, event: Extract<ModelEvent, { type: T }>) => void }

/** Longer than this no provider keeps us waiting: it is tried again sooner than it says. */
const MAX_LIMITED_MS = 5_000

/** What follows from an event of the model that is talked to. */
export function onModel(step: Step, event: ModelEvent): void {
  // The compiler does not follow that the entry of a type takes an event of that type.
  const on = ON_MODEL[event.type] as (step: Step, event: ModelEvent) => void
  on(step, event)
}

const ON_MODEL: OnModel = {
  ready: (step) => modelReady(step),
  closed: (step, { fault, wasDeaf }) => {
    if (wasDeaf) missWords(step)
    modelLost(step, fault)
  },
  refused,
  rate_limited: limited,

  speech_started: speechStarted,
  speech_stopped: speechStopped,
  committed,
  caller_transcript: (step, { itemId, text }) => callerTranscript(step, itemId, text),
  caller_transcript_failed: (step, { itemId }) => callerTranscript(step, itemId, null),
  item_added: itemAdded,

  response_started: (step, { responseId }) => responseStarted(step, responseId),
  agent_transcript: agentWords,
  agent_text: wrote,
  audio_done: audioDone,
  preamble: preambleSaid,
  tool_call: toolCalled,
  response_done: responseDone,
}

function limited(step: Step, { resetMs }: { resetMs: number }): void {
  const limitedUntilMs = step.nowMs + Math.min(resetMs, MAX_LIMITED_MS)
  step.set({ model: { ...step.state.model, limitedUntilMs } })
}
