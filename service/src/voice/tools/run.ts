import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Log } from '../../platform/log.ts'
import type { CallJournal } from '../../records/journal.ts'
import type { EarlierToolCall } from '../../records/sessions.ts'
import type { ToolOutcome } from '../session/events.ts'
import type { ToolRequest } from '../session-deps.ts'
import { makeAllowance } from './allowance.ts'
import { deadlineOf, type Tool, type ToolCall, ToolRefusal, type ToolResult } from './tool.ts'

/** Runs the tools of one call. */
export type ToolRunner = {
  /**
   * Runs a tool, notes in the journal that it begins and how it ends, and says what the model is to be told. Never rejects: what
   * goes wrong is a result too. A call id that was seen before is not run again.
   */
  run(request: ToolRequest): Promise<ToolOutcome>
  /** Notes a call that is not run in the journal, as one that failed with `output`. To be called once for it. */
  refuse(request: ToolRequest, output: string): void
}

type Deps = {
  clock: Clock
  log: Pick<Log, 'error'>
  /** Those that the agent may use who speaks now. */
  readonly tools: readonly Tool[]
  call: ToolCall
  journal: Pick<CallJournal, 'tool'>
  /** Those that were called in the call before, by another process; none if not given. */
  earlier?: readonly EarlierToolCall[]
}

/** A tool that was told to stop may have been past the point where it could. */
const TOO_LATE = 'the tool took too long: it is not known whether it was done'
/** Of one call of a tool, as JSON. */
export const MAX_ARGUMENT_CHARS = 32_768
const MAX_OUTPUT_BYTES = 8_192
/** Call ids that are remembered: a provider sends one again at once, if ever. */
const MAX_SEEN = 256

export function makeToolRunner(deps: Deps): ToolRunner {
  const { clock, journal, earlier = [] } = deps
  const running = new Map<string, Promise<ToolOutcome>>()
  const allowance = makeAllowance(earlier)
  let seq = earlier.length

  async function runOnce(request: ToolRequest): Promise<ToolOutcome> {
    const { callId, name, argumentsText } = request
    const startedMs = clock.monotonicMs()
    const end = begin(request)
    const tool = deps.tools.find(({ declaration }) => declaration.name === name)
    const ended = await endedInTime(clock, deadlineOf(tool), (signal) =>
      answer(tool, { callId, name, argumentsText }, signal),
    )
    end(ended, clock.monotonicMs() - startedMs)
    return { callId, ...ended }
  }

  /** Notes that the call has begun: without its end nobody knows whether it was done. @returns what notes how it ends. */
  function begin({ callId, name, argumentsText, atMs }: ToolRequest) {
    seq += 1
    const asked = { callId, seq, name, argumentsText: argumentsText.slice(0, MAX_ARGUMENT_CHARS), startMs: atMs }
    journal.tool({ ...asked, result: null, status: 'timeout', durationMs: 0 })
    return ({ output, status }: Pick<Ended, 'output' | 'status'>, durationMs: number): void =>
      journal.tool({ ...asked, result: output, status, durationMs })
  }

  async function answer(tool: Tool | undefined, asked: Asked, signal: AbortSignal): Promise<Ended> {
    let giveBack = () => {}
    try {
      if (!tool) throw new ToolRefusal(`there is no tool ${asked.name.slice(0, 64).toWellFormed()}`)
      giveBack = allowance.take(tool)
      return done(await tool.run(parsed(asked.argumentsText), { ...deps.call, callId: asked.callId }, signal))
    } catch (err) {
      giveBack()
      return failed(err, signal)
    }
  }

  function failed(err: unknown, signal: AbortSignal): Ended {
    const isTold = err instanceof ToolRefusal || err instanceof AppError
    const hasStopped = signal.aborted && err === signal.reason
    if (!isTold && !hasStopped) deps.log.error({ err, call_sid: deps.call.callSid }, 'a tool failed')
    return { output: errorText(isTold ? err.message : 'the tool failed'), status: 'error', endsCall: false }
  }

  return {
    run(request) {
      const known = running.get(request.callId)
      if (known) return known
      const outcome = runOnce(request)
      running.set(request.callId, outcome)
      const [oldest] = running.keys()
      if (running.size > MAX_SEEN && oldest !== undefined) running.delete(oldest)
      return outcome
    },
    refuse: (request, output) => begin(request)({ output, status: 'error' }, 0),
  }
}

type Asked = { callId: string; name: string; argumentsText: string }
type Ended = Omit<ToolOutcome, 'callId'>

/** The tool is told to stop when its time is over; what it says after that nobody hears. */
function endedInTime(clock: Clock, deadlineMs: number, work: (signal: AbortSignal) => Promise<Ended>): Promise<Ended> {
  const stopping = new AbortController()
  return new Promise((resolve) => {
    const cancel = clock.after(deadlineMs, () => {
      resolve({ output: errorText(TOO_LATE), status: 'timeout', endsCall: false })
      stopping.abort()
    })
    void work(stopping.signal).then(resolve).finally(cancel)
  })
}

function done({ output, endsCall = false, status = 'ok', isSilent }: ToolResult): Ended {
  return { output: capped(JSON.stringify(output)), status, endsCall, ...(isSilent && { isSilent }) }
}

/** @throws ToolRefusal for what is no JSON object. */
function parsed(argumentsText: string): unknown {
  if (argumentsText.length > MAX_ARGUMENT_CHARS) throw new ToolRefusal('the arguments are too long')
  try {
    return argumentsText.trim() === '' ? {} : JSON.parse(argumentsText)
  } catch {
    throw new ToolRefusal('the arguments are not valid JSON')
  }
}

function errorText(error: string): string {
  return capped(JSON.stringify({ error }))
}

/** Cut so that no character is halved. */
function capped(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= MAX_OUTPUT_BYTES) return text
  return bytes
    .subarray(0, MAX_OUTPUT_BYTES)
    .toString()
    .replace(/\ufffd+$/, '')
}
