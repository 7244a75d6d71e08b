import { Ajv, type ValidateFunction } from 'ajv'
import type { Static, TObject } from 'typebox'
import { tellFaults } from '../../platform/http/faults.ts'
import { addFormats } from '../../platform/http/formats.ts'
import type { ToolDeclaration } from '../../platform/realtime/port.ts'
import type { SessionId } from '../../records/call-values.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'

/** The call in which a tool runs. Given by us: nothing of it ever comes from the arguments. */
export type ToolCall = {
  tenant: TenantRuntime
  callSid: string
  sessionId: SessionId
  streamSid: string
  agentName: string
  /** The other side's number, as the carrier sent it: `anonymous` and `sip:…` occur. */
  customerPhone: string
}

/** What a tool did: `output` is told to the model, as JSON. */
export type ToolResult = { output: Record<string, unknown>; endsCall?: boolean }

/** Why a tool did not do it, in words that help the model to go on. */
export class ToolRefusal extends Error {
  override readonly name = 'ToolRefusal'
}

/** A function that a model may call. */
export type Tool = {
  declaration: ToolDeclaration
  /** What has effects beyond the call is not done more often than this in one; null: no matter. */
  maxPerCall: number | null
  /** Checks the arguments, then does it. @throws ToolRefusal for arguments that do not fit, and whatever the tool throws. */
  run(args: unknown, call: ToolCall, signal: AbortSignal): Promise<ToolResult>
}

type Definition<Parameters extends TObject> = {
  name: string
  /** What it does and when to use it: read by the model. */
  description: string
  parameters: Parameters
  maxPerCall?: number | null
  run(args: Static<Parameters>, call: ToolCall, signal: AbortSignal): Promise<ToolResult>
}

const ajv = addFormatsTo(new Ajv({ strict: true, strictTypes: false, verbose: true, allErrors: true }))

/** Makes a tool whose arguments are checked by their schema before anything runs. */
export function defineTool<Parameters extends TObject>(definition: Definition<Parameters>): Tool {
  const { name, description, parameters, maxPerCall = null, run } = definition
  const isValid: ValidateFunction = ajv.compile(parameters)
  return {
    declaration: { name, description, parameters: JSON.parse(JSON.stringify(parameters)) as Record<string, unknown> },
    maxPerCall,
    async run(args, call, signal) {
      if (!isValid(args)) throw new ToolRefusal(sentence(isValid))
      return run(args as Static<Parameters>, call, signal)
    },
  }
}

function addFormatsTo(validator: Ajv): Ajv {
  addFormats(validator)
  return validator
}

const ROOT = '/arguments'

/** `phone must be a phone number in E.164, like +14155550100; when is required` */
function sentence({ errors }: ValidateFunction): string {
  const faults = tellFaults(errors ?? [], ROOT.slice(1))
  return faults.map(({ path, message }) => `${path.slice(ROOT.length + 1) || 'arguments'} ${message}`).join('; ')
}
