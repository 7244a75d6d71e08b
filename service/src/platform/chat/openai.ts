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
/** Of their names that are kept: tenants make up what they like. */
const MAX_UNREASONING = 100
/** More than a model writes as one answer. */
const MAX_ANSWER_BYTES = 1024 * 1024
const MAX_REASON_CHARS = 300

/** Chat Completions, as OpenAI and many others serve them. */
export function openaiChat({ baseUrl, apiKey, log }: Options): ChatModel {
  /** Models that take functions only while they do not reason: those that do without being told otherwise have refused. */
  const unreasoning = new Set<string>()

  async function said(body: Body, signal: AbortSignal): Promise<Said> {
    const isTold = REASONING in body || (body.tools !== undefined && unreasoning.has(body.model))
    const asked = { apiKey, body: isTold ? { ...body, [REASONING]: 'none' } : body, signal }
    const { status, text } = await exchange(`${baseUrl}/chat/completions`, asked)
    const answer = parsed(text)
    if (isTold || body.tools === undefined || !refusesToReason(status, answer)) return { status, answer }
    if (unreasoning.size >= MAX_UNREASONING) unreasoning.clear()
    unreasoning.add(body.model)
    return said(body, signal)
  }

  return {
    async complete({ model, messages, tools, answers = 'words', signal }) {
      const body = {
        model: model ?? DEFAULT_MODEL,
        messages: messages.map(messageOf),
        ...(tools.length > 0 && { tools: takenTools(tools, log ?? null).map(toolOf) }),
        ...(answers === 'json' && { response_format: { type: 'json_object' } }),
        // Somebody waits for the words, at times on the telephone.
        ...(model === null && answers === 'words' && { [REASONING]: 'none' }),
      }
      const { status, answer } = await said(body, signal)
      if (status !== 200) {
        throw new ChatFault(`the chat model answered ${status}: ${reasonOf(answer)}`, {
          isRefusal: isRefusal(status, model),
        })
      }
      return answerOf(answer, body.model)
    },
  }
}

type Body = { model: string; tools?: object[]; [REASONING]?: string }
type Said = { status: number; answer: Members }

function refusesToReason(status: number, answer: Members): boolean {
  return status === 400 && membersOf(answer['error'])['param'] === REASONING
}

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
  const { message } = membersOf(body['error'])
  return typeof message === 'string' ? message.slice(0, MAX_REASON_CHARS).toWellFormed() : 'no reason'
}
