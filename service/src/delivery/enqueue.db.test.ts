import { beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../../test/harness/database.ts'
import { someUuid } from '../../test/harness/matchers.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { outboxOf, tenantTold } from '../records/calls.fixture.ts'
import type { EventName } from '../tenancy/tenant-events.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { enqueue, type NewEvent, wantsEvent } from './enqueue.ts'

const test = useDatabase()
const NOW = new Date('2030-01-01T00:00:00.123Z')
const SESSION = '0190a000-0000-7000-8000-000000000001'
const acme = tenantTold('acme')

beforeEach(async () => {
  for (const id of ['acme', 'globex']) await makeTenant(test.db, id)
})

function ofCall(callSid: string, event: EventName = 'voice.call.started'): NewEvent {
  return { event, subject: { callSid, sessionId: SESSION }, payload: { n: 1 } }
}

function tell(tenant: TenantRuntime, events: NewEvent[]): Promise<number> {
  return test.db.transaction().execute((tx) => enqueue(tx, tenant, events, NOW))
}

describe('enqueue', () => {
  it('writes the envelope with its members in their order, due at once', async () => {
    await tell(acme, [ofCall('CA1')])
    const [row, ...others] = await test.db.selectFrom('webhook_outbox').selectAll().execute()
    expect(others).toEqual([])
    expect(row).toMatchObject({
      ...{ tenant_id: 'acme', id: someUuid, event: 'voice.call.started', call_sid: 'CA1', voice_session_id: SESSION },
      ...{ sequence: 1, status: 'pending', attempts: 0, due_at: NOW, claim_token: null, created_at: NOW },
    })
    expect(JSON.stringify(row?.body)).toBe(
      JSON.stringify({
        event: 'voice.call.started',
        tenant_id: 'acme',
        call_sid: 'CA1',
        voice_session_id: SESSION,
        created_at: '2030-01-01T00:00:00.123Z',
        payload: { n: 1 },
      }),
    )
  })

  it('gives an event without a call empty ids and no number', async () => {
    await tell(acme, [{ event: 'dnc.added', subject: null, payload: {} }])
    expect(await test.db.selectFrom('webhook_outbox').selectAll().execute()).toMatchObject([
      { call_sid: null, voice_session_id: null, sequence: null, body: { call_sid: '', voice_session_id: '' } },
    ])
  })

  it('numbers the events of each call from 1 without a gap, also when they come at once', async () => {
    const calls = ['CA1', 'CA2', 'CA3']
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        tell(
          acme,
          calls.slice(n % 3).flatMap((sid) => [ofCall(sid), ofCall(sid)]),
        ),
      ),
    )
    const events = await outboxOf(test.db)
    for (const sid of calls) {
      const numbers = events.filter(({ call_sid }) => call_sid === sid).map(({ sequence }) => sequence)
      expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    }
    expect(events.filter(({ call_sid }) => call_sid === 'CA3')).toHaveLength(40)
  })

  it('numbers the events of one transaction in their order', async () => {
    await tell(acme, [ofCall('CA1'), ofCall('CA2'), ofCall('CA1', 'voice.session.started')])
    await tell(acme, [ofCall('CA1', 'voice.session.completed'), ofCall('CA1', 'voice.call.completed')])
    const events = await outboxOf(test.db)
    expect(events.map(({ call_sid, sequence, event }) => [call_sid, sequence, event])).toEqual([
      ['CA1', 1, 'voice.call.started'],
      ['CA1', 2, 'voice.session.started'],
      ['CA1', 3, 'voice.session.completed'],
      ['CA1', 4, 'voice.call.completed'],
      ['CA2', 1, 'voice.call.started'],
    ])
  })

  it('leaves neither an event nor a gap when its transaction is rolled back', async () => {
    const undone = test.db.transaction().execute(async (tx) => {
      await enqueue(tx, acme, [ofCall('CA1')], NOW)
      throw new Error('changed my mind')
    })
    await expect(undone).rejects.toThrow('changed my mind')
    await tell(acme, [ofCall('CA1')])
    expect((await outboxOf(test.db)).map(({ sequence }) => sequence)).toEqual([1])
  })

  it('counts the calls of two tenants apart', async () => {
    await tell(acme, [ofCall('CA1')])
    await tell(tenantTold('globex'), [ofCall('CA1')])
    expect((await outboxOf(test.db)).map(({ sequence }) => sequence)).toEqual([1, 1])
  })

  it('writes nothing of what the tenant does not want, and does not count it', async () => {
    const picky = tenantTold('acme', ['voice.call.completed'])
    await tell(picky, [ofCall('CA1'), ofCall('CA1', 'voice.transcript.turn')])
    expect(await outboxOf(test.db)).toEqual([])
    await tell(picky, [ofCall('CA1', 'voice.call.completed')])
    expect((await outboxOf(test.db)).map(({ sequence }) => sequence)).toEqual([1])
  })
})

describe('wantsEvent', () => {
  it('is false without a webhook and with one that was given up', () => {
    expect(wantsEvent(tenantTold('acme', null), 'voice.call.started')).toBe(false)
    const { webhook } = acme
    expect(wantsEvent({ ...acme, webhook: webhook && { ...webhook, disabled: true } }, 'voice.call.started')).toBe(
      false,
    )
    expect(wantsEvent(acme, 'voice.call.started')).toBe(true)
  })
})
