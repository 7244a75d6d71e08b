import { Ajv, type ValidateFunction } from 'ajv'
import type { Static, TObject } from 'typebox'
import type { Clip } from '../../agents/clips.ts'
import type { ResolvedAgent } from '../../agents/resolve.ts'
import { tellFaults } from '../../platform/http/faults.ts'
import { addFormats } from '../../platform/http/formats.ts'
import type { ToolDeclaration } from '../../platform/realtime/port.ts'
import type { SessionId, ToolStatus } from '../../records/call-values.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import type { TransferRequest } from '../transfer/transfer.ts'

/** What a tool may do to the call that it runs in. */
export type CallControls = {
  /** Resolves when the carrier has begun with it. @throws AppError with why it has not. */
  transfer(request: TransferRequest): Promise<void>
  /** Plays the tones of keys behind what the agent has said; false where they are not: others have the call, or nobody hears it. */
  press(keys: string): boolean
  /** False where nothing is recorded. */
  pauseRecording(isPaused: boolean): boolean
  /** The call was escalated to them, for those who look at it. */
  escalated(target: string): void
  /** Resolves once the agent has called all tools that it calls at once, after two seconds at the latest; not given: it has. */
  toolsCalled?(): Promise<void>
  /** Another agent goes on, with these of the tenant's own tools and its own clips; false when none can now. */
  handOff(agent: ResolvedAgent, withWhat: HandedWith): boolean
}

/** What an agent goes on with to whom a call is handed: its own, and what it is told. */
export type HandedWith = { own: readonly Tool[]; clips: readonly Clip[]; summary: string }

/** The call in which a tool runs. Given by us: nothing of it ever comes from the arguments. */
export type ToolCall = {
  tenant: TenantRuntime
  callSid: string
  sessionId: SessionId
  streamSid: string
  agentName: string
  /** The other side's number, as the call log has it: `anonymous` and `sip:…` occur. */
  customerPhone: string
  controls: CallControls
  /** Names this one call of the tool, also when it is asked again; whoever runs it says so. */
  callId?: string
}

/** The same for tools that only ask somebody: nothing is done to the call. */
export type CallFacts = Omit<ToolCall, 'controls'>

/**
 * What a tool did: `output` is told to the model, as JSON. `status` is ok unless it says otherwise. `isSilent`: the model is not asked
 * to say anything about it.
 */
export type ToolResult = {
  output: Record<string, unknown>
  endsCall?: boolean
  status?: ToolStatus
  isSilent?: boolean
}

/** Why a tool did not do it, in words that help the model to go on. */
export class ToolRefusal extends Error {
  override readonly name = 'ToolRefusal'
}

/** A function that a model may call. */
export type Tool = {
  declaration: ToolDeclaration
  /** What has effects beyond the call is not done more often than this in one; null: no matter. What throws was not done. */
  maxPerCall: number | null
  /** Whether the agent goes on talking while it runs, and is told what it said when it is done. */
  isAsync?: boolean
  /** After so long it is told to stop; not given: 10 s. */
  deadlineMs?: number
  /** Checks the arguments, then does it. @throws ToolRefusal for arguments that do not fit, and whatever the tool throws. */
  run(args: unknown, call: ToolCall, signal: AbortSignal): Promise<ToolResult>
}

const DEADLINE_MS = 10_000

/** After how many ms a tool is told to stop; 10 s for one that says nothing of it, or that there is not. */
export function deadlineOf(tool: Pick<Tool, 'deadlineMs'> | undefined): number {
  return tool?.deadlineMs ?? DEADLINE_MS
}

type Definition<Parameters extends TObject> = {
  name: string
  /** What it does and when to use it: read by the model. */
  description: string
  /** Of the module rather than of each service in it: it is compiled once for each object. */
  parameters: Parameters
  maxPerCall?: number | null
  deadlineMs?: number
  run(args: Static<Parameters>, call: ToolCall, signal: AbortSignal): Promise<ToolResult>
}

const ajv = addFormatsTo(new Ajv({ strict: true, strictTypes: false, verbose: true, allErrors: true }))

/** Makes a tool whose arguments are checked by their schema before anything runs. */
export function defineTool<Parameters extends TObject>(definition: Definition<Parameters>): Tool {
  const { name, description, parameters, maxPerCall = null, deadlineMs, run } = definition
  const isValid: ValidateFunction = ajv.compile(parameters)
  return {
    declaration: { name, description, parameters: JSON.parse(JSON.stringify(parameters)) as Record<string, unknown> },
    maxPerCall,
    ...(deadlineMs !== undefined && { deadlineMs }),
    async run(args, call, signal) {
      if (!isValid(args)) throw new ToolRefusal(argumentFaults(isValid))
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
export function argumentFaults({ errors }: Pick<ValidateFunction, 'errors'>): string {
  const faults = tellFaults(errors ?? [], ROOT.slice(1))
  return faults.map(({ path, message }) => `${path.slice(ROOT.length + 1) || 'arguments'} ${message}`).join('; ')
}
