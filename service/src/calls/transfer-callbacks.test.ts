import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import { makeBus } from '../platform/bus/bus.ts'
import { memoryWire } from '../platform/bus/memory.ts'
import { toRuntime } from '../tenancy/tenant-defaults.ts'
import { makeTransferCallbacks } from './transfer-callbacks.ts'

const NO_ACCOUNT = { account_sid: null, auth_token: null, from_number: null }
const tenant = toRuntime({ tenant_id: 'acme' as TenantId }, NO_ACCOUNT)

/** The callbacks of a transfer whose node is gone; `through` are the calls that were noted to be put through. */
function ofDeadNode({ warm }: { warm?: boolean }) {
  const through: string[] = []
  const log = { warn: () => {}, error: () => {} }
  const claims = { transfer: 't1', tenant: tenant.tenant_id, call_sid: 'CA1', node: 'gone' as NodeId }
  const callbacks = makeTransferCallbacks({
    log,
    bus: makeBus({ wire: memoryWire(), clock: new TestClock(), log, onDropped: () => {} }),
    tokens: { readTransfer: () => ({ ...claims, ...(warm !== undefined && { warm }) }) },
    tenants: { get: async () => tenant },
    signatures: { expectFrom: () => {} },
    putThrough: async (_tenant, callSid) => void through.push(callSid),
  })
  const signed = { url: '', headers: {}, form: [] }
  return {
    through,
    next: (asked: Parameters<typeof callbacks.next>[1]) => callbacks.next({ token: 'x', signed }, asked),
  }
}

describe('what a carrier tells of a transfer whose node is gone', () => {
  it.each([{ warm: false }, {}])('leaves the call with who has answered in its place (%j)', async (how) => {
    const { through, next } = ofDeadNode(how)
    await next({ type: 'status', status: 'in-progress' })
    expect(through).toEqual(['CA1'])
  })

  it('takes no caller from us for a target that has only picked up, and says goodbye to that', async () => {
    const { through, next } = ofDeadNode({ warm: true })
    await next({ type: 'status', status: 'in-progress' })
    expect(through).toEqual([])
    const { verbs } = await next({ type: 'answered' })
    expect(verbs.at(-1)).toEqual({ type: 'hangup' })
  })
})
