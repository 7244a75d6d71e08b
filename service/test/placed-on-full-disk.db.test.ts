import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CALLER, NUMBER, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { refuseRows, refuseTables, takeAgain } from './harness/full-disk.ts'

type Answer = { code?: string; error?: string; task: { id: string; status: string }; campaign: { id: string } }

describe('while the disk of the database is full', () => {
  const test = useDatabase()
  const app = useCallApp(test, { document: { compliance: { calling_hours: { start: '00:00', end: '24:00' } } } })
  const dialled = () => app.rest.requests.filter(({ path }) => path.endsWith('/Calls.json')).length
  const post = (path: string, body: object = {}) => app.served.call<Answer>('acme', 'POST', path, body)

  beforeEach(async () => {
    const { phone_routes: routes } = await app.served.administer<{ phone_routes: { id: string }[] }>(
      'GET',
      '/tenants/acme/phone-routes',
    )
    const route = { phone_number: NUMBER, agent_key: 'desk', outbound_default: true }
    await app.served.administer('PUT', `/tenants/acme/phone-routes/${routes[0]?.id}`, route)
    app.rest.reply = ({ path }) =>
      path.endsWith('/Calls.json')
        ? { status: 201, body: { sid: `CA-out-${dialled()}`, status: 'queued' } }
        : { status: 200, body: {} }
  })
  afterEach(() => takeAgain(test.db))

  it('F59: nobody is called by a request, a dispatch or a campaign, though that could be written down, and all are once there is room', async () => {
    const asked = { to: CALLER }
    const { body } = await post('/callback-tasks', { customer_phone: '+12025550198' })
    const dispatch = `/callback-tasks/${body.task.id}/dispatch`
    const wanted = { name: 'Spring', agent_key: 'desk', contacts: [{ phone: '+12025550199' }] }
    const { campaign } = (await post('/campaigns', wanted)).body

    await refuseRows(test.db, 'do_not_call')
    await refuseTables(test.db)
    // What is refused first tells it.
    expect((await post('/dnc', { phone: '+12025550197' })).status).toBe(503)
    await post(`/campaigns/${campaign.id}/start`)
    const refused = {
      status: 503,
      body: { code: 'unavailable', error: 'The disk of the database is full. Try again.' },
    }
    expect(await post('/make-call', asked)).toMatchObject(refused)
    expect(await post(dispatch)).toMatchObject(refused)
    const saysSo = () => app.served.logLines().some(({ msg }) => msg === 'campaigns could not be looked after')
    await app.pass(saysSo, 'the campaign to wait')
    expect(dialled()).toBe(0)

    await takeAgain(test.db)
    expect(await post('/make-call', asked)).toMatchObject({ status: 200 })
    expect((await post(dispatch)).body.task.status).toBe('dispatching')
    await app.pass(() => dialled() === 3, 'the campaign to go on')
  })
})
