import { takenTools } from '../function-tools.ts'
import type { Log } from '../log.ts'
import { askOpenai, refusesForGood } from '../openai-http.ts'
import type { ToolDeclaration } from '../realtime/port.ts'
import { chatCostOf } from './openai-prices.ts'
import {
  type ChatAnswer,
  ChatFault,
  type ChatFunctionCall,
  type ChatMessage,
  type ChatModel,
  type ChatUsage,
} from './port.ts'

type Options = {
  /** `https://api.openai.com/v1`, or that of any server that speaks the protocol. */
  baseUrl: string
  apiKey: string
  log?: Log
}

const DEFAULT_MODEL = 'gpt-6-luna'
/** How a model is told not to reason before it answers. */
const REASONING = 'reasoning_effort'
/** How a model is told that JSON is wanted. */
const FORMAT = 'response_format'
/** Statuses of a request with something in it that is not taken. */
const IS_WRONG = new Set([400, 422])
/** Of models that are kept: tenants make up their names. */
const MAX_FOUND = 100
/** More than a model writes as one answer. */
const MAX_ANSWER_BYTES = 1024 * 1024
const MAX_REASON_CHARS = 300

/** Chat Completions, as OpenAI and many others serve them. */
export function openaiChat({ baseUrl, apiKey, log }: Options): ChatModel {
  /** By model, with functions and without: whether it is told so, where it has refused what it was asked at first. */
  const found = new Map<string, boolean>()
  /** Models that have refused to be told that JSON is wanted. */
  const unformatted = new Set<string>()

  async function ask(body: Body, { isTold, signal }: Asking): Promise<Said> {
    const asked = { apiKey, body: isTold ? { ...body, [REASONING]: 'none' } : body, signal }
    const { status, text } = await exchange(`${baseUrl}/chat/completions`, asked)
    const isAbout = (name: string) => IS_WRONG.has(status) && text.includes(name)
    return { status, answer: parsed(text), isAboutReasoning: isAbout(REASONING), isAboutFormat: isAbout(FORMAT) }
  }

  /** Some models take functions only while they do not reason, and some servers do not know how that is said. */
  async function said(body: Body, asking: Asking): Promise<Said> {
    const { signal } = asking
    const kind = `${body.tools === undefined ? '' : 'functions '}${body.model}`
    const isTold = found.get(kind) ?? asking.isTold
    const first = await ask(body, { isTold, signal })
    if (!first.isAboutReasoning) return first
    const second = await ask(body, { isTold: !isTold, signal })
    if (found.size >= MAX_FOUND) found.clear()
    if (second.status === 200) found.set(kind, !isTold)
    return second
  }

  /** Some servers do not know how it is said that JSON is wanted: the messages say so, too. */
  async function saidAsJson(body: Body, asking: Asking): Promise<Said> {
    if (unformatted.has(body.model)) return said(body, asking)
    const first = await said({ ...body, [FORMAT]: { type: 'json_object' } }, asking)
    if (!first.isAboutFormat) return first
    const second = await said(body, asking)
    if (unformatted.size >= MAX_FOUND) unformatted.clear()
    if (second.status === 200) unformatted.add(body.model)
    return second
  }

  return {
    async complete({ model, messages, tools, answers = 'words', signal }) {
      const body = {
        model: model ?? DEFAULT_MODEL,
        messages: messages.map(messageOf),
        ...(tools.length > 0 && { tools: takenTools(tools, log ?? null).map(toolOf) }),
      }
      // Somebody waits for the words, at times on the telephone.
      const { status, answer } =
        answers === 'json'
          ? await saidAsJson(body, { isTold: false, signal })
          : await said(body, { isTold: model === null, signal })
      if (status !== 200) {
        throw new ChatFault(`the chat model answered ${status}: ${reasonOf(answer)}`, {
          isRefusal: isRefusal(status, model),
        })
      }
      return answerOf(answer, body.model)
    },
  }
}

type Body = { model: string; tools?: object[]; [FORMAT]?: object }
/** `isTold`: not to reason. */
type Asking = { isTold: boolean; signal: AbortSignal }
/** `isAboutReasoning`: it refuses that it was told not to reason, or was not; `isAboutFormat`: that it was told how JSON is wanted. */
type Said = { status: number; answer: Members; isAboutReasoning: boolean; isAboutFormat: boolean }

/** 403: of a model that was named, that the account may not use it; of our own it is the account's trouble. */
function isRefusal(status: number, model: string | null): boolean {
  return status === 403 ? model !== null : refusesForGood(status)
}

type Asked = { apiKey: string; body: object; signal: AbortSignal }

async function exchange(url: string, asked: Asked): Promise<{ status: number; text: string }> {
  const answer = await askOpenai(url, { ...asked, maxBytes: MAX_ANSWER_BYTES }).catch((cause: unknown) => {
    throw new ChatFault('the chat model did not answer', { cause })
  })
  if (!answer) throw new ChatFault('the chat model says more than 1 MiB')
  return { status: answer.status, text: answer.bytes.toString() }
}

function messageOf(message: ChatMessage) {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: message.text }
  const calls = message.role === 'assistant' ? (message.calls ?? []) : []
  return {
    role: message.role,
    content: message.text,
    ...(calls.length > 0 && { tool_calls: calls.map(callOut) }),
  }
}

function callOut({ id, name, argumentsText }: ChatFunctionCall) {
  return { id, type: 'function', function: { name, arguments: argumentsText } }
}

function toolOf({ name, description, parameters }: ToolDeclaration) {
  return { type: 'function', function: { name, description, parameters } }
}

/** What came is nobody's promise: members are taken one by one. */
function answerOf(body: Members, model: string): ChatAnswer {
  const [choice] = listOf(body['choices'])
  const message = choice && membersOf(choice['message'])
  if (!message) throw new ChatFault('the chat model answered with no message')
  const { content, tool_calls: calls, refusal } = message
  const words = typeof content === 'string' ? content : refusal
  return {
    text: typeof words === 'string' ? words : '',
    calls: listOf(calls).flatMap((call, index) => {
      const called = membersOf(call['function'])
      const { name, arguments: argumentsText } = called
      if (typeof name !== 'string') return []
      const id = typeof call['id'] === 'string' ? call['id'] : `call_${index}`
      return [{ id, name, argumentsText: typeof argumentsText === 'string' ? argumentsText : '{}' }]
    }),
    usage: usageOf(membersOf(body['usage']), model),
  }
}

/** Null when the provider does not tell both counts. */
function usageOf(told: Members, model: string): ChatUsage | null {
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = told
  if (!isCount(inputTokens) || !isCount(outputTokens)) return null
  const { cached_tokens: cached, cache_write_tokens: kept } = membersOf(told['prompt_tokens_details'])
  const cachedTokens = isCount(cached) ? Math.min(cached, inputTokens) : 0
  const keptTokens = isCount(kept) ? Math.min(kept, inputTokens - cachedTokens) : 0
  const tokens = { inputTokens, cachedTokens, outputTokens }
  return { ...tokens, costUsd: chatCostOf(model, { ...tokens, keptTokens }) }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

type Members = Record<string, unknown>

function parsed(text: string): Members {
  try {
    return membersOf(JSON.parse(text))
  } catch {
    return {}
  }
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}

function listOf(value: unknown): Members[] {
  return Array.isArray(value) ? value.map(membersOf) : []
}

function reasonOf(body: Members): string {
  const { error } = body
  const message = typeof error === 'string' ? error : membersOf(error)['message']
  return typeof message === 'string' ? message.slice(0, MAX_REASON_CHARS).toWellFormed() : 'no reason'
}
