import { levelDbfs } from '../audio/levels.ts'
import type { PhraseBook } from '../speech/phrase-book.ts'
import type { Cue } from './brain.ts'
import type { Conversation } from './conversation.ts'
import type { MessageItem, StoredItem } from './items.ts'
import type { SessionConfig } from './session-config.ts'
import type { Tools } from './session-shape.ts'
import { greetingIn, keysIn, wordsToSay } from './words.ts'

const BYTES_PER_SECOND = 8_000
/** Audio below this is a line on which nobody speaks. */
const SILENT_DBFS = -55
/** A longer text is a conversation told again, whose quotations are nobody's wish. */
const INSTRUCTION_LENGTH_MAX = 600
/** In what was said so far, as a client tells it that has played a greeting itself, or goes on behind another session. */
const SAID_SO = /\bthis is a rehearsal\b/i
const ASKS_TO_GREET = /\b(greet|greeting|say hello|welcome|introduce yourself)\b/i

/** What a response is asked for: the items that no response has answered yet, and what the client says beside them. */
export type Question = {
  fresh: readonly StoredItem[]
  conversation: Conversation
  config: SessionConfig
  instructions: string | null
  tools: Tools
  canCall: boolean
}

/** Reads from a question what the brain has to answer. */
export function cueOf(question: Question, phraseBook: PhraseBook): Cue {
  const messages = question.fresh.map((entry) => entry.item).filter((item) => item.type === 'message')
  const typed = messages.map(textOf).filter((text) => text !== '')
  const heard = heardIn(question.fresh, phraseBook)
  const keys = typed.map(keysIn).findLast((found) => found !== null) ?? null
  const kind = kindOf(question, messages, keys)
  return {
    kind,
    heard,
    spokenSeconds: spokenBytes(question.fresh) / BYTES_PER_SECOND,
    keys,
    tool: toolOf(question),
    words: wordsFor(kind, question, typed),
    tools: question.canCall ? question.tools.flatMap((tool) => (tool.type === 'function' ? [tool.name] : [])) : [],
  }
}

function kindOf(question: Question, messages: MessageItem[], keys: string | null): Cue['kind'] {
  const { fresh, conversation } = question
  if (fresh.some(({ item }) => item.type === 'function_call_output')) return 'tool'
  const spoken = spokenBytes(fresh) > 0
  const users = messages.filter((message) => message.role === 'user' && (spoken || textOf(message) !== ''))
  const isFirst = !conversation.entries.some(({ item }) => item.type === 'message' && item.role === 'assistant')
  // Who has heard so already hears what is to be said as it stands.
  if (isFirst && hasHeardSo(conversation) && exactWordsIn(question) !== null) return 'instructed'
  if (isFirst && users.every((message) => ASKS_TO_GREET.test(textOf(message)))) return 'greeting'
  if (keys !== null && !spoken) return 'keys'
  if (users.length > 0) return 'turn'
  return question.instructions === null ? 'nudge' : 'instructed'
}

function hasHeardSo({ entries }: Conversation): boolean {
  return entries.some(({ item }) => item.type === 'message' && item.role === 'system' && SAID_SO.test(textOf(item)))
}

function exactWordsIn({ instructions, config }: Question): string | null {
  return instructions === null ? null : wordsToSay(ownInstructions(instructions, config.instructions))
}

function wordsFor(kind: Cue['kind'], question: Question, typed: string[]): string | null {
  const asked = exactWordsIn(question)
  if (asked !== null || kind === 'turn' || kind === 'keys' || kind === 'tool') return asked
  const short = typed.filter((text) => text.length <= INSTRUCTION_LENGTH_MAX)
  const inItem = short.map(wordsToSay).findLast((words) => words !== null) ?? null
  return kind === 'greeting' ? (inItem ?? greetingIn(question.config.instructions)) : inItem
}

/**
 * What is asked of this response alone: a client that wants the session's instructions kept repeats them before its own, and what
 * those quote is nobody's wish now.
 */
function ownInstructions(instructions: string, ofSession: string): string {
  return instructions.startsWith(ofSession) ? instructions.slice(ofSession.length) : instructions
}

function toolOf({ fresh, conversation }: Question): Cue['tool'] {
  const output = fresh.map((entry) => entry.item).findLast((item) => item.type === 'function_call_output')
  if (!output) return null
  return { name: conversation.call(output.call_id)?.name ?? '', output: output.output }
}

function heardIn(fresh: readonly StoredItem[], phraseBook: PhraseBook): string | null {
  const words = fresh.flatMap(({ item, audio }) => {
    if (item.type !== 'message' || item.role !== 'user') return []
    const known = audio ? phraseBook.recognise(audio)?.text : textOf(item)
    return known ? [known] : []
  })
  return words.length === 0 ? null : words.join(' ')
}

function spokenBytes(fresh: readonly StoredItem[]): number {
  const audible = fresh.filter(({ audio }) => audio && levelDbfs(audio) > SILENT_DBFS)
  return audible.reduce((sum, { audio }) => sum + (audio?.length ?? 0), 0)
}

function textOf(message: MessageItem): string {
  return message.content
    .map((part) => (part.type === 'input_text' ? part.text : ''))
    .join(' ')
    .trim()
}
