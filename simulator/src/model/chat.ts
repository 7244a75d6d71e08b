import type { IncomingMessage, ServerResponse } from 'node:http'
import { assess } from './assessment.ts'
import type { Cue, Reply } from './brain.ts'
import { fillIn } from './extraction.ts'
import { functionDescription, functionName, MAX_TOOLS, soundFunction } from './function-tool.ts'
import { refusedKey } from './handshake.ts'
import { newId } from './ids.ts'
import { bodyOf, errorOf } from './json-exchange.ts'
import { ModelError } from './model-error.ts'
import type { ScriptBook } from './script-book.ts'
import { anything, boolean, list, nullable, object, oneOf, record, type Shaped, text } from './shape.ts'
import { textTokens } from './usage.ts'
import { greetingIn, keysIn, wordsToSay } from './words.ts'

/** Where chats are asked for, below the address that clients call their base. */
export const CHAT_PATH = '/v1/chat/completions'

const functionCall = object(
  { id: text(), type: oneOf(['function']), function: object({ name: text(), arguments: text() }, {}) },
  {},
)

const message = object(
  { role: oneOf(['system', 'developer', 'user', 'assistant', 'tool']) },
  {
    content: nullable(text()),
    refusal: nullable(text()),
    tool_calls: list(functionCall),
    tool_call_id: text(),
    name: text(),
  },
)

const tool = object(
  { type: oneOf(['function']) },
  {
    function: soundFunction(
      object(
        { name: functionName },
        { description: functionDescription, parameters: record(anything), strict: boolean },
      ),
    ),
  },
)

/** What of a request is understood; a rehearsal refuses what it would not do, so that nobody counts on it. */
const request = object(
  { model: text(200), messages: list(message) },
  {
    tools: list(tool, MAX_TOOLS),
    metadata: record(text()),
    stream: boolean,
    user: text(),
    reasoning_effort: nullable(oneOf(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])),
    response_format: object({ type: oneOf(['text', 'json_object']) }, {}),
  },
)
type Request = Shaped<typeof request>
type Message = Shaped<typeof message>

/** Models that call functions over this endpoint only while they do not reason, which they do unless they are told not to. */
const UNREASONING = /^gpt-(?:5\.[6-9]|6)/

type Deps = { scripts: ScriptBook; apiKey: string | null }

/** Answers a request for a chat: with the script that its model or its instructions name, from its beginning. */
export async function answerChat(deps: Deps, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, body } = await answer(deps, incoming)
  const written = JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(written) })
  response.end(written)
}

async function answer({ scripts, apiKey }: Deps, incoming: IncomingMessage) {
  const refusal = refusedKey(incoming, apiKey)
  if (refusal) return { status: refusal.status, body: errorOf(refusal.code, refusal.message, null) }
  if (incoming.method !== 'POST') return { status: 405, body: errorOf('method_not_supported', 'Use POST.', null) }
  try {
    const asked = request(JSON.parse(await bodyOf(incoming)), '')
    if (asked.stream) throw new ModelError('not_rehearsed', 'This rehearsal does not stream chats.', 'stream')
    if (asked.messages.length === 0) throw new ModelError('empty_array', "Invalid 'messages': empty array.", 'messages')
    refuseReasoning(asked)
    return { status: 200, body: completion(asked, readingFor(asked) ?? replyTo(asked, scripts)) }
  } catch (error) {
    if (error instanceof SyntaxError)
      return { status: 400, body: errorOf('invalid_json', 'The body is not JSON.', null) }
    if (!(error instanceof ModelError)) throw error
    return { status: 400, body: errorOf(error.code, error.message, error.param) }
  }
}

function refuseReasoning({ model, tools = [], reasoning_effort: effort }: Request): void {
  if (!UNREASONING.test(model) || tools.length === 0 || effort === 'none') return
  const message = `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`
  throw new ModelError('unsupported_value', message, 'reasoning_effort')
}

