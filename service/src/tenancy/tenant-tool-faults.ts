import { canonicalJson } from '../kernel/canonical-json.ts'
import { othersFirst } from '../kernel/clock.ts'
import { jsonSchemaFault } from './agent-config-json-schema.ts'
import { rulesIn } from './schema-weight.ts'
import { urlFault } from './tenant-rules.ts'
import { BUILT_IN_TOOLS, type TenantTool } from './tenant-tools.ts'
import { addressTemplateFault, unknownFault } from './tool-placeholders.ts'

/** A member below `/tools` and what is wrong with it. */
type ToolFault = [pointer: string, message: string | null]

const RESERVED_NAMES = new Set<string>(BUILT_IN_TOOLS)

/** RFC 9110, section 5.1. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const MAX_HEADER_NAME_LENGTH = 100
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Headers that frame or route the request: whoever sends it decides them. */
const FRAMING_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Of all tools of a document together: each is compiled, half a second for all of them. */
const MAX_RULES = 10_000

/**
 * What the schema cannot say about a tenant's tools; a null message is no fault. Between two tools others have their turn.
 *
 * @param stored those of the document as it is: a schema that one of them has is not looked at again, by whatever bounds it was
 * taken.
 */
export async function toolFaults(tools: TenantTool[], stored: TenantTool[]): Promise<ToolFault[]> {
  const names = tools.map(({ name }) => name)
  const faults = tools.flatMap((tool, index): ToolFault[] => [
    [`/${index}/name`, nameFault(names, index)],
    [`/${index}/url`, urlFault(tool.url) ?? templateFault(tool)],
    ...headerFaults(tool).map(([member, fault]): ToolFault => [`/${index}/headers/${member}`, fault]),
  ])
  return [...faults, ...(await parameterFaults(tools, stored))]
}

/** The same for every order of members: the database has one of its own. */
function schemaText(tool: TenantTool): string[] {
  return tool.type === 'http' && tool.parameters ? [canonicalJson(tool.parameters)] : []
}

/** Ends with the first schema that is too much: those behind it are not compiled either. */
async function parameterFaults(tools: TenantTool[], stored: TenantTool[]): Promise<ToolFault[]> {
  const faults: ToolFault[] = []
  const known = new Set(stored.flatMap(schemaText))
  const isKnown = (tool: TenantTool) => schemaText(tool).some((text) => known.has(text))
  // What is there already is nobody's fault: it leaves the less for what is new. Where it is too much, it may become less.
  const mostRules = Math.max(MAX_RULES, rulesOfAll(stored))
  let rules = rulesOfAll(tools.filter(isKnown))
  for (const [index, tool] of tools.entries()) {
    if (tool.type !== 'http' || !tool.parameters || isKnown(tool)) continue
    await othersFirst()
    const fault = jsonSchemaFault(tool.parameters)
    if (fault === null) rules += rulesOf(tool)
    faults.push([`/${index}/parameters`, fault])
    if (rules <= mostRules) continue
    faults.push([`/${index}/parameters`, tooManyRules(tool.name)])
    break
  }
  return faults
}

function rulesOf(tool: TenantTool): number {
  return tool.type === 'http' && tool.parameters ? rulesIn(tool.parameters) : 0
}

function rulesOfAll(tools: TenantTool[]): number {
  return tools.reduce((sum, tool) => sum + rulesOf(tool), 0)
}

function tooManyRules(name: string): string {
  return `is too much: with ${name} the tools' schemas have more than ${MAX_RULES} rules together (type, required, maxLength, ...): leave some out, or offer the tools by a server (type mcp)`
}

function nameFault(names: string[], index: number): string | null {
  const name = names[index] ?? ''
  if (RESERVED_NAMES.has(name)) return 'is the name of a built-in tool'
  return names.indexOf(name) < index ? 'is the name of another tool of the list' : null
}

/** Only the tools of one's own are filled in: a server is the same in every call. */
function templateFault(tool: TenantTool): string | null {
  return tool.type === 'http' ? addressTemplateFault(tool.url, argumentsOf(tool)) : null
}

function argumentsOf(tool: TenantTool): string[] {
  const properties = tool.type === 'http' ? tool.parameters?.['properties'] : null
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
}

function headerFaults(tool: TenantTool): ToolFault[] {
  const { headers = {} } = tool
  const known = argumentsOf(tool)
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  return Object.entries(headers).map(([name, value], index) => {
    const valueFault = (text: string) =>
      headerValueFault(text) ?? (tool.type === 'http' ? unknownFault(text, known) : null)
    const member = name.slice(0, MAX_HEADER_NAME_LENGTH).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1')
    return [member, headerNameFault(name) ?? valueFault(value) ?? repeatFault(names, index)]
  })
}

function headerNameFault(name: string): string | null {
  if (!HEADER_NAME.test(name) || name.length > MAX_HEADER_NAME_LENGTH) return 'is not a header name'
  return FRAMING_HEADERS.has(name.toLowerCase()) ? 'is a header that a tool may not set' : null
}

function headerValueFault(value: string): string | null {
  return HEADER_VALUE.test(value) ? null : 'has characters that a header cannot carry'
}

function repeatFault(names: string[], index: number): string | null {
  return names.indexOf(names[index] ?? '') < index ? 'is named twice: upper and lower case are the same' : null
}
