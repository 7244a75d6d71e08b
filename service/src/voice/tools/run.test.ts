import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { strict } from '../../platform/http/schemas.ts'
import type { SessionId } from '../../records/call-values.ts'
import type { JournaledTool } from '../../records/journal-entry.ts'
import type { EarlierToolCall } from '../../records/sessions.ts'
import { toRuntime } from '../../tenancy/tenant-defaults.ts'
import type { ToolRequest } from '../session-deps.ts'
import { notedControls } from './controls.fixture.ts'
import { makeToolRunner } from './run.ts'
import { defineTool, type Tool, type ToolCall, type ToolResult } from './tool.ts'

const CALL: ToolCall = {
  tenant: toRuntime({ tenant_id: 'acme' as TenantId }, { account_sid: null, auth_token: null, from_number: null }),
  callSid: 'CA1',
  sessionId: '018f0000-0000-7000-8000-000000000001' as SessionId,
  streamSid: 'MZ1',
  agentName: 'Robin',
  customerPhone: '+12025550101',
  controls: notedControls().controls,
}

const UNKNOWN = '{"error":"the tool took too long: it is not known whether it was done"}'
const OFTEN_ENOUGH = '{"error":"this was done often enough in this call"}'

const parameters = strict({ city: Type.String({ minLength: 1 }), days: Type.Optional(Type.Integer()) })

function forecast(
  run: (args: unknown, signal: AbortSignal) => Promise<ToolResult>,
  maxPerCall: number | null = null,
): Tool {
  return defineTool({
    name: 'forecast',
    description: 'Tells the weather.',
    parameters,
    maxPerCall,
    run: (args, _call, signal) => run(args, signal),
  })
}

function runnerOf(...tools: Tool[]) {
  return runnerAfter([], ...tools)
}

/** In a call that has come from another process. */
function runnerAfter(earlier: EarlierToolCall[], ...tools: Tool[]) {
  const clock = new TestClock()
  const begun: JournaledTool[] = []
  const journaled: JournaledTool[] = []
  const logged: unknown[] = []
  const runner = makeToolRunner({
    clock,
    log: { error: (fields: unknown) => logged.push(fields) },
    tools,
    call: CALL,
    earlier,
    journal: { tool: (tool) => (tool.result === null ? begun : journaled).push(tool) },
  })
  const ask = (request: Partial<ToolRequest> = {}) =>
    runner.run({ callId: 'call_1', name: 'forecast', argumentsText: '{"city":"Rome"}', atMs: 1_000, ...request })
  return { clock, begun, journaled, logged, ask, refuse: runner.refuse }
}

