import type { ChatMessage, ChatModel } from '../../platform/chat/port.ts'

/** Asks a model once; resolves to its words. @throws ChatFault when there are none. */
export type Ask = (request: { model: string | null; messages: ChatMessage[] }) => Promise<string>

/** Asks this model, for an object of JSON, with what ends each question. */
export function asking(model: ChatModel, within: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>): Ask {
  return async ({ model: name, messages }) => {
    const { text } = await within((signal) =>
      model.complete({ model: name, messages, tools: [], signal, answers: 'json' }),
    )
    return text
  }
}

/**
 * Asks for something that `read` makes of the answer. An answer that it can make nothing of, and says why in a sentence, is sent
 * back once with that.
 *
 * @param chatModel null for the driver's own default.
 * @returns what was read; what is wrong with the second answer, where that is no better. @throws ChatFault as `ask` does.
 */
export async function askTwice<Read extends object>(
  ask: Ask,
  { chatModel, question }: { chatModel: string | null; question: ChatMessage[] },
  read: (text: string) => Read | string,
): Promise<Read | string> {
  const first = await ask({ model: chatModel, messages: question })
  const found = read(first)
  if (typeof found !== 'string') return found
  const again: ChatMessage[] = [
    ...question,
    { role: 'assistant', text: first },
    { role: 'user', text: `That cannot be used: ${found} Answer again, with the JSON object alone.` },
  ]
  return read(await ask({ model: chatModel, messages: again }))
}

/** The object or list that an answer is; null for anything else. */
export function objectIn(text: string): object | null {
  try {
    const value: unknown = JSON.parse(unfenced(text.trim()))
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

const FENCE = '```'

/**
 * Some models put JSON into a fence, whatever they are told. Only the ends are looked at: a pattern that looks for what is between
 * them tries all the ways to part it, and of an answer of blanks there are so many that no call would be heard meanwhile.
 */
function unfenced(text: string): string {
  const isFenced = text.length >= 2 * FENCE.length && text.startsWith(FENCE) && text.endsWith(FENCE)
  return isFenced
    ? text
        .slice(FENCE.length, -FENCE.length)
        .replace(/^ ?json/i, '')
        .trim()
    : text
}
