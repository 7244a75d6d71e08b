import type { Clock } from '../../kernel/clock.ts'
import type { OutboundAnswer } from '../../platform/outbound/exchange.ts'
import { OutboundFault } from '../../platform/outbound/fault.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import { makeArgumentCheck } from './argument-check.ts'
import { type Asked, type AskingTool, shown } from './asking-tool.ts'
import type { CallFacts } from './tool.ts'
import { hasBrokenOff, MAX_ANSWER_BYTES, resultOfAnswer, resultOfFault } from './tool-answer.ts'
import { type RuntimeHttpTool, requestOf, type ToolRequest } from './tool-request.ts'

export type AskDeps = { clock: Clock; ask: Outbound['request'] }

/** Answers of something in between, which did not reach whoever was asked, or did not hear from them. */
const RETRIED_STATUSES = new Set([502, 503, 504])
/** With less left a second try has no chance. */
const MIN_TRY_MS = 100
/** The request ends by its own time; this is for what hangs all the same. */
const DEADLINE_SLACK_MS = 1_000

/**
 * A tool of a tenant's document that is one HTTP request.
 *
 * It has `timeout_ms` for everything. One that is idempotent is asked a second time, at once and with the same
 * `Idempotency-Key`, when the connection broke or something in between gave up; after a time-out nothing is left for that.
 */
export function httpTool(deps: AskDeps, tool: RuntimeHttpTool): AskingTool {
  const { name, description, parameters, headers, timeout_ms, idempotent } = tool
  const checked = makeArgumentCheck(parameters)

  async function ask(args: unknown, call: CallFacts, signal: AbortSignal): Promise<Asked> {
    const request = requestOf(tool, checked(args), call)
    const startedMs = deps.clock.monotonicMs()
    const leftMs = () => Math.ceil(timeout_ms - (deps.clock.monotonicMs() - startedMs))
    let heard = await hear(deps.ask, request, { timeoutMs: timeout_ms, signal })
    if (idempotent && isWorthASecond(heard) && leftMs() >= MIN_TRY_MS && !signal.aborted)
      heard = await hear(deps.ask, request, { timeoutMs: leftMs(), signal })
    const result = heard instanceof OutboundFault ? resultOfFault(heard) : resultOfAnswer(heard, leftMs() < MIN_TRY_MS)
    return { request: shown(request, headers), heard, result }
  }

  return {
    declaration: { name, description, parameters: structuredClone(parameters) },
    maxPerCall: null,
    isAsync: tool.async,
    deadlineMs: timeout_ms + DEADLINE_SLACK_MS,
    ask,
    run: async (args, call, signal) => (await ask(args, call, signal)).result,
  }
}

type Bounds = { timeoutMs: number; signal: AbortSignal }

async function hear(
  ask: Outbound['request'],
  request: ToolRequest,
  bounds: Bounds,
): Promise<OutboundAnswer | OutboundFault> {
  try {
    return await ask({ ...request, ...bounds, maxAnswerBytes: MAX_ANSWER_BYTES })
  } catch (error) {
    if (error instanceof OutboundFault) return error
    throw error
  }
}

function isWorthASecond(heard: OutboundAnswer | OutboundFault): boolean {
  if (heard instanceof OutboundFault) return heard.kind === 'connection'
  return RETRIED_STATUSES.has(heard.status) || hasBrokenOff(heard)
}
