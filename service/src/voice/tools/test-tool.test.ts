import { expect, it, onTestFinished } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { startWebhookTarget } from '../../../test/harness/webhook-target.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { makeOutbound } from '../../platform/outbound/outbound.ts'
import { NO_ACCOUNT } from '../../tenancy/no-account.fixture.ts'
import { toRuntime } from '../../tenancy/tenant-defaults.ts'
import { makeTenantTools } from './tenant-tools.ts'
import { makeToolTrials } from './test-tool.ts'

const ACME = 'acme' as TenantId

it('a trial of a tool lasts as long as the tool may in a call', async () => {
  const target = await startWebhookTarget()
  onTestFinished(() => target.close())
  target.answer('hang')
  const clock = new TestClock()
  const { request: ask } = makeOutbound({ clock, allowPrivate: true, resolve: async () => ['127.0.0.1'] })
  const tool = { type: 'http' as const, name: 'look_up', url: target.url, timeout_ms: 60_000 }
  const tenant = toRuntime({ tenant_id: ACME, tools: [tool] }, NO_ACCOUNT)
  const tools = makeTenantTools({ clock, ask, log: { warn: () => undefined }, version: '0.0.0' })
  const trials = makeToolTrials({ clock, tools, tenants: { get: async () => tenant }, resolveAgent: async () => null })
  const trial = trials.run(ACME, 'look_up', { args: {}, agentKey: null }).catch((error: unknown) => error)
  await target.receive(1)
  await clock.advance(60_000)
  expect(await trial).toMatchObject({
    code: 'upstream_failed',
    message: 'The tool failed: There was no answer within 60000 ms.',
  })
  expect(clock.pendingTimers).toBe(0)
})

it('a trial of a tool takes no more arguments than a call does', async () => {
  const clock = new TestClock()
  const tool = { type: 'http' as const, name: 'look_up', url: 'https://example.com', parameters: { type: 'object' } }
  const tenant = toRuntime({ tenant_id: ACME, tools: [tool] }, NO_ACCOUNT)
  const { request: ask } = makeOutbound({ clock, allowPrivate: false, resolve: async () => [] })
  const tools = makeTenantTools({ clock, ask, log: { warn: () => undefined }, version: '0.0.0' })
  const trials = makeToolTrials({ clock, tools, tenants: { get: async () => tenant }, resolveAgent: async () => null })
  const trial = trials.run(ACME, 'look_up', { args: { many: 'x'.repeat(32_768) }, agentKey: null })
  await expect(trial).rejects.toMatchObject({
    code: 'invalid_request',
    details: [{ path: '/body/arguments', message: 'do not fit: they are too long' }],
  })
})

it('trials of a tenant whose addresses are silent are eight at a time, and take no place of another tenant', async () => {
  const target = await startWebhookTarget()
  onTestFinished(() => target.close())
  target.answer('hang')
  const clock = new TestClock()
  const { request: ask } = makeOutbound({ clock, allowPrivate: true, resolve: async () => ['127.0.0.1'] })
  const tool = { type: 'http' as const, name: 'look_up', url: target.url }
  const tools = makeTenantTools({ clock, ask, log: { warn: () => undefined }, version: '0.0.0' })
  const get = async (tenant_id: TenantId) => toRuntime({ tenant_id, tools: [tool] }, NO_ACCOUNT)
  const trials = makeToolTrials({ clock, tools, tenants: { get }, resolveAgent: async () => null })
  const trial = (tenantId: string) =>
    trials.run(tenantId as TenantId, 'look_up', { args: {}, agentKey: null }).catch((error: { code: string }) => error)
  const tried = [...Array.from({ length: 8 }, () => trial('acme')), trial('globex')]
  await target.receive(9)
  expect(await trial('acme')).toMatchObject({ code: 'rate_limited', headers: { 'retry-after': '5' } })
  await clock.advance(60_000)
  expect(await Promise.all(tried)).toEqual(Array(9).fill(expect.objectContaining({ code: 'upstream_failed' })))
  const again = trial('acme')
  await target.receive(10)
  await clock.advance(60_000)
  expect(await again).toMatchObject({ code: 'upstream_failed' })
})
