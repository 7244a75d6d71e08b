import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { invalidRequest } from '../kernel/errors.ts'
import type { AgentVersionId } from '../kernel/ids.ts'
import { tenantOf } from '../platform/http/guards.ts'
import { ErrorBody, errorResponses, Ok, strict } from '../platform/http/schemas.ts'
import { type Chats, MAX_TEXT_CHARS, type Said } from './chat.ts'

const MAX_MESSAGES = 200
/** Of all messages together: what comes after it no model would read. */
const MAX_CHARS = 100_000

const Message = strict({
  role: Type.Enum(['caller', 'agent']),
  text: Type.String({
    maxLength: MAX_TEXT_CHARS,
    description: 'Empty where the agent only called functions: as it was answered.',
  }),
})

const Body = strict({
  agent_key: Type.Optional(Type.String({ minLength: 1, maxLength: 63, description: 'Who answers.' })),
  agent_version_id: Type.Optional(
    Type.Unsafe<AgentVersionId>(
      Type.String({ minLength: 1, maxLength: 200, description: 'An exact version in place of a key; drafts too.' }),
    ),
  ),
  messages: Type.Array(Message, {
    maxItems: MAX_MESSAGES,
    description: 'What was said so far, oldest first, 100,000 characters at most; empty for the greeting.',
  }),
})

const FunctionCall = Type.Object({
  name: Type.String(),
  arguments: Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
})

const Answer = Type.Object({
  ok: Ok,
  message: Type.Object({ role: Type.Enum(['agent']), text: Type.String() }),
  function_calls: Type.Array(FunctionCall, { description: 'What the agent would have done in a call; nothing was.' }),
})

/** Trying an agent in text. */
export function chatRoutes(chats: Chats): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/api/v1/chats',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Try an agent in text: nothing is kept, nothing is done',
          operationId: 'chat',
          body: Body,
          response: { 200: Answer, ...errorResponses, 502: ErrorBody },
        },
      },
      async (request) => {
        const { agent_key: agentKey = null, agent_version_id: versionId = null, messages } = request.body
        refuseTooMuch(messages)
        const { text, functionCalls } = await chats.reply(tenantOf(request), { agentKey, versionId }, messages)
        return { ok: true as const, message: { role: 'agent' as const, text }, function_calls: functionCalls }
      },
    )
  }
}

function refuseTooMuch(messages: Said[]): void {
  const chars = messages.reduce((sum, { text }) => sum + text.length, 0)
  if (chars > MAX_CHARS) {
    throw invalidRequest([{ path: '/body/messages', message: `must have at most ${MAX_CHARS} characters in all` }])
  }
}
