import { type Static, Type } from 'typebox'
import { nullable, strict, TOOL_NAME_PATTERN } from '../platform/http/schemas.ts'
import { HttpUrl, WriteOnly } from './tenant-values.ts'

/** The tools that every agent may use and no tenant may redefine. */
export const BUILT_IN_TOOLS = [
  'end_call',
  'transfer_call',
  'escalate_to_human',
  'schedule_callback',
  'add_to_dnc',
  'send_dtmf',
  'record_outcome',
  'hand_off',
  'pause_recording',
] as const

const ToolName = Type.String({ pattern: TOOL_NAME_PATTERN, description: 'Letters, digits, _ and -, 64 at most.' })

const headersThat = (what: string) =>
  Type.Record(Type.String(), WriteOnly(4_000, `Encrypted at rest; ${what}.`), {
    maxProperties: 50,
    description: 'Request headers by name. Their values are write-only.',
  })

const Async = Type.Optional(
  Type.Boolean({
    description: 'Whether the agent goes on talking meanwhile, and is told the answer when it comes. Default false.',
  }),
)

/** A function of the tenant's that the model may call: one HTTP request. */
export const HttpTool = strict({
  type: Type.Literal('http'),
  name: ToolName,
  description: Type.Optional(
    Type.String({ maxLength: 4_000, description: 'What it does and when to use it: read by the model.' }),
  ),
  parameters: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'JSON Schema of the arguments, an object. Default: none.',
    }),
  ),
  method: Type.Optional(
    Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], {
      description:
        'Default POST. What of the arguments neither url nor headers name is the body as JSON, with GET and DELETE the query.',
    }),
  ),
  url: Type.String({
    minLength: 1,
    maxLength: 2_000,
    description: 'An http or https address. {{argument}} behind its host is filled in, encoded for where it stands.',
  }),
  headers: Type.Optional(headersThat('may name {{arguments}}, as the url')),
  timeout_ms: Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: 60_000,
      description: 'For all of it, a second try included. Default 10,000.',
    }),
  ),
  idempotent: Type.Optional(
    Type.Boolean({
      description:
        'Whether it is asked again, once, when the connection broke or a 502, 503 or 504 came. Default false.',
    }),
  ),
  async: Async,
})
export type HttpTool = Static<typeof HttpTool>

/** A server that offers tools over the Model Context Protocol (streamable HTTP). */
export const McpServer = strict({
  type: Type.Literal('mcp'),
  name: ToolName,
  url: HttpUrl,
  headers: Type.Optional(headersThat('the same in every call')),
  async: Async,
  tools: Type.Optional(
    nullable(
      Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
        maxItems: 200,
        uniqueItems: true,
        description: 'Which of its tools to offer. Default: all of them.',
      }),
    ),
  ),
})
export type McpServer = Static<typeof McpServer>

export const TenantTool = Type.Union([HttpTool, McpServer])
export type TenantTool = Static<typeof TenantTool>

const MAX_NAME_CHARS = 64

/** As models and agents call a server's tool: the server's name before its own, in the letters that both take. */
export function mcpToolName(server: string, tool: string): string {
  return `${server}__${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_NAME_CHARS)
}

/** Whether a name is that of a server or may be of one of its tools. */
export function isToolOf(name: string, server: string): boolean {
  return name === server || name.startsWith(mcpToolName(server, ''))
}

/** Whether a name is that of a built-in tool. */
export function isBuiltIn(name: string): boolean {
  return (BUILT_IN_TOOLS as readonly string[]).includes(name)
}

/** Those of an agent's names that are of no built-in tool and of none of the tenant's; what a server offers is not looked at. */
export function unknownTools(names: readonly string[], tools: readonly { type: string; name: string }[]): string[] {
  const isKnown = (name: string) =>
    tools.some((tool) => (tool.type === 'mcp' ? isToolOf(name, tool.name) : name === tool.name))
  return names.filter((name) => !isBuiltIn(name) && !isKnown(name))
}
