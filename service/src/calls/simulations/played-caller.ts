import type { ChatMessage } from '../../platform/chat/port.ts'
import type { ToolDeclaration } from '../../platform/realtime/port.ts'
import { storable } from '../../records/storable.ts'
import { type AskModel, MAX_TEXT_CHARS } from './agent-turn.ts'
import type { Line } from './line.ts'

/** Somebody whom a model plays. `model`: null for the driver's own default. */
export type PlayedCaller = { persona: string; goal: string | null; model: string | null }

const HANG_UP: ToolDeclaration = {
  name: 'hang_up',
  description: 'Ends the call. Say your goodbye with it, if you have one to say.',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
}

/** What the caller says next, and whether they hang up behind that. With nothing to say they hang up. */
export async function playCaller(
  { ask, line }: { ask: AskModel; line: Line },
  caller: PlayedCaller,
): Promise<{ text: string; hangsUp: boolean }> {
  const messages: ChatMessage[] = [{ role: 'system', text: instructionsOf(caller) }, ...asHeard(line)]
  const { text, calls } = await ask({ model: caller.model, messages, tools: [HANG_UP] })
  return {
    text: storable(text.trim().slice(0, MAX_TEXT_CHARS)),
    hangsUp: calls.some(({ name }) => name === HANG_UP.name),
  }
}

function instructionsOf({ persona, goal }: PlayedCaller): string {
  return [
    'You play a caller on the telephone, so that the agent at the other end can be tried. You are never the agent, and never say that this is a trial.',
    `Who you are: ${persona}`,
    ...(goal === null ? [] : [`What you want: ${goal}`]),
    'Say one thing at a time, in one or two short sentences, as people do on the telephone: only the words that you speak.',
    'Call hang_up when you have what you want, when it is plain that you will not get it, or when the agent says goodbye.',
  ].join('\n')
}

/** The other way round: what the agent says is what this model answers. */
function asHeard({ turns }: Line): ChatMessage[] {
  const spoken = turns.filter(({ role }) => role !== 'system')
  if (spoken.length === 0) return [{ role: 'user', text: '(The line is open, and nobody has said anything yet.)' }]
  return spoken.map(({ role, text }) => ({ role: role === 'agent' ? 'user' : 'assistant', text }))
}
