import { expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { makeOutbound } from '../../platform/outbound/outbound.ts'
import { NO_ACCOUNT } from '../../tenancy/no-account.fixture.ts'
import { toRuntime } from '../../tenancy/tenant-defaults.ts'
import { makeTenantTools } from './tenant-tools.ts'

it('tools that an agent names and nobody has are told in the log', async () => {
  const clock = new TestClock()
  const { request: ask } = makeOutbound({ clock, allowPrivate: false, resolve: async () => [] })
  const warned: unknown[][] = []
  const made = makeTenantTools({
    clock,
    ask,
    log: { warn: (...said: unknown[]) => warned.push(said) },
    version: '0.0.0',
  })
  const tool = { type: 'http' as const, name: 'order_status', url: 'https://example.com' }
  const tenant = toRuntime({ tenant_id: 'acme' as TenantId, tools: [tool] }, NO_ACCOUNT)
  expect(await made.of(tenant, ['end_call', 'order_status'])).toHaveLength(1)
  expect(warned).toEqual([])
  for (let calls = 0; calls < 2; calls += 1)
    expect(await made.of(tenant, ['order_statu', 'orders__look_up', 'end_call'])).toEqual([])
  const told = { tenant_id: 'acme', tools: ['order_statu', 'orders__look_up'] }
  expect(warned).toEqual([[told, 'an agent names tools that there are not']])
})
