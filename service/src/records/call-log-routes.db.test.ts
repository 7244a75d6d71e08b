import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenantWithToken, useTenantServer } from '../../test/harness/tenant-server.ts'
import { openServer } from '../platform/db/server.ts'
import { callLogRoutes } from './call-log-routes.ts'
import { makeCallLogs } from './call-logs.ts'
import type { CallStatus } from './call-values.ts'
import { NODE, someCall, tenantTold } from './calls.fixture.ts'
import { makeSessions, type NewCall } from './sessions.ts'

type List = { call_logs: { call_sid: string }[]; count: number; next_cursor: string | null }

const test = useDatabase()
// Nobody listens there.
const unreachable = openServer({ url: 'postgres://parley@127.0.0.1:1/parley', applicationName: 'test' })
const server = useTenantServer(
  () => test.db,
  () => [callLogRoutes(makeCallLogs({ db: test.db }))],
)
const downServer = useTenantServer(
  () => test.db,
  () => [callLogRoutes(makeCallLogs({ db: unreachable.db }))],
)
let clock: TestClock

beforeEach(async () => {
  clock = new TestClock()
  for (const id of ['acme', 'globex']) await makeTenantWithToken(test.db, id)
})
afterAll(() => unreachable.close())

async function open(tenant: string, callSid: string, facts: Partial<NewCall> = {}): Promise<void> {
  const sessions = makeSessions({ db: test.db, clock, nodeId: NODE })
  await sessions.open(tenantTold(tenant), someCall(callSid, facts))
}

async function listed(query: string, tenant = 'acme'): Promise<string[]> {
  const { status, body } = await server.call<List>(tenant, 'GET', `/call-logs${query}`)
  expect(status).toBe(200)
  return body.call_logs.map(({ call_sid }) => call_sid)
}

function setStatus(callSid: string, status: CallStatus) {
  return test.db.updateTable('call_logs').set({ status }).where('call_sid', '=', callSid).execute()
}