describe('a tool call', () => {
  it('that is refused before it runs is journaled with that, in the order of the calls', async () => {
    const { ask, refuse, journaled } = runnerOf(forecast(async () => ({ output: {} })))
    await ask()
    refuse({ callId: 'call_2', name: 'forecast', argumentsText: '{}', atMs: 2_000 }, '{"error":"No."}')
    expect(journaled[1]).toEqual({
      ...{
        callId: 'call_2',
        seq: 2,
        name: 'forecast',
        argumentsText: '{}',
        result: '{"error":"No."}',
        status: 'error',
      },
      ...{ startMs: 2_000, durationMs: 0 },
    })
  })

  it('tells the model what the tool said, and is journaled once', async () => {
    const { ask, journaled } = runnerOf(forecast(async (args) => ({ output: { asked: args, sky: 'clear' } })))
    const outcome = await ask()
    expect(outcome).toEqual({
      callId: 'call_1',
      output: '{"asked":{"city":"Rome"},"sky":"clear"}',
      status: 'ok',
      endsCall: false,
    })
    expect(journaled).toEqual([
      {
        ...{ callId: 'call_1', seq: 1, name: 'forecast', argumentsText: '{"city":"Rome"}', result: outcome.output },
        ...{ status: 'ok', startMs: 1_000, durationMs: 0 },
      },
    ])
  })

  it('is journaled before it runs, as what nobody knows the end of, and then in place of that with its answer', async () => {
    const { promise, resolve } = Promise.withResolvers<ToolResult>()
    const seen: JournaledTool[] = []
    const { begun, journaled, ask } = runnerOf(
      forecast(() => {
        seen.push(...begun)
        return promise
      }),
    )
    const outcome = ask()
    const asked = { callId: 'call_1', seq: 1, name: 'forecast', argumentsText: '{"city":"Rome"}', startMs: 1_000 }
    expect([seen, journaled]).toEqual([[{ ...asked, result: null, status: 'timeout', durationMs: 0 }], []])
    resolve({ output: { sky: 'clear' } })
    await outcome
    expect([begun.length, journaled]).toMatchObject([1, [{ ...asked, result: '{"sky":"clear"}', status: 'ok' }]])
  })

  it.each([
    ['{"city":""}', 'city must not be empty'],
    ['{}', 'city is required'],
    ['', 'city is required'],
    ['{"city":"Rome","tenant_id":"other"}', 'tenant_id is not a known field: there are city, days'],
    ['{"city":"Rome","days":"two"}', 'days must be a whole number'],
    ['[]', 'arguments must be an object'],
    ['{"city":', 'the arguments are not valid JSON'],
    [`{"city":"${'x'.repeat(40_000)}"}`, 'the arguments are too long'],
  ])('with the arguments %.40s runs nothing, and says why', async (argumentsText, error) => {
    let runs = 0
    const { ask } = runnerOf(
      forecast(async () => {
        runs += 1
        return { output: {} }
      }),
    )
    expect(await ask({ argumentsText })).toMatchObject({ output: JSON.stringify({ error }), status: 'error' })
    expect(runs).toBe(0)
  })

  it('of a tool that the agent may not use is refused', async () => {
    const { ask } = runnerOf()
    expect(await ask()).toMatchObject({ output: '{"error":"there is no tool forecast"}', status: 'error' })
  })

  it('that comes again is not run again', async () => {
    let runs = 0
    const { ask, journaled } = runnerOf(
      forecast(async () => {
        runs += 1
        return { output: { runs } }
      }),
    )
    expect(await Promise.all([ask(), ask(), ask()])).toMatchObject([
      { status: 'ok' },
      { status: 'ok' },
      { status: 'ok' },
    ])
    expect([runs, journaled.length]).toEqual([1, 1])
  })

  it('F46: that takes over ten seconds is told to stop, and the model that it took too long', async () => {
    let signal: AbortSignal | undefined
    const { promise, resolve: answerLate } = Promise.withResolvers<ToolResult>()
    const { clock, ask, journaled } = runnerOf(
      forecast((_args, given) => {
        signal = given
        return promise
      }),
    )
    const outcome = ask()
    await clock.advance(9_999)
    expect(signal?.aborted).toBe(false)
    await clock.advance(1)
    expect(await outcome).toMatchObject({ output: UNKNOWN, status: 'timeout' })
    expect(signal?.aborted).toBe(true)
    answerLate({ output: {} })
    await clock.advance(1_000)
    expect(journaled).toMatchObject([{ status: 'timeout', durationMs: 10_000 }])
    expect(clock.pendingTimers).toBe(0)
  })

  it('that stops when it is told to is no failure to look into', async () => {
    const { clock, ask, logged } = runnerOf(
      forecast((_args, signal) => {
        const { promise, reject } = Promise.withResolvers<ToolResult>()
        signal.addEventListener('abort', () => reject(signal.reason))
        return promise
      }),
    )
    const outcome = ask()
    await clock.advance(10_000)
    expect(await outcome).toMatchObject({ output: UNKNOWN, status: 'timeout' })
    expect(logged).toEqual([])
  })

  it('tells the model of a failure that is meant to be seen, and of others only that it failed', async () => {
    const seen = runnerOf(forecast(() => Promise.reject(new AppError('unavailable', 'Try again.'))))
    expect(await seen.ask()).toMatchObject({ output: '{"error":"Try again."}', status: 'error' })
    expect(seen.logged).toEqual([])

    const hidden = runnerOf(forecast(() => Promise.reject(new Error('password=hunter2'))))
    expect(await hidden.ask()).toMatchObject({ output: '{"error":"the tool failed"}', status: 'error' })
    expect(hidden.logged).toHaveLength(1)
  })

  it('of a tool with effects is done so often in a call, and no more', async () => {
    const { ask } = runnerOf(forecast(async () => ({ output: {} }), 2))
    const outcomes = [await ask({ callId: 'a' }), await ask({ callId: 'b' }), await ask({ callId: 'c' })]
    expect(outcomes.map(({ status }) => status)).toEqual(['ok', 'ok', 'error'])
  })

  it('counts nothing that was not done', async () => {
    const answers = [() => Promise.reject(new Error('the database is away')), async () => ({ output: {} })]
    const { ask } = runnerOf(forecast(() => answers.shift()?.() ?? Promise.reject(new Error('asked too often')), 1))
    const unread = [await ask({ callId: 'a', argumentsText: '{' }), await ask({ callId: 'b', argumentsText: '{}' })]
    expect([...unread, await ask({ callId: 'c' })].map(({ status }) => status)).toEqual(['error', 'error', 'error'])
    expect(await ask({ callId: 'd' })).toMatchObject({ status: 'ok' })
    expect(await ask({ callId: 'e' })).toMatchObject({ output: OFTEN_ENOUGH })
  })

  it('counts what is under way, and what may have been done', async () => {
    const { promise: never } = Promise.withResolvers<ToolResult>()
    const { clock, ask } = runnerOf(forecast(() => never, 1))
    const first = ask({ callId: 'a' })
    expect(await ask({ callId: 'b' })).toMatchObject({ output: OFTEN_ENOUGH })
    await clock.advance(10_000)
    expect(await first).toMatchObject({ status: 'timeout' })
    expect(await ask({ callId: 'c' })).toMatchObject({ output: OFTEN_ENOUGH })
  })

  it('counts what was done before the call came to this process', async () => {
    const before = (status: EarlierToolCall['status']) => ({ name: 'forecast', status })
    const done = async () => ({ output: {} })
    const { ask, journaled } = runnerAfter([before('error'), before('ok'), before('timeout')], forecast(done, 3))
    expect(await ask({ callId: 'a' })).toMatchObject({ status: 'ok' })
    expect(await ask({ callId: 'b' })).toMatchObject({ output: OFTEN_ENOUGH })
    expect(journaled.map(({ seq }) => seq)).toEqual([4, 5])
    const failed = runnerAfter(
      Array.from({ length: 20 }, () => before('error')),
      forecast(done, 3),
    )
    expect(await failed.ask()).toMatchObject({ output: '{"error":"this failed too often in this call"}' })
  })

  it('is tried in vain twenty times, and no more', async () => {
    let runs = 0
    const { ask } = runnerOf(
      forecast(() => {
        runs += 1
        return Promise.reject(new AppError('unavailable', 'Try again.'))
      }, 1),
    )
    for (let at = 0; at < 25; at += 1) await ask({ callId: `call_${at}` })
    expect(runs).toBe(20)
    expect(await ask({ callId: 'last' })).toMatchObject({ output: '{"error":"this failed too often in this call"}' })
  })

  it('gives at most 8 KiB back, and no half characters', async () => {
    const { ask } = runnerOf(forecast(async () => ({ output: { text: 'é'.repeat(10_000) } })))
    const { output } = await ask()
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(8_192)
    expect(output).toMatch(/^\{"text":"é+$/)
  })
})
