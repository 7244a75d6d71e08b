import { type RawBuilder, sql } from 'kysely'
import { beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import { storedEvents } from '../src/records/calls.fixture.ts'
import { CALLER, NUMBER, streamTokenIn, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { passing } from './harness/passing.ts'
import type { ScriptedSession } from './harness/scripted-model.ts'
import { ACCOUNT, ServedApp } from './harness/served-app.ts'
import { StreamClient } from './harness/stream-client.ts'
import { until } from './harness/wait.ts'

type Shown = Record<string, unknown>
type Campaign = { id: string; status: string; contacts: Record<string, number> } & Shown
type Answer = {
  ok: boolean
  code?: string
  error?: string
  details?: unknown
  campaign: Campaign
  errors: { at: number; error: string }[]
}
type Contact = { phone: string; status: string; outcome: string | null; attempts: number } & Shown

const MINUTE_MS = 60_000
const ALWAYS = { compliance: { calling_hours: { start: '00:00', end: '24:00' } } }
const phone = (n: number) => `+1202555${2_000 + n}`
const people = (count: number) => Array.from({ length: count }, (_, n) => ({ phone: phone(n) }))

describe('a campaign', { timeout: 120_000 }, () => {
  const test = useDatabase()
  const app = useCallApp(test, {
    document: ALWAYS,
    agent: { voicemail: { action: 'leave_message', message: 'Please call us back.' } },
  })
  const dialled = () => app.rest.requests.filter(({ path }) => path.endsWith('/Calls.json'))
  const sidOf = (to: string) => `CA-${to.slice(1)}-${dialled().filter(({ form }) => form['To'] === to).length}`

  beforeEach(() => {
    app.rest.reply = ({ path, form }) =>
      path.endsWith('/Calls.json')
        ? { status: 201, body: { sid: sidOf(String(form['To'])), status: 'queued' } }
        : { status: 200, body: {} }
  })

  const pass = <T>(condition: () => T | Promise<T>, what: string) =>
    passing(app.clock, condition, { what, stepMs: 500, timeoutMs: 90_000 })
  const post = (path: string, body?: unknown, tenant: string | null = 'acme') =>
    app.served.call<Answer>(tenant, 'POST', `/campaigns${path}`, body)
  const wanted = (facts: Shown = {}) => ({
    name: 'Spring',
    agent_key: 'desk',
    from: NUMBER,
    contacts: people(1),
    ...facts,
  })
  const read = async (id: string) => (await app.served.call<Answer>('acme', 'GET', `/campaigns/${id}`)).body.campaign
  const contacts = async (id: string) => {
    const { body } = await app.served.call<{ calls: Contact[] }>('acme', 'GET', `/campaigns/${id}/calls?limit=500`)
    // The last of the list comes first.
    return body.calls.toReversed()
  }

  async function started(facts: Shown = {}): Promise<string> {
    const { status, body } = await post('', wanted(facts))
    expect([status, body.error]).toEqual([200, undefined])
    expect((await post(`/${body.campaign.id}/start`)).body.campaign.status).toBe('running')
    return body.campaign.id
  }

  /** The carrier says how the newest call to a number ended, once it was placed. */
  async function ended(to: string, form: Record<string, string>): Promise<void> {
    const sid = sidOf(to)
    const told = { CallSid: sid, AccountSid: ACCOUNT.sid, ...form }
    await pass(async () => (await logOf(sid)) !== null, `the log of ${sid}`)
    expect(await app.post('/api/v1/call-status', { form: told })).toMatchObject({ status: 200 })
  }

  async function logOf(sid: string): Promise<Shown | null> {
    const { status, body } = await app.served.call<{ call_log: Shown }>('acme', 'GET', `/call-logs/${sid}`)
    return status === 200 ? body.call_log : null
  }

  /** Somebody answers, and the stream begins. */
  async function answered(to: string): Promise<ScriptedSession> {
    const sid = sidOf(to)
    await pass(async () => (await logOf(sid)) !== null, `the log of ${sid}`)
    const dial = dialled().find(({ form }) => form['To'] === to)?.form['Url'] ?? ''
    const form = { CallSid: sid, AccountSid: ACCOUNT.sid, From: NUMBER, To: to, CallStatus: 'in-progress' }
    const { text } = await app.post(new URL(dial).pathname, { form })
    const [client, before] = [await StreamClient.open(app.served.address), app.model.sessions.length]
    client.start({ callSid: sid, streamSid: `MZ${sid}`, parameters: { stream_token: streamTokenIn(text) } })
    return until(() => app.model.sessions[before], { what: 'the session to begin' })
  }

  /** There is no model, or no more of it. */
  const lose = (model: ScriptedSession) =>
    model.tell({ type: 'closed', code: 'insufficient_quota', message: 'No more of it.', fault: 'fatal' })

  const placed = (count: number) => pass(() => dialled().length >= count, `${count} calls`)
  const reached = (id: string, status: string) =>
    pass(async () => (await read(id)).status === status, `the campaign to be ${status}`)
  const allDialled = () => dialled().map(({ form }) => form['To'])

  it('calls everybody, notes what came of it, and is over then', async () => {
    const webhook = { url: 'http://127.0.0.1:9/hook', events: ['campaign.started', 'campaign.completed'] }
    const stored = await app.served.administer<{ config: Shown }>('GET', '/tenants/acme')
    await app.served.administer('PUT', '/tenants/acme', { ...stored.config, webhook })
    const id = await started({ contacts: [{ phone: phone(0), metadata: { order: 7 } }, { phone: phone(1) }] })
    await placed(2)
    const log = await pass(() => logOf(sidOf(phone(0))), 'the log of the call')
    expect(log).toMatchObject({ campaign_id: id, metadata: { order: 7 }, agent_key: 'desk' })
    await ended(phone(0), { CallStatus: 'completed', AnsweredBy: 'human' })
    await ended(phone(1), { CallStatus: 'completed' })
    await reached(id, 'completed')
    expect(await contacts(id)).toMatchObject([
      { phone: phone(0), status: 'completed', outcome: 'reached', attempts: 1, call_status: 'completed' },
      { phone: phone(1), status: 'completed', outcome: 'reached', attempts: 1 },
    ])
    expect(await read(id)).toMatchObject({ contacts: { total: 2, completed: 2, pending: 0 }, status_reason: null })
    const events = await storedEvents(test.db)
    expect(events.map(({ event }) => event).toSorted()).toEqual(['campaign.completed', 'campaign.started'])
  })

  it('calls again who was called in vain, later each time, and not for ever', async () => {
    const id = await started({ max_attempts: 3, retry_minutes: [10, 20], on_machine: 'hang_up' })
    const inVain = [
      [{ CallStatus: 'busy' }, 10],
      [{ CallStatus: 'completed', AnsweredBy: 'machine_start' }, 20],
    ] as const
    for (const [index, [form, minutes]] of inVain.entries()) {
      await placed(index + 1)
      const beforeMs = app.clock.now()
      await ended(phone(0), form)
      const [contact] = await pass(async () => {
        const found = await contacts(id)
        return found[0]?.status === 'pending' ? found : null
      }, 'the contact to wait')
      expect(Date.parse(String(contact?.['due_at'])) - beforeMs).toBeGreaterThanOrEqual(minutes * MINUTE_MS)
      await app.clock.advance(minutes * MINUTE_MS)
    }
    await placed(3)
    await ended(phone(0), { CallStatus: 'no-answer' })
    await reached(id, 'completed')
    expect(await contacts(id)).toMatchObject([{ status: 'failed', outcome: 'no_answer', attempts: 3 }])
  })

  it('calls no faster than it may', async () => {
    const startMs = app.clock.now()
    await started({ contacts: people(4), calls_per_second: 0.1 })
    await placed(2)
    // In steps: all at once it would pass before the service has looked whether somebody may be called.
    expect(app.clock.now() - startMs).toBeGreaterThanOrEqual(10_000)
  })

  it('calls no faster than it may where it is paused and started between two calls', async () => {
    const startMs = app.clock.now()
    const id = await started({ contacts: people(4), calls_per_second: 0.1 })
    await placed(1)
    for (let n = 0; n < 4; n += 1) {
      for (const move of ['pause', 'start']) expect(await post(`/${id}/${move}`)).toMatchObject({ status: 200 })
      const untilMs = app.clock.now() + 2_000
      await pass(() => app.clock.now() >= untilMs || dialled().length > 1, 'two seconds to pass')
    }
    await placed(2)
    expect(app.clock.now() - startMs).toBeGreaterThanOrEqual(10_000)
  })

  it('has no more calls at once than it may', async () => {
    const id = await started({ contacts: people(3), max_concurrent: 1, calls_per_second: 20 })
    await placed(1)
    for (let n = 0; n < 20; n += 1) await app.clock.advance(1_000)
    expect(dialled()).toHaveLength(1)
    await ended(phone(0), { CallStatus: 'completed' })
    await placed(2)
    expect((await read(id)).contacts).toMatchObject({ completed: 1, dialing: 1, pending: 1 })
  })

  it('passes by whom it must not call', async () => {
    await app.served.call('acme', 'POST', '/dnc', { phone: phone(0) })
    const id = await started({ contacts: people(2) })
    await placed(1)
    await ended(phone(1), { CallStatus: 'completed' })
    await reached(id, 'completed')
    expect(allDialled()).toEqual([phone(1)])
    expect(await contacts(id)).toMatchObject([
      { status: 'refused', outcome: 'dnc_listed', attempts: 0, call_sid: null },
      { status: 'completed' },
    ])
  })

  it('waits for the end of a call that the tenant has with a contact, and calls the others meanwhile', async () => {
    await app.talk({ CallSid: 'CA-in', From: phone(0) })
    const waiting = await started({ contacts: people(2) })
    await placed(1)
    const [inCall] = await pass(async () => {
      const found = await contacts(waiting)
      return Date.parse(String(found[0]?.['due_at'])) > app.clock.now() ? found : null
    }, 'the contact to be put off')
    expect(inCall).toMatchObject({ status: 'pending', outcome: null, attempts: 0 })
    expect(allDialled()).toEqual([phone(1)])
    await app.post('/api/v1/call-status', {
      form: { CallSid: 'CA-in', AccountSid: ACCOUNT.sid, CallStatus: 'completed' },
    })
    await ended(phone(1), { CallStatus: 'completed' })
    await placed(2)
    expect(allDialled()).toEqual([phone(1), phone(0)])
  })

  it('is not the second to ring a number that another one is calling', async () => {
    const both = [await started(), await started()]
    await placed(1)
    const [waits, calls] = await pass(async () => {
      const found = (await Promise.all(both.map(contacts))).flat()
      const statuses = found.map(({ status }) => status).toSorted()
      const isPutOff = found.some(({ due_at }) => Date.parse(String(due_at)) > app.clock.now())
      return isPutOff ? statuses : null
    }, 'one of the contacts to be put off')
    expect([calls, waits]).toEqual(['pending', 'dialing'])
    await ended(phone(0), { CallStatus: 'completed' })
    await placed(2)
  })

  it('waits for the hours in which it may call, its own and the tenant’s', async () => {
    // It is midnight in UTC, seven in the evening of the day before in Washington.
    const id = await started({ calling_hours: { start: '19:37', end: '19:52' } })
    const [contact] = await pass(async () => {
      const found = await contacts(id)
      return found[0]?.outcome === 'outside_calling_hours' ? found : null
    }, 'the contact to be put off')
    expect(dialled()).toEqual([])
    expect(contact?.['due_at']).toBe('2030-01-01T00:37:00.000Z')
    await app.clock.advance(Date.parse('2030-01-01T00:37:30.000Z') - app.clock.now())
    await placed(1)
  })

  /** The tenant has other calling hours from now on. */
  async function during(start: string, end: string): Promise<void> {
    const { config } = await app.served.administer<{ config: Shown }>('GET', '/tenants/acme')
    await app.served.administer('PUT', '/tenants/acme', { ...config, compliance: { calling_hours: { start, end } } })
  }

  it('calls who waited for hours that are others now, once it is started again', async () => {
    await during('08:00', '12:00')
    const id = await started()
    await pass(async () => (await contacts(id))[0]?.outcome === 'outside_calling_hours', 'the contact to be put off')
    await during('00:00', '24:00')
    for (const move of ['pause', 'start']) expect((await post(`/${id}/${move}`)).status).toBe(200)
    await placed(1)
  })

  it('stops by itself where its hours and the tenant’s never meet, and gives nobody up for them', async () => {
    await during('08:00', '12:00')
    const id = await started({ contacts: people(2), calling_hours: { start: '13:00', end: '20:00' } })
    await reached(id, 'paused_by_breaker')
    expect(await read(id)).toMatchObject({
      status_reason: expect.stringContaining('calling_hours'),
      completed_at: null,
    })
    expect(await contacts(id)).toMatchObject(Array(2).fill({ status: 'pending', attempts: 0 }))
    await during('00:00', '24:00')
    expect((await post(`/${id}/start`)).body.campaign).toMatchObject({ status: 'running', status_reason: null })
    await placed(2)
  })

  it('is over with who may be in zones so far apart that no hours leave any time', async () => {
    await during('08:00', '12:00')
    const id = await started({ contacts: [{ phone: '+79161234567' }], calling_hours: { start: '09:00', end: '17:00' } })
    await reached(id, 'completed')
    expect(await contacts(id)).toMatchObject([{ status: 'refused', outcome: 'outside_calling_hours', attempts: 0 }])
  })

  it('starts when it is to', async () => {
    const startMs = app.clock.now() + 60_000
    await started({ start_at: new Date(startMs).toISOString() })
    await passing(app.clock, () => dialled().length > 0, { what: 'the first call', stepMs: 2_000 })
    expect(app.clock.now()).toBeGreaterThanOrEqual(startMs)
  })

  it('is paused, goes on, and is cancelled', async () => {
    const { id } = (await post('', wanted({ contacts: people(3), calls_per_second: 0.1 }))).body.campaign
    const notRunning = { code: 'conflict', error: 'The campaign is draft: to pause it, it must be running.' }
    expect(await post(`/${id}/pause`)).toMatchObject({ status: 409, body: notRunning })
    await post(`/${id}/start`)
    await placed(1)
    expect((await post(`/${id}/pause`)).body.campaign.status).toBe('paused')
    const untilMs = app.clock.now() + 20_000
    await pass(() => app.clock.now() >= untilMs, 'the pace of two calls to pass')
    expect(dialled()).toHaveLength(1)
    expect((await post(`/${id}/start`)).body.campaign.status).toBe('running')
    await placed(2)
    expect((await post(`/${id}/cancel`)).body.campaign).toMatchObject({
      status: 'cancelled',
      contacts: { cancelled: 1, dialing: 2 },
    })
    await ended(phone(0), { CallStatus: 'busy' })
    await ended(phone(1), { CallStatus: 'completed' })
    await pass(async () => (await read(id)).contacts['dialing'] === 0, 'the last calls to be noted')
    expect((await read(id)).contacts).toMatchObject({ cancelled: 2, completed: 1 })
    for (const move of ['start', 'pause', 'cancel']) expect((await post(`/${id}/${move}`)).status).toBe(409)
    expect(dialled()).toHaveLength(2)
  })

  it('stops by itself when half of its calls fail, and goes on when it is told to', async () => {
    const id = await started({ contacts: people(8), calls_per_second: 20, max_concurrent: 6 })
    await placed(6)
    for (const n of [0, 1, 2]) await ended(phone(n), { CallStatus: 'completed' })
    for (const n of [3, 4, 5]) await ended(phone(n), { CallStatus: 'failed', ErrorCode: n < 5 ? '32009' : '13224' })
    await reached(id, 'paused_by_breaker')
    expect((await read(id))['status_reason']).toMatch(/failed for technical reasons \(32009, 13224\): start it again/)
    await app.clock.advance(120_000)
    const before = dialled().length
    expect(before).toBeLessThanOrEqual(8)
    expect((await post(`/${id}/start`)).body.campaign).toMatchObject({ status: 'running', status_reason: null })
  })

  /** The tenant is told of the ends of campaigns. */
  async function telling(): Promise<void> {
    const { config } = await app.served.administer<{ config: Shown }>('GET', '/tenants/acme')
    const webhook = { url: 'http://127.0.0.1:9/hook', events: ['campaign.completed'] }
    await app.served.administer('PUT', '/tenants/acme', { ...config, webhook })
  }
  const told = async () => (await storedEvents(test.db)).map(({ event }) => event)

  it('is over with the last of its calls, also where it was paused meanwhile, and told so once', async () => {
    await telling()
    const id = await started({ contacts: people(2), calls_per_second: 20 })
    await placed(2)
    await post(`/${id}/pause`)
    await ended(phone(0), { CallStatus: 'completed' })
    await pass(async () => (await read(id)).contacts['completed'] === 1, 'the first call to be noted')
    expect((await read(id)).status).toBe('paused')
    await ended(phone(1), { CallStatus: 'completed' })
    await reached(id, 'completed')
    expect((await read(id))['completed_at']).not.toBeNull()
    expect((await post(`/${id}/start`)).status).toBe(409)
    await app.clock.advance(5_000)
    expect(await told()).toEqual(['campaign.completed'])
  })

  it('is over, and not stopped, when nobody is left of whom half have failed', async () => {
    await telling()
    const id = await started({ contacts: people(5), calls_per_second: 20, max_attempts: 1 })
    await placed(5)
    for (const n of [0, 1, 2, 3, 4]) await ended(phone(n), { CallStatus: 'failed' })
    await reached(id, 'completed')
    expect(await read(id)).toMatchObject({ status_reason: null, contacts: { failed: 5 } })
    expect(await told()).toEqual(['campaign.completed'])
  })

  /** So many are called at once; no time goes on any more for what is not known of their calls. */
  async function knownAsPlaced(count: number): Promise<void> {
    await placed(count)
    for (const { phone: to } of people(count))
      await pass(async () => (await logOf(sidOf(to))) !== null, `the log of the call to ${to}`)
  }

  it('has reached nobody by calls in which no agent could talk, and stops by itself after some', async () => {
    const id = await started({ contacts: people(8), calls_per_second: 20, max_concurrent: 5, max_attempts: 2 })
    await knownAsPlaced(5)
    for (const n of [0, 1, 2, 3, 4]) {
      lose(await answered(phone(n)))
      await ended(phone(n), { CallStatus: 'completed' })
    }
    // Taken note of all at once: the breaker needs five.
    const over = test.db.selectFrom('voice_sessions').select('id').where('ended_at', 'is not', null)
    await until(async () => (await over.execute()).length === 5, { what: 'the ends to be written down' })
    await reached(id, 'paused_by_breaker')
    const called = (await contacts(id)).filter(({ attempts }) => attempts > 0)
    expect(called.map(({ status, outcome }) => [status, outcome])).toEqual(Array(5).fill(['pending', 'failed']))
  })

  /** The five who were called first, once what became of each was noted: with three of them there is room for all others. */
  function firstNoted(id: string): Promise<Contact[]> {
    return pass(async () => {
      const called = (await contacts(id)).slice(0, 5)
      return called.some(({ status }) => status === 'dialing') ? null : called
    }, 'the first calls to be noted')
  }

  it('does not stop for calls that ended with our own process, whose contacts are called again', async () => {
    const id = await started({ contacts: people(8), calls_per_second: 20, max_concurrent: 5, max_attempts: 2 })
    await knownAsPlaced(5)
    for (const n of [0, 1, 2, 3, 4]) await answered(phone(n))
    const lost = { ended_at: new Date(app.clock.now()), end_reason: 'process_lost' as const }
    await test.db.updateTable('voice_sessions').set(lost).execute()
    const over = { status: 'completed' as const, ended_at: lost.ended_at }
    await test.db.updateTable('call_logs').set(over).execute()
    await placed(8)
    const called = await firstNoted(id)
    expect(called.map(({ status, outcome }) => [status, outcome])).toEqual(Array(5).fill(['pending', 'failed']))
    expect((await read(id)).status).toBe('running')
  })

  it('does not stop for calls that were answered while our own process stopped', async () => {
    const id = await started({ contacts: people(8), calls_per_second: 20, max_concurrent: 5, max_attempts: 2 })
    // That they are would be written over their end.
    await knownAsPlaced(5)
    const at = new Date(app.clock.now())
    await test.db.transaction().execute(async (tx) => {
      await tx.updateTable('voice_sessions').set({ ended_at: at, end_reason: 'rejected' }).execute()
      await tx.updateTable('call_logs').set({ status: 'completed', error_code: 'stopping', ended_at: at }).execute()
    })
    await placed(8)
    const called = await firstNoted(id)
    expect(called.map(({ status, outcome }) => [status, outcome])).toEqual(Array(5).fill(['pending', 'failed']))
    expect((await read(id)).status).toBe('running')
  })

  it('has reached whoever had a word with the agent before it was lost', async () => {
    const id = await started()
    await placed(1)
    const model = await answered(phone(0))
    model.tell({ type: 'caller_transcript', itemId: 'item_1', text: 'Hello?' })
    lose(model)
    await ended(phone(0), { CallStatus: 'completed' })
    await reached(id, 'completed')
    expect(await contacts(id)).toMatchObject([{ status: 'completed', outcome: 'reached' }])
  })

  it('has not reached who had not said a word when the service stopped', async () => {
    const id = await started()
    await placed(1)
    await answered(phone(0))
    await test.db.updateTable('voice_sessions').set({ ended_at: new Date(), end_reason: 'shutdown' }).execute()
    const over = { status: 'completed' as const, ended_at: new Date(app.clock.now()) }
    await test.db.updateTable('call_logs').set(over).execute()
    await pass(async () => (await contacts(id))[0]?.status !== 'dialing', 'the call to be noted')
    expect(await contacts(id)).toMatchObject([{ status: 'pending', outcome: 'failed' }])
  })

  it('waits for what came of the conversation before it says whom it has reached', async () => {
    const id = await started({ max_attempts: 1 })
    await placed(1)
    const model = await answered(phone(0))
    // As another node would write it down, whom the carrier has told.
    const over = { status: 'completed' as const, ended_at: new Date(app.clock.now()) }
    await test.db.updateTable('call_logs').set(over).execute()
    await app.clock.advance(5_000)
    expect(await contacts(id)).toMatchObject([{ status: 'dialing' }])
    lose(model)
    await reached(id, 'completed')
    expect(await contacts(id)).toMatchObject([{ status: 'failed', outcome: 'failed' }])
  })

  it('stops by itself when nobody can speak any more', async () => {
    const { body } = await post('', wanted())
    await test.db.updateTable('campaigns').set({ agent_key: 'gone' }).execute()
    await post(`/${body.campaign.id}/start`)
    await reached(body.campaign.id, 'paused_by_breaker')
    expect(await read(body.campaign.id)).toMatchObject({ status_reason: expect.stringContaining('agent_key') })
    expect(dialled()).toEqual([])
  })

  it('stops by itself when its tenant has no carrier account any more, and says so', async () => {
    const { config } = await app.served.administer<{ config: Shown }>('GET', '/tenants/acme')
    const telephony = { ...(config['telephony'] as Shown), account_sid: null, auth_token: null }
    expect(await app.served.administer('PUT', '/tenants/acme', { ...config, telephony })).toMatchObject({ ok: true })
    const id = await started()
    await reached(id, 'paused_by_breaker')
    expect(await read(id)).toMatchObject({ status_reason: expect.stringContaining('no carrier account') })
  })

  it('leaves a message on a machine where it is to, and is done with that', async () => {
    const id = await started({ on_machine: 'leave_message' })
    await placed(1)
    expect(dialled()[0]?.form).toMatchObject({ MachineDetection: 'DetectMessageEnd' })
    await ended(phone(0), { CallStatus: 'completed', AnsweredBy: 'machine_end_beep' })
    await reached(id, 'completed')
    expect(await contacts(id)).toMatchObject([{ status: 'completed', outcome: 'message_left' }])
  })

  it('calls a mailbox again whose call was over before the message', async () => {
    const id = await started({ on_machine: 'leave_message' })
    await placed(1)
    const heard = { answered_by: 'machine_start', answered_by_source: 'words' as const }
    await test.db.updateTable('call_logs').set(heard).where('to', '=', phone(0)).execute()
    await ended(phone(0), { CallStatus: 'completed' })
    await pass(async () => (await contacts(id))[0]?.outcome === 'voicemail', 'the outcome')
    expect(await contacts(id)).toMatchObject([{ status: 'pending', outcome: 'voicemail' }])
  })

  it('calls a mailbox again whose call lost its process before the message', async () => {
    const id = await started({ on_machine: 'leave_message' })
    await placed(1)
    const model = await answered(phone(0))
    model.tell({ type: 'caller_transcript', itemId: 'item_1', text: 'I am not at home, speak behind the beep.' })
    const turns = () => test.db.selectFrom('transcript_turns').select('text').where('role', '=', 'caller').execute()
    await pass(async () => (await turns()).length > 0, 'what the mailbox says')
    // As other nodes write it down: the one that its carrier has told who answered, and the one that finds its process gone.
    const heard = { answered_by: 'machine_end_beep', answered_by_source: 'carrier' as const }
    const over = { status: 'completed' as const, ended_at: new Date(app.clock.now()) }
    await test.db.updateTable('voice_sessions').set({ ended_at: over.ended_at, end_reason: 'process_lost' }).execute()
    await test.db
      .updateTable('call_logs')
      .set({ ...over, ...heard })
      .execute()
    await pass(async () => (await contacts(id))[0]?.status !== 'dialing', 'the call to be noted')
    expect(await contacts(id)).toMatchObject([{ status: 'pending', outcome: 'voicemail' }])
  })

  it('does not call again a number that the carrier will not call', async () => {
    app.rest.reply = () => ({ status: 400, body: { code: 21_211, message: 'The number is not valid.', status: 400 } })
    const id = await started()
    await reached(id, 'completed')
    expect(await contacts(id)).toMatchObject([{ status: 'failed', outcome: 'rejected', attempts: 1 }])
  })

  it('counts no attempt while the carrier refuses the account', async () => {
    const usual = app.rest.reply
    app.rest.reply = () => ({ status: 401, body: { code: 20_003, message: 'Authenticate', status: 401 } })
    const id = await started({ max_attempts: 1, retry_minutes: [10] })
    const waiting = async () => (await contacts(id))[0]?.outcome === 'failed'
    await pass(waiting, 'the call to be given up')
    expect(await contacts(id)).toMatchObject([{ status: 'pending', attempts: 0 }])
    const dueMs = Date.parse(String((await contacts(id))[0]?.['due_at']))
    expect(dueMs - app.clock.now()).toBeGreaterThan(9 * MINUTE_MS)
    app.rest.reply = usual
    const before = dialled().length
    await app.clock.advance(10 * MINUTE_MS)
    await placed(before + 1)
    const told = { CallSid: sidOf(phone(0)), AccountSid: ACCOUNT.sid, CallStatus: 'no-answer' }
    await pass(async () => (await logOf(told.CallSid)) !== null, 'the log')
    await app.post('/api/v1/call-status', { form: told })
    await reached(id, 'completed')
    expect(await contacts(id)).toMatchObject([{ status: 'failed', outcome: 'no_answer', attempts: 1 }])
  })

  it('calls nobody twice, however many nodes work on it', async () => {
    const other = await ServedApp.start(test, {
      ...{ clock: app.clock, model: app.model, besides: app.served },
      settings: { TELEPHONY_API_BASE_URL: app.rest.baseUrl },
    })
    let isClosed = false
    onTestFinished(async () => {
      void other.app.close().then(() => {
        isClosed = true
      })
      await pass(() => isClosed, 'the other node to stop')
    })
    await started({ contacts: people(30), calls_per_second: 20, max_concurrent: 500 })
    await placed(30)
    for (let n = 0; n < 20; n += 1) await app.clock.advance(1_000)
    expect(allDialled().toSorted()).toEqual(people(30).map((one) => one.phone))
  })

  it('goes on where a node died between taking a contact and calling', async () => {
    const { body } = await post('', wanted())
    const claimed = {
      claim_token: '0190a000-0000-7000-8000-000000000000',
      claimed_until: new Date(app.clock.now() + 60_000),
    }
    await test.db.updateTable('campaign_contacts').set(claimed).execute()
    await post(`/${body.campaign.id}/start`)
    await passing(app.clock, () => dialled().length > 0, { what: 'the call', stepMs: 2_000 })
    expect(app.clock.now()).toBeGreaterThanOrEqual(claimed.claimed_until.getTime())
    expect(dialled()).toHaveLength(1)
  })

  it('does not call again while it is not known whether it did', async () => {
    app.rest.reply = ({ path, method }) =>
      path.endsWith('/Calls.json') && method === 'POST'
        ? { status: 500, body: {} }
        : { status: 200, body: { calls: [], next_page_uri: null } }
    const id = await started({ max_attempts: 1 })
    await pass(async () => (await contacts(id))[0]?.status === 'dialing', 'the contact to be called')
    const asked = () => dialled().filter(({ method }) => method === 'POST').length
    // A contact is being called before the carrier is asked, which has a time-out by this clock.
    await until(() => asked() === 1 && !app.rest.isAsked, { what: 'the carrier to have answered' })
    await app.clock.advance(20_000)
    expect([asked(), (await contacts(id))[0]?.status]).toEqual([1, 'dialing'])
    await reached(id, 'completed')
    expect(await contacts(id)).toMatchObject([{ status: 'failed', outcome: 'failed', attempts: 1 }])
    expect(asked()).toBe(1)
  })

  describe('is made', () => {
    it('of a list, whose bad contacts are told', async () => {
      const none = [{ metadata: { name: 'Ann' } }, { phone: null }, { phone: '5'.repeat(101) }]
      const list = [{ phone: phone(0) }, { phone: '123' }, { phone: phone(0) }, { phone: phone(1) }, ...none]
      const { status, body } = await post('', wanted({ contacts: list, from: undefined }))
      expect([status, body.campaign]).toMatchObject([
        200,
        {
          ...{ name: 'Spring', agent_key: 'desk', from: null, status: 'draft', calls_per_second: 1, max_concurrent: 5 },
          ...{ max_attempts: 3, retry_minutes: [30, 60, 120], on_machine: null, calling_hours: null, started_at: null },
          contacts: { total: 2, pending: 2 },
        },
      ])
      expect(body.errors).toEqual([
        { at: 2, error: 'phone must be a phone number in E.164, like +14155550100' },
        { at: 3, error: 'phone is that of the contact at 1: each number is called once' },
        ...[5, 6, 7].map((at) => ({ at, error: 'phone must be a phone number in E.164, like +14155550100' })),
      ])
    })

    it('of JSON or a CSV alone, and started by neither', async () => {
      const sent = async (path: string, type: string) => {
        const response = await fetch(`${app.served.address}/api/v1/campaigns${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${app.served.tokenOf('acme')}`, 'content-type': type },
          body: 'phone\n',
        })
        const { code, error } = (await response.json()) as Answer
        return [response.status, code, error]
      }
      const sentence = 'Send application/json, or the list of contacts as text/csv.'
      expect(await sent('?name=Spring&agent_key=desk', 'text/plain')).toEqual([415, 'unsupported_media_type', sentence])
      expect((await sent('/some-id/start', 'text/csv')).slice(0, 2)).toEqual([415, 'unsupported_media_type'])
    })

    it('of no CSV that is not in UTF-8, whose names would be spoilt', async () => {
      const response = await fetch(`${app.served.address}/api/v1/campaigns?name=Spring&agent_key=desk`, {
        method: 'POST',
        headers: { authorization: `Bearer ${app.served.tokenOf('acme')}`, 'content-type': 'text/csv' },
        body: Buffer.from(`phone,name\n${phone(0)},Müller\n`, 'latin1'),
      })
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { code: 'invalid_request', error: expect.stringContaining('save the list as CSV UTF-8') },
      ])
    })

    it('of a CSV, with what else there is to say in the query', async () => {
      const wrong = (at: number, what: string) => ({ at, error: expect.stringContaining(what) })
      const csv = `phone,name,consent\n${phone(0)},"Ann, B.",TRUE\n${phone(1)},Ben, C.,TRUE\nnobody,x,\n${'x'.repeat(101)},y,\n`
      const query = 'name=Spring&agent_key=desk&max_attempts=2&retry_minutes=5,10&calling_hours=09:00-17:00'
      const response = await fetch(`${app.served.address}/api/v1/campaigns?${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${app.served.tokenOf('acme')}`, 'content-type': 'text/csv' },
        body: csv,
      })
      const body = (await response.json()) as Answer
      expect([response.status, body]).toMatchObject([
        200,
        {
          errors: [wrong(3, 'more fields'), wrong(4, 'phone must be'), wrong(5, 'phone must be')],
          campaign: { max_attempts: 2, retry_minutes: [5, 10], calling_hours: { start: '09:00', end: '17:00' } },
        },
      ])
      expect(await contacts(body.campaign.id)).toMatchObject([
        { phone: phone(0), metadata: { name: 'Ann, B.', consent: true }, status: 'pending', outcome: null },
      ])
    })

    it('of a CSV, with a list in the query as clients write it: each part under its name', async () => {
      const query = 'name=Spring&agent_key=desk&retry_minutes=5&retry_minutes=10'
      const response = await fetch(`${app.served.address}/api/v1/campaigns?${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${app.served.tokenOf('acme')}`, 'content-type': 'text/csv' },
        body: `phone\n${phone(0)}\n`,
      })
      expect([response.status, await response.json()]).toMatchObject([200, { campaign: { retry_minutes: [5, 10] } }])
    })

    it('of a CSV, with the plus of a number and of a zone in the query as it is typed', async () => {
      const query = `name=Spring&agent_key=desk&from=${NUMBER}&start_at=2030-01-07T09:00:00+01:00`
      const response = await fetch(`${app.served.address}/api/v1/campaigns?${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${app.served.tokenOf('acme')}`, 'content-type': 'text/csv' },
        body: `phone\n${phone(0)}\n`,
      })
      expect([response.status, await response.json()]).toMatchObject([
        200,
        { campaign: { from: NUMBER, start_at: '2030-01-07T08:00:00.000Z' } },
      ])
    })

    it.each<[query: string, paths: string[]]>([
      ['agent_key=desk&max_attempts=many&pace=1', ['/query/name', '/query/max_attempts', '/query/pace']],
      ['name=Spring&agent_key=none', ['/query/agent_key']],
      [`name=Spring&agent_key=desk&from=${encodeURIComponent(CALLER)}`, ['/query/from']],
      ['name=Spring&agent_key=desk&calling_hours=09:00-09:00', ['/query/calling_hours']],
      ['name=Spring&agent_key=desk&calling_hours=09:00-12:00-13:00', ['/query/calling_hours/end']],
      ['name=Spring&agent_key=desk&calling_hours=09:00', ['/query/calling_hours/end']],
    ])('not of a CSV with ?%s: 400 that names the place in the query', async (query, paths) => {
      const response = await fetch(`${app.served.address}/api/v1/campaigns?${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${app.served.tokenOf('acme')}`, 'content-type': 'text/csv' },
        body: `phone\n${phone(0)}\n`,
      })
      const { details } = (await response.json()) as { details: { path: string }[] }
      expect([response.status, details.map(({ path }) => path).toSorted()]).toEqual([400, paths.toSorted()])
    })

    it.each([
      ['nobody', { contacts: [] }, 'contacts must not be empty'],
      ['nobody who can be called', { contacts: [{ phone: 'x' }] }, 'contacts has nobody who can be called'],
      ['an agent that there is not', { agent_key: 'none' }, 'agent_key is not the key'],
      ['a number of somebody else', { from: CALLER }, 'from'],
      ['hours that are none', { calling_hours: { start: '09:00', end: '09:00' } }, 'calling_hours must not start'],
      ['a field that there is not', { pace: 1 }, 'pace is not a known field'],
      ['too many at once', { max_concurrent: 501 }, 'max_concurrent must be at most 500'],
    ])('not of %s: 400', async (_what, facts, error) => {
      const { status, body } = await post('', wanted(facts))
      expect([status, body.error]).toEqual([400, expect.stringContaining(error)])
    })
  })

  it('says of each contact why it cannot be called where none can', async () => {
    const { status, body } = await post('', wanted({ contacts: [{ phone: 'x' }, { phone: '+1' }] }))
    const fault = (at: number) => expect.stringMatching(`^has nobody who can be called: ${at}: phone must be`)
    const details = [1, 2].map((at) => ({ path: '/body/contacts', message: fault(at) }))
    expect([status, body.details]).toEqual([400, details])
  })

  it('shows whom it calls as the list has them, the last first, page by page', async () => {
    const list = people(50)
    const { body } = await post('', wanted({ contacts: list }))
    const shown: string[] = []
    for (let cursor = ''; ; ) {
      const path = `/campaigns/${body.campaign.id}/calls?limit=20${cursor}`
      const page = (await app.served.call<{ calls: Contact[]; next_cursor: string | null }>('acme', 'GET', path)).body
      shown.push(...page.calls.map(({ phone }) => phone))
      if (page.next_cursor === null) break
      cursor = `&cursor=${page.next_cursor}`
    }
    expect(shown).toEqual(list.map(({ phone }) => phone).toReversed())
  })

  it('is left alone for a while, and that is said once, where the database takes no changes', async () => {
    await sql`create sequence refusals`.execute(test.db)
    await sql`
      create function refuse() returns trigger language plpgsql as $$
      begin
        perform nextval('refusals');
        raise exception 'read only' using errcode = '25006';
      end $$`.execute(test.db)
    await sql`create trigger refuse before update on campaigns for each row when (old.status = 'running') execute function refuse()`.execute(
      test.db,
    )
    await started()
    const refusals = async () => {
      const { rows } = await sql<{ last: number }>`select last_value::integer as last from refusals`.execute(test.db)
      return rows[0]?.last ?? 0
    }
    const untilMs = app.clock.monotonicMs() + 10_000
    const isOver = async () => (await refusals()) > 1 && app.clock.monotonicMs() >= untilMs
    await passing(app.clock, isOver, { what: 'ten seconds', stepMs: 50, timeoutMs: 60_000 })
    expect(await refusals()).toBeLessThanOrEqual(3)
    expect(app.served.logLines().filter(({ msg }) => msg === 'a campaign was not worked on')).toHaveLength(1)
    await sql`drop function refuse cascade`.execute(test.db)
    await sql`drop sequence refusals`.execute(test.db)
    await placed(1)
  })

  // The embedded database has one transaction at a time.
  describe.runIf(inject('databaseTemplate').kind === 'server')('goes on, whatever of another tenant is held:', () => {
    const SOON_MS = 10_000

    /** Whether the campaign of another tenant is soon begun while rows of ours are held. */
    async function othersBegin(rows: RawBuilder<unknown>, meanwhile: () => Promise<unknown>): Promise<void> {
      const from = '+12025550141'
      await app.served.furnish('other', { number: from, document: ALWAYS })
      const { body } = await post('', wanted({ from, contacts: [{ phone: phone(9) }] }), 'other')
      await test.db.transaction().execute(async (tx) => {
        await rows.execute(tx)
        await meanwhile()
        const heldMs = performance.now()
        await post(`/${body.campaign.id}/start`, undefined, 'other')
        await pass(() => allDialled().includes(phone(9)), 'the call of the other tenant')
        expect(performance.now() - heldMs).toBeLessThan(SOON_MS)
      })
    }

    it('whom it is to call', async () => {
      const { body } = await post('', wanted())
      await othersBegin(sql`select from campaign_contacts where tenant_id = 'acme' for update`, () =>
        post(`/${body.campaign.id}/start`),
      )
      await placed(2)
    })

    it('a campaign whose calls are over', async () => {
      const id = await started({ contacts: people(2) })
      await placed(2)
      await othersBegin(sql`select from campaigns where tenant_id = 'acme' for update`, async () => {
        for (const n of [0, 1]) await ended(phone(n), { CallStatus: 'completed' })
      })
      await reached(id, 'completed')
    })
  })

  it('is its tenant’s alone', async () => {
    await app.served.furnish('other', { number: '+12025550141' })
    const { body } = await post('', wanted())
    const paths = ['', '/calls'].map((path) => ['GET', `/campaigns/${body.campaign.id}${path}`] as const)
    const moves = ['start', 'pause', 'cancel'].map(
      (move) => ['POST', `/campaigns/${body.campaign.id}/${move}`] as const,
    )
    for (const [method, path] of [...paths, ...moves]) {
      expect((await app.served.call('other', method, path)).status).toBe(404)
      expect((await app.served.call(null, method, path)).status).toBe(401)
    }
    expect((await post('', wanted(), null)).status).toBe(401)
    const list = async (tenant: string | null, query = '') =>
      app.served.call<{ campaigns: Campaign[] }>(tenant, 'GET', `/campaigns${query}`)
    expect((await list(null)).status).toBe(401)
    expect((await list('other')).body.campaigns).toEqual([])
    expect((await list('acme', '?status=draft')).body.campaigns).toHaveLength(1)
    expect((await list('acme', '?status=running')).body.campaigns).toEqual([])
    expect((await list('acme', '?status=gone')).status).toBe(400)
    expect((await app.served.call('acme', 'GET', '/campaigns/none')).status).toBe(404)
  })
})
