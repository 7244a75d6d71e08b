import type { VoiceEvent, VoiceFault } from '../../platform/speech/streamed-port.ts'
import { Call } from './call.fixture.ts'
import type { SessionEffect } from './events.ts'

/** How long the provider speaks at a character. */
export const MS_PER_CHAR = 50

/** A call that the secondary provider speaks in: its model is ready, and was asked for the greeting. */
export function secondCall(): Call {
  const call = new Call({ secondVoice: true })
  call.model({ type: 'ready' })
  return call
}

/** The provider says what has happened to its stream. */
export function tell(call: Call, event: VoiceEvent): SessionEffect[] {
  return call.do({ type: 'voice', id: `voice-${call.state.secondVoice.count}`, event })
}

/** The model writes, a word at a time. */
export function writes(call: Call, responseId: string, text: string): void {
  const itemId = `item_${responseId}`
  call.begins(responseId)
  call.model({ type: 'item_added', itemId, previousItemId: null, role: 'agent' })
  for (const word of text.match(/\S+\s*/gu) ?? []) {
    call.model({ type: 'agent_text', responseId, itemId, text: word, final: false })
  }
  call.model({ type: 'agent_text', responseId, itemId, text, final: true })
}

/** The provider speaks these characters, each of 50 ms. */
export function sounds(call: Call, responseId: string, text: string, fromMs = 0): void {
  const endsMs = [...text].map((_, at) => fromMs + (at + 1) * MS_PER_CHAR)
  tell(call, { type: 'spoken', text, endsMs })
  call.audio(responseId, `item_${responseId}`, text.length * MS_PER_CHAR)
}

/** A whole answer, spoken and heard. */
export function says(call: Call, responseId: string, text: string): void {
  writes(call, responseId, text)
  call.ends(responseId)
  sounds(call, responseId, text)
  tell(call, { type: 'done' })
  call.wait(text.length * MS_PER_CHAR)
  call.echoAll()
}

/** The provider fails: it is lost, if not said otherwise. */
export function fails(call: Call, why: VoiceFault = 'lost'): SessionEffect[] {
  return tell(call, { type: 'failed', why, message: '' })
}

/** What the provider was told to speak. */
export const told = (call: Call) => call.all('speak').map(({ text }) => text)
/** What the model was asked for. */
export const asked = (call: Call) =>
  call.commands('respond').map(({ instructions, output }) => ({ instructions, output }))
/** What the agent said, as it is written down. */
export const agentTurns = (call: Call) =>
  call.turns
    .filter(({ role }) => role === 'agent')
    .map(({ text, unheard, interrupted }) => ({ text, unheard, interrupted }))
