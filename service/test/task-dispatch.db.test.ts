import { sql } from 'kysely'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import { CALLER, NUMBER, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { ACCOUNT } from './harness/served-app.ts'

type Task = { id: string; status: string } & Record<string, unknown>
type Answer = { task: Task; code?: string; refusals?: { code: string; reason: string }[] }

const MINUTE_MS = 60_000
const ALWAYS = { compliance: { calling_hours: { start: '00:00', end: '24:00' } } }
const FALLBACK = '+12025550150'
/** Whose call is not over does not get another one. */
const OTHER = '+12025550198'

describe('the dispatch of a callback task', () => {
  const test = useDatabase()
  const app = useCallApp(test, {
    document: ALWAYS,
  })
  const dialled = () => app.rest.requests.filter(({ path }) => path.endsWith('/Calls.json'))

  beforeEach(async () => {
    app.rest.reply = ({ path }) =>
      path.endsWith('/Calls.json')
        ? { status: 201, body: { sid: `CA-out-${dialled().length}`, status: 'queued' } }
        : { status: 200, body: {} }
    const { phone_routes: routes } = await app.served.administer<{ phone_routes: { id: string }[] }>(
      'GET',
      '/tenants/acme/phone-routes',
    )
    const route = { phone_number: NUMBER, agent_key: 'desk', outbound_default: true }
    await app.served.administer('PUT', `/tenants/acme/phone-routes/${routes[0]?.id}`, route)
  })

  const post = (path: string, body: object = {}) =>
    app.served.call<Answer>('acme', 'POST', `/callback-tasks${path}`, body)
  const create = async (facts: object = {}) => (await post('', { customer_phone: CALLER, ...facts })).body.task
  const read = async (id: string) => (await app.served.call<Answer>('acme', 'GET', `/callback-tasks/${id}`)).body.task

  /** The agent of the queue has published nothing. */
  async function nobodySpeaksForSales(): Promise<void> {
    const quiet = { agent_key: 'quiet', name: 'Quiet', description: '' }
    await app.served.administer('POST', '/tenants/acme/agents', quiet)
    await app.served.administer('PUT', '/tenants/acme/operator-queues/sales', { dispatch_agent_key: 'quiet' })
  }

  async function speakerOf(callSid: string): Promise<string | null> {
    const path = `/call-logs/${callSid}`
    const { body } = await app.served.call<{ call_log: { agent_key: string | null } }>('acme', 'GET', path)
    return body.call_log.agent_key
  }

  /** The carrier says how the newest call ended; answers the task once it has followed. */
  async function ended(id: string, form: Record<string, string>): Promise<Task> {
    const sid = `CA-out-${dialled().length}`
    const told = { CallSid: sid, AccountSid: ACCOUNT.sid, ...form }
    expect(await app.post('/api/v1/call-status', { form: told })).toMatchObject({ status: 200 })
    return app.pass(async () => {
      const task = await read(id)
      return task.status === 'dispatching' ? null : task
    }, 'the task to follow its call')
  }

  /** Somebody answers the newest call. */
  const pickUp = () => app.pickUp(`CA-out-${dialled().length}`, dialled().at(-1)?.form)

  it('calls the customer, and is done when somebody answers', async () => {
    const { id } = await create({ metadata: { order: 7 } })
    await app.clock.advance(1)
    await post(`/${id}/claim`, { operator: 'ann' })
    await app.clock.advance(1)
    expect(await post(`/${id}/dispatch`, { operator: 'ben' })).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    })
    const { status, body } = await post(`/${id}/dispatch`, { operator: 'ann' })
    expect({ status, task: body.task }).toMatchObject({
      status: 200,
      task: { status: 'dispatching', dispatch_attempt_count: 1, last_dispatch_call_sid: 'CA-out-1' },
    })
    expect(dialled()).toMatchObject([{ form: { To: CALLER, From: NUMBER } }])
    expect((await app.served.call('acme', 'GET', '/call-logs/CA-out-1')).body).toMatchObject({
      call_log: { callback_task_id: id, agent_key: 'desk', metadata: { order: 7 } },
    })
    expect(await post(`/${id}/dispatch`, { operator: 'ann' })).toMatchObject({ status: 409 })
    expect(await ended(id, { CallStatus: 'completed', AnsweredBy: 'human' })).toMatchObject({
      ...{ status: 'completed', disposition: 'reached', last_dispatch_status: 'completed' },
    })
    const history = await app.served.call<{ changes: object[] }>('acme', 'GET', `/callback-tasks/${id}/history`)
    expect(history.body.changes).toMatchObject([
      { action: 'settle', status: 'completed', operator: null, details: { disposition: 'reached' } },
      { action: 'dispatch', status: 'dispatching', operator: 'ann', details: { attempt: 1 } },
      { action: 'claim' },
      { action: 'create' },
    ])
  })

  it('is settled whatever becomes of an older one', async () => {
    const poisoned = await create()
    await post(`/${poisoned.id}/dispatch`)
    await app.clock.advance(1)
    const { id } = await create({ customer_phone: OTHER })
    await post(`/${id}/dispatch`)
    await sql`alter table callback_task_dispatches add constraint poison
              check (settled_at is null or task_id <> ${sql.lit(poisoned.id)})`.execute(test.db)
    try {
      const form = { CallSid: 'CA-out-1', AccountSid: ACCOUNT.sid, CallStatus: 'busy' }
      expect(await app.post('/api/v1/call-status', { form })).toMatchObject({ status: 200 })
      expect(await ended(id, { CallStatus: 'busy' })).toMatchObject({ status: 'open' })
      expect((await read(poisoned.id)).status).toBe('dispatching')
    } finally {
      await sql`alter table callback_task_dispatches drop constraint poison`.execute(test.db)
    }
    await app.pass(async () => (await read(poisoned.id)).status === 'open', 'the older one to follow')
  })

  it('is tried again after calls in vain, until there were enough', async () => {
    const { id } = await create()
    const inVain = [
      [{ CallStatus: 'busy' }, 'open', 'busy'],
      [{ CallStatus: 'completed', AnsweredBy: 'machine_start' }, 'open', 'voicemail'],
      [{ CallStatus: 'no-answer' }, 'cancelled', 'failed'],
    ] as const
    for (const [form, status, disposition] of inVain) {
      expect(await post(`/${id}/dispatch`)).toMatchObject({ status: 200 })
      const task = await ended(id, form)
      expect(task).toMatchObject({ status, disposition, assigned_to: null })
      const dueMs = Date.parse(String(task['due_at'])) - app.clock.now()
      expect(dueMs).toBeGreaterThan(29 * MINUTE_MS)
    }
    expect(await read(id)).toMatchObject({ dispatch_attempt_count: 3 })
    expect(await post(`/${id}/reopen`)).toMatchObject({ body: { task: { dispatch_attempt_count: 0 } } })
  })

  it('in vain is the last one where the number was listed as not to be called meanwhile', async () => {
    const { id } = await create()
    expect(await post(`/${id}/dispatch`)).toMatchObject({ status: 200 })
    await app.served.call('acme', 'POST', '/dnc', { phone: CALLER })
    expect(await ended(id, { CallStatus: 'busy' })).toMatchObject({ status: 'cancelled', disposition: 'do_not_call' })
  })

  it('is tried again where no agent could talk to who answered, until there were enough', async () => {
    await app.served.administer('PUT', '/tenants/acme/operator-queues/default', { max_attempts: 2 })
    const { id } = await create()
    for (const status of ['open', 'cancelled']) {
      expect(await post(`/${id}/dispatch`)).toMatchObject({ status: 200 })
      const sid = `CA-out-${dialled().length}`
      await test.db.updateTable('call_logs').set({ error_code: 'process_full' }).where('call_sid', '=', sid).execute()
      expect(await ended(id, { CallStatus: 'completed' })).toMatchObject({ status, disposition: 'failed' })
    }
  })

  const resume = async () => {
    const form = { CallSid: 'CA-out-1', AccountSid: ACCOUNT.sid, Direction: 'outbound-api' }
    return (await app.post('/api/v1/call-resume', { form })).text
  }

  it.each([
    ['hears that the call cannot go on', null, '<Hangup/>', 'carrier_lost'],
    ['goes to the fallback number', FALLBACK, FALLBACK, 'transferred'],
  ])(
    'is tried again where the stream was lost for good before a word was said, and who answered %s',
    async (_what, number, said, end_reason) => {
      const { config } = await app.served.administer<{ config: { telephony: object } }>('GET', '/tenants/acme')
      const telephony = { ...config.telephony, auth_token: ACCOUNT.token, fallback_number: number }
      await app.served.administer('PUT', '/tenants/acme', { ...config, telephony })
      const { id } = await create()
      await post(`/${id}/dispatch`)
      const client = await pickUp()
      client.terminate()
      await app.pass(async () => (await resume()).includes(said), 'the stream to be given up')
      expect(await ended(id, { CallStatus: 'completed' })).toMatchObject({ status: 'open', disposition: 'failed' })
      const how = test.db.selectFrom('voice_sessions').select(['end_reason'])
      expect(await how.execute()).toEqual([{ end_reason }])
    },
  )

  it('places one call, however many ask at once', async () => {
    const { id } = await create()
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(`/${id}/dispatch`)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(409)])
    expect(dialled()).toHaveLength(1)
    expect(await test.db.selectFrom('call_logs').select('id').execute()).toHaveLength(1)
  })

  it('does not ring who has a call with us, until that is over', async () => {
    const [first, second] = [await create(), await create()]
    await post(`/${first.id}/dispatch`)
    const { status, body } = await post(`/${second.id}/dispatch`, { operator: 'ann' })
    expect([status, body]).toMatchObject([
      409,
      { code: 'conflict', error: expect.stringMatching(/has a call with you now/) },
    ])
    expect(await read(second.id)).toEqual(second)
    await ended(first.id, { CallStatus: 'busy' })
    expect(await post(`/${second.id}/dispatch`, { operator: 'ann' })).toMatchObject({ status: 200 })
    expect(dialled()).toHaveLength(2)
  })

  it('says how long it is not known whether a call of before was placed', async () => {
    const [first, second] = [await create(), await create()]
    app.rest.reply = ({ path }) =>
      path.endsWith('/Calls.json')
        ? { status: 500, body: {} }
        : { status: 200, body: { calls: [], next_page_uri: null } }
    expect(await post(`/${first.id}/dispatch`)).toMatchObject({ status: 503, body: { code: 'submission_unknown' } })
    const error = expect.stringContaining('in some two minutes, or an hour')
    expect(await post(`/${second.id}/dispatch`)).toMatchObject({ status: 409, body: { code: 'conflict', error } })
  })

  it('leaves the last word to who completes it during the call', async () => {
    const { id } = await create()
    await post(`/${id}/dispatch`)
    await post(`/${id}/complete`, { disposition: 'wrong_number', operator: 'ann' })
    await app.post('/api/v1/call-status', {
      form: { CallSid: 'CA-out-1', AccountSid: ACCOUNT.sid, CallStatus: 'busy' },
    })
    await app.pass(async () => (await read(id))['last_dispatch_status'] === 'busy', 'the end of the call to be noted')
    expect(await read(id)).toMatchObject({ status: 'completed', disposition: 'wrong_number' })
  })

  it('changes nothing when the gate refuses it, and tells all that speaks against this call', async () => {
    const { config } = await app.served.administer<{ config: { compliance: object } }>('GET', '/tenants/acme')
    const compliance = { ...config.compliance, require_consent: true }
    await app.served.administer('PUT', '/tenants/acme', { ...config, compliance })
    await app.served.call('acme', 'POST', '/dnc', { phone: CALLER })
    for (const [metadata, codes] of [
      [{ order: 7 }, ['dnc_listed', 'consent_missing']],
      [{ consent: true }, ['dnc_listed']],
    ] as const) {
      const task = await create({ metadata })
      const { status, body } = await post(`/${task.id}/dispatch`)
      expect([status, body.code, body.refusals?.map(({ code }) => code)]).toEqual([409, 'dnc_listed', codes])
      expect(await read(task.id)).toEqual(task)
    }
    expect(dialled()).toEqual([])
  })

  it('counts as an attempt when the carrier refuses it', async () => {
    const { id } = await create()
    app.rest.reply = () => ({ status: 400, body: { code: 21_211, message: 'Invalid To' } })
    expect(await post(`/${id}/dispatch`)).toMatchObject({ status: 400, body: { code: 'carrier_rejected' } })
    expect(await read(id)).toMatchObject({ status: 'open', disposition: 'failed', dispatch_attempt_count: 1 })
  })

  // The embedded database has one transaction at a time.
  it.runIf(inject('databaseTemplate').kind === 'server')(
    'is refused in good time, whatever of another tenant is held',
    async () => {
      const from = '+12025550141'
      await app.served.furnish('other', {
        number: from,
        document: { ...ALWAYS, telephony: { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, from_number: from } },
      })
      await app.served.administer('PUT', '/tenants/other/operator-queues/default', { dispatch_agent_key: 'desk' })
      const asOther = (path: string, body: object = {}) =>
        app.served.call<Answer>('other', 'POST', `/callback-tasks${path}`, body)
      const { task } = (await asOther('', { customer_phone: CALLER })).body
      for (const customer_phone of [CALLER, OTHER]) await post(`/${(await create({ customer_phone })).id}/dispatch`)
      await test.db.transaction().execute(async (tx) => {
        await sql`select from callback_task_dispatches where tenant_id = 'acme' for update`.execute(tx)
        for (const sid of ['CA-out-1', 'CA-out-2']) {
          const form = { CallSid: sid, AccountSid: ACCOUNT.sid, CallStatus: 'busy' }
          expect(await app.post('/api/v1/call-status', { form })).toMatchObject({ status: 200 })
        }
        app.rest.reply = () => ({ status: 400, body: { code: 21_211, message: 'Invalid To' } })
        const askedMs = performance.now()
        expect(await asOther(`/${task.id}/dispatch`)).toMatchObject({ status: 400, body: { code: 'carrier_rejected' } })
        expect(performance.now() - askedMs).toBeLessThan(10_000)
      })
    },
  )

  it.each([
    ['carrier_credentials', { status: 401, body: { code: 20_003, message: 'Authenticate' } }],
    ['carrier_busy', { status: 429, body: { code: 20_429, message: 'Too Many Requests' } }],
  ])('counts for none, however often, while the carrier takes no call (%s)', async (code, reply) => {
    await app.served.administer('PUT', '/tenants/acme/operator-queues/default', { max_attempts: 1 })
    const { id } = await create()
    const usual = app.rest.reply
    app.rest.reply = () => reply
    for (let times = 0; times < 2; times += 1) {
      let answer: Awaited<ReturnType<typeof post>> | null = null
      void post(`/${id}/dispatch`).then((given) => {
        answer = given
      })
      await app.pass(() => answer, 'the answer')
      expect(answer).toMatchObject({ status: 503, body: { code } })
      const task = await read(id)
      expect(task).toMatchObject({ status: 'open', disposition: 'failed', dispatch_attempt_count: 0 })
      expect(Date.parse(String(task['due_at'])) - app.clock.now()).toBeGreaterThan(29 * MINUTE_MS)
    }
    app.rest.reply = usual
    expect(await post(`/${id}/dispatch`)).toMatchObject({ status: 200 })
    expect(await ended(id, { CallStatus: 'busy' })).toMatchObject({ status: 'cancelled', dispatch_attempt_count: 1 })
  })

  it('counts for none while the carrier cannot be reached', async () => {
    await app.served.administer('PUT', '/tenants/acme/operator-queues/default', { max_attempts: 1 })
    const { id } = await create()
    await app.rest.close()
    const answer = await post(`/${id}/dispatch`)
    expect(answer).toMatchObject({ status: 503, body: { code: 'carrier_unreachable' } })
    expect(await read(id)).toMatchObject({ status: 'open', disposition: 'failed', dispatch_attempt_count: 0 })
  })

  it.each([
    ['has no agent any more', 'gone'],
    ["was the tenant's own agent's, which it has no more", null],
  ])("speaks as the route does where the queue's agent cannot, and the task's call %s", async (_what, agentKey) => {
    await nobodySpeaksForSales()
    await post(`/${(await create()).id}/dispatch`)
    await test.db.updateTable('call_logs').set({ agent_key: agentKey }).where('call_sid', '=', 'CA-out-1').execute()
    const { id } = await create({ customer_phone: OTHER, queue_key: 'sales', call_sid: 'CA-out-1' })
    expect(await post(`/${id}/dispatch`)).toMatchObject({ status: 200 })
    expect(await speakerOf('CA-out-2')).toBe('desk')
  })

  it("speaks as the task's call did where the queue's agent cannot, rather than as the tenant's own agent", async () => {
    await post(`/${(await create()).id}/dispatch`)
    const { config } = await app.served.administer<{ config: object }>('GET', '/tenants/acme')
    await app.served.administer('PUT', '/tenants/acme', { ...config, agent: { instructions: 'Be brief.' } })
    await nobodySpeaksForSales()
    const { id } = await create({ customer_phone: OTHER, queue_key: 'sales', call_sid: 'CA-out-1' })
    expect(await post(`/${id}/dispatch`)).toMatchObject({ status: 200 })
    expect(await speakerOf('CA-out-2')).toBe('desk')
  })

  it('needs somebody who speaks', async () => {
    await test.db.updateTable('phone_routes').set({ outbound_default: false }).execute()
    const { id } = await create()
    expect(await post(`/${id}/dispatch`)).toMatchObject({ status: 409, body: { code: 'no_agent' } })
    expect(await read(id)).toMatchObject({ status: 'open', dispatch_attempt_count: 0 })
  })
})
