import { describe, expect, it } from 'vitest'
import { CALLER, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { someUuid } from './harness/matchers.ts'

const test = useDatabase()
const app = useCallApp(test, { agent: { agent_name: 'Robin', greeting: 'Hello.' } })

type Actions = { count: number; next_cursor: string | null; actions: { id: string; action: string }[] }
type Sessions = { voice_sessions: { id: string }[] }
type Whole = { voice_session: { supervisor_actions: object[] } }
const list = (query = '') => app.served.administer<Actions>('GET', `/supervisor-actions${query}`)
const act = (body: object) => app.served.call('acme', 'POST', '/sessions/MZCA1/actions', body)
const stranger = (path: string) => fetch(`${app.served.address}/api/v1/admin${path}`)

describe('what supervisors do', () => {
  it('is kept, and found by tenant, call and kind', async () => {
    await app.talk({ CallSid: 'CA1' })
    await act({ action: 'whisper', text: 'Offer a discount.', supervisor: 'ada', metadata: { ticket: 7 } })
    await app.clock.advance(1_000)
    expect((await act({ action: 'levitate' })).status).toBe(400)
    await act({ action: 'end_call', reason: 'abuse' })
    const { count, actions } = await list()
    expect({ count, actions }).toEqual({
      count: 2,
      actions: [
        expect.objectContaining({ action: 'end_call', supervisor: null, reason: 'abuse' }),
        {
          ...{ id: someUuid, tenant_id: 'acme', stream_sid: 'MZCA1', call_sid: 'CA1', action: 'whisper' },
          ...{ supervisor: 'ada', target: null, reason: null, note: null, metadata: { ticket: 7 } },
          created_at: '2030-01-01T00:00:00.000Z',
        },
      ],
    })
    for (const query of ['?tenant_id=acme', '?stream_sid=MZCA1', '?limit=2']) expect((await list(query)).count).toBe(2)
    for (const query of ['?tenant_id=other', '?stream_sid=MZ0', '?action=say'])
      expect((await list(query)).count).toBe(0)
    expect((await list('?action=end_call')).count).toBe(1)
    const first = await list('?limit=1')
    const second = await list(`?limit=1&cursor=${first.next_cursor}`)
    expect([first, second].map((page) => page.actions[0]?.action)).toEqual(['end_call', 'whisper'])
  })

  it('is read with the session by whoever had the call, and goes with it but for who did it and when', async () => {
    await app.talk({ CallSid: 'CA1' })
    await act({ action: 'note', note: 'Wants the green chair.', supervisor: 'ada', metadata: { ticket: 7 } })
    await app.clock.advance(1_000)
    await act({ action: 'end_call', reason: 'abuse' })
    const [session] = (await app.served.call<Sessions>('acme', 'GET', '/voice-sessions')).body.voice_sessions
    const path = `/voice-sessions/${session?.id}`
    const read = await app.served.call<Whole>('acme', 'GET', path)
    expect(read.body.voice_session.supervisor_actions).toMatchObject([
      { action: 'note', supervisor: 'ada', note: 'Wants the green chair.', metadata: { ticket: 7 } },
      { action: 'end_call', reason: 'abuse' },
    ])
    await app.pass(async () => (await app.served.call('acme', 'DELETE', path)).status === 200, 'the end of the call')
    expect((await app.served.call('acme', 'GET', path)).status).toBe(404)
    expect(await list()).toMatchObject({
      actions: [
        { action: 'end_call', supervisor: null, reason: null },
        { action: 'note', supervisor: 'ada', note: null, metadata: {} },
      ],
    })
  })

  it('is asked for as described, by administrators', async () => {
    for (const query of ['action=levitate', 'limit=501', 'colour=blue', 'cursor=nonsense'])
      await expect(list(`?${query}`)).rejects.toThrow('400')
    expect((await stranger('/supervisor-actions')).status).toBe(401)
  })
})

describe('the live sessions of all tenants', () => {
  it('are shown to administrators, newest first', async () => {
    await app.served.furnish('other', { number: '+12025550141' })
    await app.talk({ CallSid: 'CA1' })
    await app.clock.advance(1_000)
    await app.talk({ CallSid: 'CA2', To: '+12025550141' })
    const { count, sessions } = await app.served.administer<{ count: number; sessions: unknown[] }>('GET', '/sessions')
    expect({ count, sessions }).toEqual({
      count: 2,
      sessions: [
        expect.objectContaining({ stream_sid: 'MZCA2', tenant: 'other' }),
        {
          ...{ stream_sid: 'MZCA1', tenant: 'acme', org_id: null, agent_name: 'Robin', call_type: 'inbound' },
          ...{ customer_phone: CALLER, greeting: 'Hello.', started_at: '2030-01-01T00:00:00.000Z' },
          ...{ escalated: false, escalation_target: null },
        },
      ],
    })
    expect((await stranger('/sessions')).status).toBe(401)
    expect((await fetch(`${app.served.address}/api/v1/admin/sessions?x=1`)).status).toBe(401)
  })
})
