import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import { makeBus } from '../platform/bus/bus.ts'
import { memoryWire } from '../platform/bus/memory.ts'
import { NO_ACCOUNT } from '../tenancy/no-account.fixture.ts'
import { toRuntime } from '../tenancy/tenant-defaults.ts'
import { makeTransferCallbacks } from './transfer-callbacks.ts'

const tenant = toRuntime({ tenant_id: 'acme' as TenantId }, NO_ACCOUNT)

const ADDRESS = 'https://voice.example.com/api/v1/transfers/x'

/** The callbacks of a transfer whose node nobody can ask, and is gone if nothing else is said; `through` are the calls that were noted to be put through. */
function ofSilentNode({ warm, isLive = false }: { warm?: boolean; isLive?: boolean }) {
  const through: string[] = []
  const clock = new TestClock()
  const log = { warn: () => {}, error: () => {} }
  const claims = { transfer: 't1', tenant: tenant.tenant_id, call_sid: 'CA1', node: 'gone' as NodeId }
  const callbacks = makeTransferCallbacks({
    ...{ clock, log },
    bus: makeBus({ wire: memoryWire(), clock, log, onDropped: () => {} }),
    tokens: { readTransfer: () => ({ ...claims, ...(warm !== undefined && { warm }) }) },
    tenants: { get: async () => tenant },
    signatures: { expectFrom: () => {} },
    putThrough: async (_tenant, callSid) => void through.push(callSid),
    isLive: async () => isLive,
  })
  const signed = (path: string) => ({ url: ADDRESS + path, headers: {}, form: [] })
  return {
    through,
    next: (asked: Parameters<typeof callbacks.next>[1], { path = '', again = 0 } = {}) =>
      callbacks.next({ token: 'x', again, signed: signed(path) }, asked),
  }
}

describe('what a carrier tells of a transfer whose node is gone', () => {
  it.each([{ warm: false }, {}])('leaves the call with who has answered in its place (%j)', async (how) => {
    const { through, next } = ofSilentNode(how)
    await next({ type: 'status', status: 'in-progress' })
    expect(through).toEqual(['CA1'])
  })

  it('takes no caller from us for a target that has only picked up, and says goodbye to that', async () => {
    const { through, next } = ofSilentNode({ warm: true })
    await next({ type: 'status', status: 'in-progress' })
    expect(through).toEqual([])
    const { verbs } = await next({ type: 'answered' })
    expect(verbs.at(-1)).toEqual({ type: 'hangup' })
  })
})

describe('what a carrier tells of a transfer whose node lives and cannot be asked', () => {
  const isLive = true

  it('has the target wait and the carrier ask again, five times, before it says goodbye', async () => {
    const { next } = ofSilentNode({ warm: true, isLive })
    const waits = (url: string) => [
      { type: 'pause', seconds: 2 },
      { type: 'redirect', url: ADDRESS + url },
    ]
    expect((await next({ type: 'answered' })).verbs).toEqual(waits('?again=1'))
    expect((await next({ type: 'answered' }, { path: '?again=4', again: 4 })).verbs).toEqual(waits('?again=5'))
    // Which key was pressed is in no later request of the carrier.
    expect((await next({ type: 'key', digits: '1' }, { path: '/keys' })).verbs).toEqual(waits('/keys?digits=1&again=1'))
    expect((await next({ type: 'answered' }, { path: '?again=5', again: 5 })).verbs.at(-1)).toEqual({ type: 'hangup' })
  })

  it('has the carrier come again with what became of the target, but for who has the call', async () => {
    const { next } = ofSilentNode({ warm: true, isLive })
    await expect(next({ type: 'status', status: 'no-answer' })).rejects.toMatchObject({ code: 'unavailable' })
    const cold = ofSilentNode({ isLive })
    await cold.next({ type: 'status', status: 'in-progress' })
    expect(cold.through).toEqual(['CA1'])
  })
})