/** Who asks for JSON about a conversation gets it assessed, or a form filled in from it; null for who wants anything else. */
function readingFor({ messages, response_format: format }: Request): Reply | null {
  if (format?.type !== 'json_object') return null
  const texts = messages.filter(({ role }) => role === 'user').map(contentOf)
  const say = assess(texts) ?? fillIn(texts)
  return say === null ? null : { say, calls: [], thinkMs: null, problem: null }
}

/** The script is followed from the first message on each time: nothing is kept between two requests. */
function replyTo({ model, messages, tools = [], metadata }: Request, scripts: ScriptBook): Reply {
  const told = messages.filter(isInstruction).map(contentOf)
  const instructions = told.join('\n\n')
  const brain = scripts.open({ query: null, model, instructions, metadata: metadata?.['script'] ?? null })
  const names = tools.flatMap((each) => (each.function ? [each.function.name] : []))
  const greeting = cueOf({ kind: 'greeting', words: wordsToGreetWith(told), tools: names })
  const cues = messages.flatMap((_message, at) => cueFor(messages, at, names) ?? [])
  // Whoever has heard an answer has heard the greeting before it.
  const isFirst = cues.length === 0
  let reply = isFirst || messages.some(isAnswer) ? brain.reply(greeting) : null
  for (const cue of cues) {
    brain.delivered()
    reply = brain.reply(cue)
  }
  return reply ?? brain.reply(greeting)
}

/** Those of a wish beside the instructions, which come first; what these quote otherwise than to open with is nobody's wish. */
function wordsToGreetWith([instructions = '', ...wishes]: string[]): string | null {
  return wishes.map(wordsToSay).findLast((words) => words !== null) ?? greetingIn(instructions)
}

/** What there is to answer in the message at `at`: what was said, a result, keys that were pressed, or in the last one a wish. */
function cueFor(messages: Message[], at: number, tools: string[]): Cue | null {
  const message = messages[at]
  if (!message || isAnswer(message)) return null
  if (message.role === 'user') return cueOf({ kind: 'turn', heard: contentOf(message), tools })
  if (message.role === 'tool') return cueOf({ kind: 'tool', tool: resultIn(message, messages), tools })
  if (!messages.slice(0, at).some(isAnswer)) return null
  const keys = keysIn(contentOf(message))
  if (keys !== null) return cueOf({ kind: 'keys', keys, tools })
  if (at < messages.length - 1) return null
  return cueOf({ kind: 'instructed', words: wordsToSay(contentOf(message)), tools })
}

function resultIn(result: Message, messages: Message[]): Cue['tool'] {
  const calls = messages.flatMap(({ tool_calls: made = [] }) => made)
  const name = calls.find(({ id }) => id === result.tool_call_id)?.function.name ?? ''
  return { name, output: contentOf(result) }
}

function isInstruction({ role }: Message): boolean {
  return role === 'system' || role === 'developer'
}

function isAnswer({ role }: Message): boolean {
  return role === 'assistant'
}

function cueOf(given: Partial<Cue> & Pick<Cue, 'kind'>): Cue {
  return { heard: null, spokenSeconds: 0, keys: null, tool: null, words: null, tools: [], ...given }
}

function contentOf({ content }: Message): string {
  return content ?? ''
}

function completion({ model, messages, tools = [] }: Request, { say, calls }: Reply) {
  const toolCalls = calls.map(({ name, arguments: given = {} }) => ({
    id: newId('call'),
    type: 'function',
    function: { name, arguments: JSON.stringify(given) },
  }))
  const prompt = textTokens(JSON.stringify([messages, tools]))
  const written = textTokens(say) + textTokens(JSON.stringify(toolCalls))
  return {
    ...{ id: newId('chatcmpl'), object: 'chat.completion', created: Math.floor(Date.now() / 1_000), model },
    choices: [
      {
        index: 0,
        message: {
          ...{ role: 'assistant', content: say === '' ? null : say, refusal: null },
          ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
        },
        finish_reason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
      },
    ],
    usage: { prompt_tokens: prompt, completion_tokens: written, total_tokens: prompt + written },
  }
}
