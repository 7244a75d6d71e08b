import { isJsonObject } from '../../kernel/json-object.ts'
import type { OutboundAnswer } from '../../platform/outbound/exchange.ts'
import { OutboundFault } from '../../platform/outbound/fault.ts'
import { jsonSizeFault } from '../../tenancy/agent-config-json-schema.ts'
import { OF_STORED, weightFault } from '../../tenancy/schema-weight.ts'
import { makeArgumentCheck } from './argument-check.ts'
import type { AskingTool } from './asking-tool.ts'
import { type McpCalled, type McpClient, type McpListed, STEP_TIMEOUT_MS } from './mcp-client.ts'
import { McpFault } from './mcp-message.ts'
import type { ToolResult } from './tool.ts'
import { fitting, hasBrokenOff, isTooDeep, resultOfAnswer, resultOfFault } from './tool-answer.ts'

const MAX_DESCRIPTION_CHARS = 4_000
const MAX_SCHEMA_BYTES = 32_768
const MAX_SCHEMA_DEPTH = 32
const MAX_KIND_CHARS = 40
/** A step ends by its own time; this is for what hangs all the same. */
const DEADLINE_MS = STEP_TIMEOUT_MS + 1_000

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
  const checked = makeArgumentCheck(isCheckable ? parameters : { type: 'object' }, {
    passesPatterns: true,
    passesUnusable: true,
  })

  const ask: AskingTool['ask'] = async (args, _call, signal) => {
    const came = await client.call(listed.name, checked(args), signal)
    return { request: came.request, heard: came.heard, result: resultOf(came) }
  }
  return {
    declaration: { name, description: listed.description.slice(0, MAX_DESCRIPTION_CHARS).toWellFormed(), parameters },
    maxPerCall: null,
    isAsync,
    deadlineMs: DEADLINE_MS,
    ask,
    run: async (args, call, signal) => (await ask(args, call, signal)).result,
  }
}

function resultOf({ heard, answer }: McpCalled): ToolResult {
  if (answer instanceof McpFault && !(heard instanceof OutboundFault)) return resultOfUnread(heard, answer)
  if (answer instanceof McpFault) return { output: { error: answer.message }, status: 'error' }
  if (heard instanceof OutboundFault) return resultOfFault(heard)
  if (!answer || 'error' in answer) return { output: { error: answer?.error.message ?? '' }, status: 'error' }
  const { structuredContent, content, isError, resultType = 'complete' } = answer.result
  // Nobody is asked in the middle of a call of a tool, and none of our requests says that anybody could be.
  if (resultType !== 'complete') return { output: { error: NOT_DONE }, status: 'error' }
  const value = toldOf(structuredContent, content)
  if (isError === true) return { output: fitting({}, 'error', { value, isCut: false }), status: 'error' }
  return { output: fitting({}, 'result', { value, isCut: false }) }
}

/** Of an answer in which that of the server is not to be found. */
function resultOfUnread(heard: OutboundAnswer, fault: McpFault): ToolResult {
  if (heard.status > 299) return resultOfAnswer(heard, false)
  if (hasBrokenOff(heard))
    return { output: { error: `${fault.message} It is not known whether it was done.` }, status: 'timeout' }
  const error = heard.isTooLong ? DONE_TOO_LONG : fault.message
  return { output: { error }, status: 'error' }
}

const NOT_DONE = 'The tool is not done: it wants more of whoever calls it than arguments.'
const DONE_TOO_LONG = 'The tool was called, and its answer is too long to be told: to call it again brings the same.'

function toldOf(structured: unknown, content: unknown): unknown {
  if (!isJsonObject(structured)) return spoken(content)
  return isTooDeep(structured) ? spoken(content) || '(an answer that is nested too deep to be told)' : structured
}

/** The text of an answer, that of resources in it, and where others are; what is none of these is named. */
function spoken(content: unknown): string {
  const parts = Array.isArray(content) ? content.filter(isJsonObject) : []
  return parts.map(partOf).join('\n')
}

function partOf({ type, text, resource, name, uri }: Record<string, unknown>): string {
  if (type === 'text' && typeof text === 'string') return text
  if (type === 'resource' && isJsonObject(resource) && typeof resource['text'] === 'string') return resource['text']
  const kind = String(type).slice(0, MAX_KIND_CHARS)
  const where = type === 'resource_link' ? [name, uri].filter((one) => typeof one === 'string').join(' ') : ''
  return where === '' ? `(${kind})` : `(${kind}: ${where})`
}
