import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../simulator.ts'
import { type Bridge, startBridge } from './example-bridge.fixture.ts'
import { parseScenario, readScenario } from './read-scenario.ts'
import { reportText } from './report.ts'
import { type RunOptions, runScenario, type ScenarioReport } from './run-scenario.ts'

const ACCOUNT = { accountSid: `AC${'0'.repeat(32)}`, authToken: 'secret' }
const CALL_LIMIT_MS = 60_000
let simulator: Simulator
let bridge: Bridge

beforeEach(async () => {
  const place = { host: '127.0.0.1', port: 0 }
  simulator = await startSimulator({ carrier: { ...place, ...ACCOUNT }, model: place })
  const modelUrl = `${simulator.model.url}?model=m`
  bridge = await startBridge({ restUrl: simulator.carrier.baseUrl, modelUrl, ...ACCOUNT })
})
afterEach(async () => {
  await simulator.close()
  await bridge.close()
})

async function run(file: string, options: Partial<RunOptions> = {}): Promise<ScenarioReport> {
  const scenario = await readScenario(new URL(`../../scenarios/${file}.yaml`, import.meta.url).pathname)
  return runScenario(simulator, scenario, { voiceUrl: bridge.voiceUrl, ...options })
}

/** Makes the bridge's account call somebody, as the bridge itself would. */
async function placeCall({ from, to }: { from: string; to: string }): Promise<void> {
  const authorization = `Basic ${Buffer.from(`${ACCOUNT.accountSid}:${ACCOUNT.authToken}`).toString('base64')}`
  const url = `${simulator.carrier.baseUrl}/2010-04-01/Accounts/${ACCOUNT.accountSid}/Calls.json`
  const body = new URLSearchParams({ From: from, To: to, Url: bridge.voiceUrl })
  const response = await fetch(url, { method: 'POST', headers: { authorization }, body })
  expect(response.status).toBe(201)
}

describe('scenarios against a small bridge', () => {
  it('greeting, two turns, an interruption, a tool, goodbye', { timeout: CALL_LIMIT_MS }, async () => {
    const report = await run('booking')
    expect(report.ok, reportText(report)).toBe(true)
  })

  it('keys, and a caller who hangs up', { timeout: CALL_LIMIT_MS }, async () => {
    const report = await run('keys')
    expect(report.ok, reportText(report)).toBe(true)
  })

  it('an outbound call to an answering machine', { timeout: CALL_LIMIT_MS }, async () => {
    const report = await run('answering-machine', { placeCall })
    expect(report.ok, reportText(report)).toBe(true)
  })

  it('finds that a bridge without a plan for it does not survive the loss of its model', {
    timeout: CALL_LIMIT_MS,
  }, async () => {
    const { ok, findings } = await run('model-lost')
    const failed = findings.filter(({ state }) => state === 'failed').map(({ what }) => what)
    expect([ok, failed]).toEqual([false, ['ended_by', 'heard', 'model_sessions']])
  })

  it('gives its numbers back to who had them before', { timeout: CALL_LIMIT_MS }, async () => {
    const { carrier } = simulator
    const numbers = ['+15550100300', '+15550100199']
    for (const number of numbers) carrier.subscribe(number, { whenRung: 'busy', ringMs: 0, steps: [] })
    const yaml = `
      name: Nobody calls
      call: { direction: outbound, max_seconds: 1 }
      caller: { ring_ms: 0, answers: failed }
      parties: [{ number: '+15550100300', ring_ms: 0, answers: failed }]`
    await runScenario(simulator, parseScenario(yaml, 'test'), { voiceUrl: bridge.voiceUrl })
    const endOf = async (to: string) => {
      await placeCall({ from: '+15550100100', to })
      return (await carrier.calls.at(-1)?.ended)?.status
    }
    expect([await endOf('+15550100300'), await endOf('+15550100199')]).toEqual(['busy', 'busy'])
  })

  it('asks whoever knows what was stored, and leaves brain and faults as they were', {
    timeout: CALL_LIMIT_MS,
  }, async () => {
    const yaml = `
      name: Hung up at once
      caller: { steps: [{ hang_up: true, at_ms: 200 }] }
      faults: { stream: { jitter_ms: 0, marks_late_ms: 100 }, callbacks: { copies: 2 }, model: [{ handshake_delay_ms: 10 }] }
      expect: { stored: { turns: 0 } }`
    const before = structuredClone(simulator.carrier.faults)
    const { model } = simulator
    model.scripts.setDefault({ rules: [] }, { isShared: true })
    model.setFaults([{ handshake_status: 503 }])
    const brain = () => model.scripts.open({ query: null, model: 'm', instructions: '', metadata: null })
    const brainBefore = brain()
    const asked: unknown[] = []
    const report = await runScenario(simulator, parseScenario(yaml, 'test'), {
      voiceUrl: bridge.voiceUrl,
      onCall: ({ faults }) => asked.push(faults.stream.marksLateMs, faults.callbacks.copies),
      async checkStored(stored, { end }) {
        asked.push(stored, end.by)
        return [{ what: 'stored', state: 'failed', detail: 'nothing' }]
      },
    })
    expect(asked).toEqual([100, 2, { turns: 0 }, 'caller'])
    expect(report.findings.at(-1)).toEqual({ what: 'stored', state: 'failed', detail: 'nothing' })
    expect(report.ok).toBe(false)
    expect(simulator.carrier.faults).toEqual(before)
    expect(brain()).toBe(brainBefore)
    const socket = new WebSocket(`${model.url}?model=m`)
    const opened = await new Promise((resolve) => {
      for (const type of ['open', 'error']) socket.addEventListener(type, () => resolve(type))
    })
    expect(opened).toBe('error')
  })
})
