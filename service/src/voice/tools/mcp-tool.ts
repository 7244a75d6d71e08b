import { OutboundFault } from '../../platform/outbound/fault.ts'
import { jsonSizeFault } from '../../tenancy/agent-config-json-schema.ts'
import { OF_STORED, weightFault } from '../../tenancy/schema-weight.ts'
import { makeArgumentCheck } from './argument-check.ts'
import type { AskingTool } from './asking-tool.ts'
import type { McpCalled, McpClient, McpListed } from './mcp-client.ts'
import { isRecord, McpFault } from './mcp-message.ts'
import type { ToolResult } from './tool.ts'
import { fitting, isTooDeep, resultOfAnswer, resultOfFault } from './tool-answer.ts'

const MAX_NAME_CHARS = 64
const MAX_DESCRIPTION_CHARS = 4_000
const MAX_SCHEMA_BYTES = 32_768
const MAX_SCHEMA_DEPTH = 32

/** As models and agents call it: the server's name before its own, in the letters that both take. */
export function mcpToolName(server: string, tool: string): string {
  return `${server}__${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_NAME_CHARS)
}

/** Why a model cannot be told of it, or null: a schema that is too big would be paid for in every answer, or is without end. */
export function offerFault({ inputSchema }: McpListed): string | null {
  if (inputSchema['type'] !== 'object') return 'must describe an object'
  return jsonSizeFault(inputSchema, MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH) ?? weightFault(inputSchema, OF_STORED)
}

/** Why the arguments of one that can be offered are left to the server to check, or null: it would take too long here. */
export function checkFault({ inputSchema }: McpListed): string | null {
  return weightFault(inputSchema)
}

/** `isHeavy`: whether `checkFault` found something. */
type Called = { name: string; isAsync: boolean; isHeavy: boolean }

/** A tool of a server, by the name that `mcpToolName` gave it. */
export function mcpTool(client: McpClient, listed: McpListed, called: Called): AskingTool {
  const { name, isAsync, isHeavy } = called
  const { $schema: _dialect, $id: _id, $async: _async, ...parameters } = listed.inputSchema
  // Servers that have none to tell of say so in several ways, of which this is no JSON Schema.
  if (parameters['properties'] === null) delete parameters['properties']
  // What names its members by patterns cannot be looked at without them: that is left to the server.
  const isCheckable = !isHeavy && !JSON.stringify(parameters).includes('"patternProperties"')
  const checked = makeArgumentCheck(isCheckable ? parameters : { type: 'object' }, { passesPatterns: true })

  const ask: AskingTool['ask'] = async (args, _call, signal) => {
    const came = await client.call(listed.name, checked(args), signal)
    return { request: came.request, heard: came.heard, result: resultOf(came) }
  }
  return {
    declaration: { name, description: listed.description.slice(0, MAX_DESCRIPTION_CHARS).toWellFormed(), parameters },
    maxPerCall: null,
    isAsync,
    ask,
    run: async (args, call, signal) => (await ask(args, call, signal)).result,
  }
}

function resultOf({ heard, answer }: McpCalled): ToolResult {
  if (answer instanceof McpFault && !(heard instanceof OutboundFault) && heard.status > 299)
    return resultOfAnswer(heard)
  if (answer instanceof McpFault) return { output: { error: answer.message }, status: 'error' }
  if (heard instanceof OutboundFault) return resultOfFault(heard)
  if (!answer || 'error' in answer) return { output: { error: answer?.error.message ?? '' }, status: 'error' }
  const { structuredContent, content, isError } = answer.result
  const value = toldOf(structuredContent, content)
  if (isError === true) return { output: fitting({}, 'error', { value, isCut: false }), status: 'error' }
  return { output: fitting({}, 'result', { value, isCut: false }) }
}

function toldOf(structured: unknown, content: unknown): unknown {
  if (!isRecord(structured)) return spoken(content)
  return isTooDeep(structured) ? spoken(content) || '(an answer that is nested too deep to be told)' : structured
}

/** The text of an answer; what is none is named. */
function spoken(content: unknown): string {
  const parts = Array.isArray(content) ? content.filter(isRecord) : []
  return parts
    .map(({ type, text }) => (type === 'text' && typeof text === 'string' ? text : `(${String(type).slice(0, 40)})`))
    .join('\n')
}
