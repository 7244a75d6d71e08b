import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { tenantOf } from '../../platform/http/guards.ts'
import { ErrorBody, errorResponses, nullable, Ok, strict } from '../../platform/http/schemas.ts'
import { OutboundFault } from '../../platform/outbound/fault.ts'
import { TOOL_STATUSES } from '../../records/call-values.ts'
import type { ToolTrial, ToolTrials } from './test-tool.ts'
import { textOf } from './tool-answer.ts'

/** Any text: a name that nothing can have is an unknown one, not a malformed request. */
const Params = strict({ name: Type.String({ minLength: 1, maxLength: 200, description: 'A tool of your own.' }) })

const Body = strict({
  arguments: Type.Record(Type.String(), Type.Unknown(), { description: 'What a model would call it with.' }),
  agent_key: Type.Optional(
    Type.String({ minLength: 1, maxLength: 63, description: 'Tries it as this agent may. Default: whoever.' }),
  ),
})

const Answer = Type.Object({
  ok: Ok,
  request: Type.Object({
    method: Type.String(),
    url: Type.String(),
    headers: Type.Record(Type.String(), Type.String(), { description: 'Values that the tenant has set read ***.' }),
    body: nullable(Type.String()),
  }),
  response: nullable(
    Type.Object({
      status: Type.Integer(),
      content_type: nullable(Type.String()),
      body: Type.String({ description: 'As it came, 64 KiB at most.' }),
      truncated: Type.Boolean(),
    }),
  ),
  status: Type.Enum(TOOL_STATUSES, { description: 'As a function call of a session would have it.' }),
  output: Type.Record(Type.String(), Type.Unknown(), { description: 'What a model would be told.' }),
  duration_ms: Type.Integer({ minimum: 0 }),
})

/** Trying a tool without a call. To be registered behind `tenantGuard`. */
export function toolRoutes(trials: ToolTrials): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/api/v1/tools/:name/test',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Run a tool of your own as a model would: what it does is done',
          operationId: 'testTool',
          params: Params,
          body: Body,
          response: { 200: Answer, ...errorResponses, 502: ErrorBody },
        },
      },
      async (request) => {
        const { arguments: args, agent_key: agentKey = null } = request.body
        return shown(await trials.run(tenantOf(request), request.params.name, { args, agentKey }))
      },
    )
  }
}

function shown({ asked, durationMs }: ToolTrial) {
  const { request, heard, result } = asked
  const { method, url, headers, body = null } = request
  return {
    ok: true as const,
    request: { method, url, headers, body },
    response: heard instanceof OutboundFault ? null : shownAnswer(heard),
    status: result.status ?? ('ok' as const),
    output: result.output,
    duration_ms: durationMs,
  }
}

function shownAnswer({ status, headers, body, isWhole }: Exclude<ToolTrial['asked']['heard'], OutboundFault>) {
  const type = headers['content-type']
  return {
    status,
    content_type: typeof type === 'string' ? type : null,
    body: textOf(body, type),
    truncated: !isWhole,
  }
}
