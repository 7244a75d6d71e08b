import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import type { TenantId } from '../kernel/ids.ts'
import { makeLog } from '../platform/log.ts'
import type { ModelEvent, ModelFault, ModelListener } from '../platform/realtime/port.ts'
import { makeLiveMetrics } from './live-metrics.ts'
import { withFaultsTold } from './model-faults.ts'

const closed = (code: string, fault: ModelFault): ModelEvent => ({ type: 'closed', code, message: 'Why.', fault })
const refused = (code: string, fault: ModelFault): ModelEvent => ({
  ...{ type: 'refused', requestId: 'r1', code, message: 'Why.', fault },
})
const failed = (errorCode: string | null, fault: ModelFault | null): ModelEvent => ({
  ...{ type: 'response_done', responseId: 'resp_1', status: 'failed', errorCode, fault },
  usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 },
})

function sessionOf() {
  const lines: Record<string, unknown>[] = []
  const heard: unknown[] = []
  const registry = new Registry()
  const log = makeLog({ level: 'info', secrets: [], destination: { write: (line) => lines.push(JSON.parse(line)) } })
  const listener: ModelListener = {
    event: (event) => heard.push([lines.length, event]),
    audio: (...audio) => heard.push(audio),
  }
  const { modelFault } = makeLiveMetrics(registry, () => 0)
  const call = { tenantId: 'acme' as TenantId, callSid: 'CA1' }
  const { event, audio } = withFaultsTold(listener, { log, call, count: modelFault })
  return { lines, heard, event, audio, metrics: () => registry.metrics() }
}

describe('what is wrong with a model', () => {
  it.each([
    [closed('invalid_api_key', 'fatal'), 'error', 'a model session is over'],
    [closed('invalid_value', 'setup'), 'error', 'a model session is over'],
    [closed('close_1006', 'retry'), 'warn', 'a model session is over'],
    [closed('session_expired', 'expired'), 'info', 'a model session is over'],
    [refused('insufficient_quota', 'fatal'), 'error', 'a model refused a request'],
    [refused('response_cancel_not_active', 'benign'), 'info', 'a model refused a request'],
    [failed('rate_limit_exceeded', 'retry'), 'warn', 'a model answer failed'],
  ])('is told in the log before anything follows from it: %j', (event, level, msg) => {
    const session = sessionOf()
    session.event(event)
    const code = event.type === 'closed' || event.type === 'refused' ? event.code : 'rate_limit_exceeded'
    const message = event.type === 'response_done' ? null : 'Why.'
    expect(session.lines).toMatchObject([{ level, msg, tenant_id: 'acme', call_sid: 'CA1', code, message }])
    expect(session.heard).toEqual([[1, event]])
  })

  it('is told once for each code of a session, and counted each time', async () => {
    const { lines, event, heard, metrics } = sessionOf()
    for (let times = 0; times < 3; times += 1) event(refused('server_error', 'retry'))
    event(failed(null, 'retry'))
    event(closed('server_error', 'retry'))
    expect(lines.map(({ msg, code }) => [msg, code])).toEqual([
      ['a model refused a request', 'server_error'],
      ['a model answer failed', 'unknown_error'],
      ['a model session is over', 'server_error'],
    ])
    expect(heard).toHaveLength(5)
    expect(await metrics()).toContain('voice_model_faults_total{code="server_error"} 4')
  })

  it('fills neither the log nor the metrics, whatever codes there are, and the end of the session is told', async () => {
    const { lines, event, metrics } = sessionOf()
    for (let n = 0; n < 1_000; n += 1) event(refused(`code_${n}`, 'retry'))
    event(closed('invalid_api_key', 'fatal'))
    expect(lines).toHaveLength(17)
    expect(lines.at(-1)).toMatchObject({ level: 'error', code: 'invalid_api_key' })
    const text = await metrics()
    expect(text.match(/^voice_model_faults_total\{/gm)).toHaveLength(65)
    expect(text).toContain('voice_model_faults_total{code="other"} 937')
  })

  it('is nothing that works: all else is passed on in silence', () => {
    const { lines, heard, event, audio } = sessionOf()
    const payload = Buffer.from('////')
    event({ type: 'ready' })
    event(failed(null, null))
    audio('resp_1', 'item_1', payload)
    expect(heard).toEqual([
      [0, { type: 'ready' }],
      [0, failed(null, null)],
      ['resp_1', 'item_1', payload],
    ])
    expect(lines).toEqual([])
  })
})
