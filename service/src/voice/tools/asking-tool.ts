import type { OutboundAnswer } from '../../platform/outbound/exchange.ts'
import type { OutboundFault } from '../../platform/outbound/fault.ts'
import { HIDDEN } from '../../tenancy/tenant-values.ts'
import type { CallFacts, Tool, ToolResult } from './tool.ts'
import type { ToolRequest } from './tool-request.ts'

/** What became of asking an address: what was asked (without what is secret of it), what it said, and what the model is told. */
export type Asked = { request: ToolRequest; heard: OutboundAnswer | OutboundFault; result: ToolResult }

/** A tool that asks an address of the tenant's. */
export type AskingTool = Tool & {
  /** As `run`, telling all of it. @throws ToolRefusal for arguments that do not fit: nothing was asked. */
  ask(args: unknown, call: CallFacts, signal: AbortSignal): Promise<Asked>
}

/** The request as it may be shown: the values of headers that the tenant has set are secrets. */
export function shown(request: ToolRequest, secret: Record<string, string>): ToolRequest {
  const headers = Object.entries(request.headers).map(([name, value]) => [
    name,
    Object.hasOwn(secret, name) ? HIDDEN : value,
  ])
  return { ...request, headers: Object.fromEntries(headers) as Record<string, string> }
}
