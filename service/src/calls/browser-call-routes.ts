import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { AgentVersionId } from '../kernel/ids.ts'
import { personNameOf, tenantOf } from '../platform/http/guards.ts'
import { errorResponses, Ok, strict } from '../platform/http/schemas.ts'
import type { BrowserCalls } from './browser-call.ts'

const Body = strict({
  agent_key: Type.Optional(Type.String({ minLength: 1, maxLength: 63, description: 'Who answers.' })),
  agent_version_id: Type.Optional(
    Type.Unsafe<AgentVersionId>(
      Type.String({ minLength: 1, maxLength: 200, description: 'An exact version in place of a key; drafts too.' }),
    ),
  ),
})

const Answer = Type.Object({
  ok: Ok,
  stream_url: Type.String({ description: 'A WebSocket that speaks Media Streams, µ-law at 8 kHz.' }),
  stream_token: Type.String({ description: 'Opens the stream once: as the query parameter stream_token.' }),
  call_sid: Type.String({ description: 'What the call is called in the call log.' }),
})

/** Calls from a page. */
export function browserCallRoutes(calls: BrowserCalls): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/api/v1/browser-calls',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Open a call from a browser',
          operationId: 'openBrowserCall',
          body: Body,
          response: { 200: Answer, ...errorResponses },
        },
      },
      async (request) => {
        const { agent_key: agentKey = null, agent_version_id: versionId = null } = request.body
        const asked = { agentKey, versionId, placedBy: personNameOf(request) }
        const { callSid, streamUrl, streamToken } = await calls.open(tenantOf(request), asked)
        return { ok: true as const, stream_url: streamUrl, stream_token: streamToken, call_sid: callSid }
      },
    )
  }
}
