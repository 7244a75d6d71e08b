import { beforeEach, describe, expect, it } from 'vitest'
import { CALLER, NUMBER, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'

describe('a person who is called', () => {
  const test = useDatabase()
  const app = useCallApp(test, { document: { compliance: { calling_hours: { start: '00:00', end: '24:00' } } } })
  let versionId: string

  /** All calls of the agent have the version, which is not the published one. */
  beforeEach(async () => {
    app.rest.reply = ({ path }) =>
      path.endsWith('/Calls.json')
        ? { status: 201, body: { sid: 'CA-out-1', status: 'queued' } }
        : { status: 200, body: {} }
    const tenant = '/tenants/acme'
    const { agents } = await app.served.administer<{ agents: { id: string }[] }>('GET', `${tenant}/agents`)
    const draft = { agent_id: agents[0]?.id, config: { instructions: 'Be brief.' } }
    type Made = { version: { id: string } }
    versionId = (await app.served.administer<Made>('POST', `${tenant}/agent-versions`, draft)).version.id
    const entries = [{ agent_version_id: versionId, traffic_percentage: 100 }]
    await app.served.administer('PUT', `${tenant}/agents/${agents[0]?.id}/rollouts`, { entries })
  })

  const spokenBy = () =>
    app.pass(async () => {
      const log = await test.db.selectFrom('call_logs').select('agent_version_id').executeTakeFirst()
      return log ?? null
    }, 'the call')

  it('by the dispatch of a task talks to the version of their share', async () => {
    await app.served.administer('PUT', '/tenants/acme/operator-queues/default', { dispatch_agent_key: 'desk' })
    const path = '/tenants/acme/phone-routes'
    const { phone_routes: routes } = await app.served.administer<{ phone_routes: { id: string }[] }>('GET', path)
    const route = { phone_number: NUMBER, agent_key: 'desk', outbound_default: true }
    await app.served.administer('PUT', `${path}/${routes[0]?.id}`, route)
    const task = { customer_phone: CALLER }
    const { body } = await app.served.call<{ task: { id: string } }>('acme', 'POST', '/callback-tasks', task)
    expect(await app.served.call('acme', 'POST', `/callback-tasks/${body.task.id}/dispatch`)).toMatchObject({
      status: 200,
    })
    expect(await spokenBy()).toEqual({ agent_version_id: versionId })
  })

  it('by a campaign talks to the version of their share', async () => {
    const wanted = { name: 'Spring', agent_key: 'desk', from: NUMBER, contacts: [{ phone: CALLER }] }
    const { body } = await app.served.call<{ campaign: { id: string } }>('acme', 'POST', '/campaigns', wanted)
    await app.served.call('acme', 'POST', `/campaigns/${body.campaign.id}/start`)
    expect(await spokenBy()).toEqual({ agent_version_id: versionId })
  })
})