describe('GET call-logs', () => {
  it('shows every field of a call', async () => {
    await open('acme', 'CA1', { metadata: { order: 7, deep: { ok: [true] } } })
    const { sessionId } = await makeSessions({ db: test.db, clock, nodeId: NODE }).open(
      tenantTold('acme'),
      someCall('CA1'),
    )
    expect(await server.call('acme', 'GET', '/call-logs')).toEqual({
      status: 200,
      body: {
        ...{ ok: true, count: 1, next_cursor: null },
        call_logs: [
          {
            ...{ call_sid: 'CA1', tenant_id: 'acme', org_id: 'org-1', direction: 'inbound', status: 'ringing' },
            ...{ from: '+12025550101', to: '+12025550199', agent_key: 'support', agent_name: 'Robin' },
            ...{ agent_version_id: null, version_number: 3, stream_sid: null, voice_session_id: sessionId },
            ...{ callback_task_id: null, campaign_id: null, placed_by: null, canceled_by: null },
            ...{ created_at: '2030-01-01T00:00:00.000Z' },
            ...{ started_at: '2030-01-01T00:00:00.000Z', answered_at: null, ended_at: null, duration_seconds: null },
            ...{ answered_by: null, answered_by_source: null, escalated: false, escalation_target: null },
            ...{
              summary: null,
              error_code: null,
              error_message: null,
              cost_usd: null,
              metadata: { order: 7, deep: { ok: [true] } },
            },
          },
        ],
      },
    })
  })

  it('lists the calls of the tenant only, newest first, page by page', async () => {
    await open('globex', 'CA9')
    for (const sid of ['CA1', 'CA2', 'CA3']) {
      await open('acme', sid)
      await clock.advance(1)
    }
    expect(await listed('')).toEqual(['CA3', 'CA2', 'CA1'])
    const { body } = await server.call<List>('acme', 'GET', '/call-logs?limit=2')
    expect(body).toMatchObject({ count: 2, call_logs: [{ call_sid: 'CA3' }, { call_sid: 'CA2' }] })
    expect(await listed(`?limit=2&cursor=${body.next_cursor}`)).toEqual(['CA1'])
    expect(await listed('?offset=1&limit=1')).toEqual(['CA2'])
    expect(await listed('?limit=0')).toEqual([])
  })

  it.each([
    ['?status=busy', ['CA2']],
    ['?direction=outbound', ['CA2']],
    ['?agent_key=sales', ['CA3']],
    ['?agent_key=nobody', []],
    ['?from=%2B12025550102', ['CA2']],
    ['?from=+12025550102', ['CA2']],
    ['?from=anonymous', ['CA3']],
    ['?to=%2B12025550198', ['CA3']],
    ['?started_after=2030-01-01T00:00:01.000Z', ['CA3', 'CA2']],
    ['?started_after=0001-01-01T00:00:00Z&started_before=9999-12-31T23:59:59.999Z', ['CA3', 'CA2', 'CA1']],
    ['?started_before=2030-01-01T00:00:01.000Z', ['CA1']],
    ['?started_after=2030-01-01T00:00:01Z&started_before=2030-01-01T00:00:02Z', ['CA2']],
    ['?created_after=2030-01-01T00:00:01Z', ['CA3', 'CA2']],
    ['?created_before=2030-01-01T00:00:02Z', ['CA2', 'CA1']],
    ['?status=ringing&direction=inbound&agent_key=support', ['CA1']],
  ])('finds what %s asks for', async (query, expected) => {
    await open('acme', 'CA1')
    await clock.advance(1_000)
    await open('acme', 'CA2', { direction: 'outbound', from: '+12025550102' })
    await setStatus('CA2', 'busy')
    await clock.advance(1_000)
    const agent = { agentKey: 'sales', agentName: 'Kim', versionId: null, versionNumber: 1 }
    await open('acme', 'CA3', { agent, from: 'anonymous', to: '+12025550198' })
    expect(await listed(query)).toEqual(expected)
  })

  it.each([
    ['?without_agent=true', ['CA1']],
    ['?without_agent=true&agent_key=support', []],
    ['?without_agent=false', ['CA2', 'CA1']],
  ])("finds with %s what the agent in the tenant's document has, which no key names", async (query, expected) => {
    const agent = { agentKey: null, agentName: 'Robin', versionId: null, versionNumber: null }
    await open('acme', 'CA1', { agent })
    await clock.advance(1)
    await open('acme', 'CA2')
    expect(await listed(query)).toEqual(expected)
  })

  it('finds a call that started long after it was logged, and none that has not', async () => {
    await open('acme', 'CA1')
    await open('acme', 'CA2')
    const startedAt = new Date(clock.now() + 3_600_000)
    await test.db.updateTable('call_logs').set({ started_at: startedAt }).where('call_sid', '=', 'CA1').execute()
    await test.db.updateTable('call_logs').set({ started_at: null }).where('call_sid', '=', 'CA2').execute()
    expect(await listed('?started_after=2030-01-01T00:30:00Z')).toEqual(['CA1'])
    expect(await listed('?started_before=2030-01-02T00:00:00Z')).toEqual(['CA1'])
    expect(await listed('?started_before=2030-01-01T00:30:00Z')).toEqual([])
  })

  it.each([
    ['?status=over', '/query/status'],
    ['?direction=up', '/query/direction'],
    ['?started_after=yesterday', '/query/started_after'],
    ['?limit=501', '/query/limit'],
    ['?cursor=mine', '/query/cursor'],
    ['?agent=support', '/query/agent'],
    ['?from=2030-01-01', '/query/from'],
    ['?to=2030-01-01T00:00:00Z', '/query/to'],
  ])('refuses %s and names it', async (query, path) => {
    expect(await server.call('acme', 'GET', `/call-logs${query}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', details: [{ path }] },
    })
  })
})

describe('GET call-logs/:call_sid', () => {
  it('shows one call', async () => {
    await open('acme', 'CA1')
    const { body } = await server.call<List>('acme', 'GET', '/call-logs')
    expect(await server.call('acme', 'GET', '/call-logs/CA1')).toEqual({
      status: 200,
      body: { ok: true, call_log: body.call_logs[0] },
    })
  })

  it("knows no unknown call and none of another tenant's", async () => {
    await open('globex', 'CA1')
    expect((await server.call('globex', 'GET', '/call-logs/CA1')).status).toBe(200)
    for (const sid of ['CA1', 'CA2']) {
      expect(await server.call('acme', 'GET', `/call-logs/${sid}`)).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      })
    }
  })
})

describe('the call log routes', () => {
  it.each(['/call-logs', '/call-logs/CA1'])('let nobody without a credential read %s', async (path) => {
    expect(await server.call(null, 'GET', path)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    expect(await server.call('nobody', 'GET', path)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
  })

  it.each(['/call-logs', '/call-logs/CA1'])('say of %s that the database is down', async (path) => {
    expect(await downServer.call('acme', 'GET', path)).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  })
})
