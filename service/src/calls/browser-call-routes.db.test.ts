import { describe, expect, it } from 'vitest'
import { Browser } from '../../test/harness/browser.ts'
import { useCallApp } from '../../test/harness/call-app.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { StreamClient } from '../../test/harness/stream-client.ts'
import { until } from '../../test/harness/wait.ts'
import { OTHER_NODE, someCall, tenantTold } from '../records/calls.fixture.ts'
import { makeSessions } from '../records/sessions.ts'

const ADMIN_PASSWORD = 'a password of this test'

type Opened = { ok: true; stream_url: string; stream_token: string; call_sid: string }

describe('POST /api/v1/browser-calls', () => {
  const test = useDatabase()
  const app = useCallApp(test, { settings: { ADMIN_USERNAME: 'ada', ADMIN_PASSWORD } })
  const open = (body: unknown, tenant: string | null = 'acme') =>
    app.served.call<Opened>(tenant, 'POST', '/browser-calls', body)

  it('opens a call that its page streams, whatever the page calls it', async () => {
    const { status, body } = await open({ agent_key: 'desk' })
    expect([status, body]).toMatchObject([
      200,
      { ok: true, stream_url: `${app.served.app.publicUrl().replace('http', 'ws')}/media-stream` },
    ])
    const client = await StreamClient.open(app.served.address, `/media-stream?stream_token=${body.stream_token}`)
    client.start({ callSid: 'my-own-name', streamSid: 'page-1' })
    await until(() => app.model.sessions.length === 1, { what: 'the session' })
    const live = await app.served.call('acme', 'GET', '/sessions/page-1')
    expect(live.body).toMatchObject({ session: { call_sid: body.call_sid, call_type: 'browser' } })

    client.send({ event: 'stop', streamSid: 'page-1', stop: {} })
    const log = await app.pass(async () => {
      const answer = await app.served.call<{ call_log: Record<string, unknown> }>(
        'acme',
        'GET',
        `/call-logs/${body.call_sid}`,
      )
      return answer.body.call_log['status'] === 'completed' ? answer.body.call_log : null
    }, 'the end to be written down')
    expect(log).toMatchObject({ direction: 'browser', agent_key: 'desk' })
    expect(app.rest.requests).toEqual([])
  })

  it('knows which person talks, and nobody who has a key', async () => {
    const ada = new Browser(app.served)
    expect((await ada.login('ada', ADMIN_PASSWORD)).status).toBe(200)
    const asked = { body: { agent_key: 'desk' }, headers: { 'x-tenant-id': 'acme' } }
    const byPerson = await ada.call('POST', '/browser-calls', asked)
    const byKey = await open({ agent_key: 'desk' })
    for (const [sid, placed_by] of [
      [byPerson.body['call_sid'], 'ada'],
      [byKey.body.call_sid, null],
    ]) {
      const { body } = await app.served.call('acme', 'GET', `/call-logs/${String(sid)}`)
      expect(body).toMatchObject({ call_log: { direction: 'browser', placed_by } })
    }
  })

  it('keeps apart the calls of two tenants whose pages give theirs one name', async () => {
    await app.served.furnish('other', { number: '+12025550141' })
    const streamed = async (tenant: string) => {
      const { body } = await open({ agent_key: 'desk' }, tenant)
      const client = await StreamClient.open(app.served.address, `/media-stream?stream_token=${body.stream_token}`)
      client.start({ callSid: 'x', streamSid: 'page' })
      return { client, callSid: body.call_sid }
    }
    const calls = [await streamed('acme'), await streamed('other')]
    await until(() => app.model.sessions.length === 2, { what: 'the sessions' })
    for (const [index, tenant] of ['acme', 'other'].entries()) {
      const { body } = await app.served.call(tenant, 'GET', '/sessions/page')
      expect(body).toMatchObject({ session: { tenant, call_sid: calls[index]?.callSid } })
    }
    expect(await (await streamed('acme')).client.closed()).toBe(1008)
  })

  it('takes an exact version, drafts too', async () => {
    const [agent] = await test.db
      .selectFrom('agents')
      .select('id')
      .where('tenant_id', '=', 'acme' as never)
      .execute()
    const config = { agent_id: agent?.id, config: { agent_name: 'Draft' } }
    const { version } = await app.served.administer<{ version: { id: string } }>(
      'POST',
      '/tenants/acme/agent-versions',
      config,
    )
    const { body } = await open({ agent_version_id: version.id })
    const client = await StreamClient.open(app.served.address, `/media-stream/${body.stream_token}`)
    client.start()
    await until(() => app.model.sessions.length === 1, { what: 'the session' })
    expect((await app.served.call('acme', 'GET', '/sessions/MZ1')).body).toMatchObject({
      session: { agent_name: 'Draft' },
    })
  })

  it('ends with its socket, because there is no carrier to end it', async () => {
    const { body } = await open({ agent_key: 'desk' })
    const client = await StreamClient.open(app.served.address, `/media-stream/${body.stream_token}`)
    client.start()
    await until(() => app.model.sessions.length === 1, { what: 'the session' })
    await app.served.call('acme', 'POST', '/sessions/MZ1/actions', { action: 'end_call' })
    expect(await app.pass(() => client.closeCode, 'the end of the stream')).toBe(1000)
    expect(app.rest.requests).toEqual([])
  })

  it.each([
    [{}, '/body/agent_key'],
    [{ agent_key: 'nobody' }, '/body/agent_key'],
    [{ agent_version_id: 'no version' }, '/body/agent_version_id'],
    [{ agent_version_id: '018f0000-0000-7000-8000-000000000001' }, '/body/agent_version_id'],
    [{ agent_key: 'desk', agent_version_id: 'x' }, '/body/agent_version_id'],
    [{ agent_key: 'desk', colour: 'red' }, '/body/colour'],
  ])('refuses %j with 400', async (body, path) => {
    expect(await open(body)).toMatchObject({ status: 400, body: { details: [{ path }] } })
  })

  it('does not let the agent of the document step in for a key that was mistyped', async () => {
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', agent: { agent_name: 'Robin' } })
    expect((await open({ agent_key: 'dsek' })).status).toBe(400)
  })

  it("knows nothing of another tenant's agents", async () => {
    await app.served.furnish('other', { number: '+12025550141' })
    const [agent] = await test.db
      .selectFrom('agents')
      .select('id')
      .where('tenant_id', '=', 'acme' as never)
      .execute()
    const versionId = await app.served.publish('acme', String(agent?.id), {})
    expect((await open({ agent_version_id: versionId }, 'other')).status).toBe(400)
  })

  it('asks for a credential', async () => {
    expect((await open({ agent_key: 'desk' }, null)).status).toBe(401)
  })

  it('says when there is no room', async () => {
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', limits: { max_concurrent_calls: 1 } })
    const { status, body } = await open({ agent_key: 'desk' })
    const client = await StreamClient.open(app.served.address, `/media-stream/${body.stream_token}`)
    client.start()
    await until(() => app.model.sessions.length === 1, { what: 'the session' })
    expect([status, (await open({ agent_key: 'desk' })).status]).toEqual([200, 503])
  })

  it.each<[string, (client: StreamClient) => void]>([
    ['is closed again', (client) => client.close()],
    ['stops before it has started', (client) => client.send({ event: 'stop', stop: {} })],
    ['starts what is none', (client) => client.start({ streamSid: 'ä ö' })],
    ['starts a stream that another call has', (client) => client.start({ streamSid: 'taken' })],
  ])('makes room for another one when its socket %s', async (_how, leave) => {
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', limits: { max_concurrent_calls: 2 } })
    const come = async (token: string) => StreamClient.open(app.served.address, `/media-stream?stream_token=${token}`)
    const first = await come((await open({ agent_key: 'desk' })).body.stream_token)
    first.start({ streamSid: 'taken' })
    await until(() => app.model.sessions.length === 1, { what: 'the session' })

    const { body } = await open({ agent_key: 'desk' })
    leave(await come(body.stream_token))
    type Read = { call_log: { status: string } }
    const read = () => app.served.call<Read>('acme', 'GET', `/call-logs/${body.call_sid}`)
    await until(async () => (await read()).body.call_log.status === 'canceled', { what: 'its end' })
    expect((await open({ agent_key: 'desk' })).status).toBe(200)
    expect((await app.served.call('acme', 'GET', '/sessions/taken')).status).toBe(200)
  })

  it('says so, too, when other calls of the tenant are elsewhere', async () => {
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', limits: { max_concurrent_calls: 1 } })
    const elsewhere = makeSessions({ db: test.db, clock: app.clock, nodeId: OTHER_NODE })
    await elsewhere.open(tenantTold('acme'), someCall('CB1'))
    expect(await open({ agent_key: 'desk' })).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  })
})
