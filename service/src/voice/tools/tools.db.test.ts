import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { makeTenant } from '../../../test/harness/tenants.ts'
import { type NodeId, newId } from '../../kernel/ids.ts'
import { type CallbackTasks, makeCallbackTasks } from '../../operators/callback-tasks.ts'
import { makeOutcomes } from '../../records/outcomes.ts'
import { makeSessions } from '../../records/sessions.ts'
import { toRuntime } from '../../tenancy/tenant-defaults.ts'
import { makeTools, toolsOf } from './registry.ts'
import { makeToolRunner } from './run.ts'

const AGENT = { agentKey: null, agentName: 'Robin', versionId: null, versionNumber: null }

describe('the built-in tools', () => {
  const test = useDatabase()

  async function inCall({ from = '+12025550101' } = {}) {
    const clock = new TestClock()
    const { db } = test
    const tenantId = await makeTenant(db, 'acme')
    const other = await makeTenant(db, 'other')
    const tenant = toRuntime({ tenant_id: tenantId }, { account_sid: null, auth_token: null, from_number: null })
    const sessions = makeSessions({ db, clock, nodeId: newId<NodeId>(clock.now()) })
    const call = { callSid: 'CA1', direction: 'inbound' as const, from, to: '+12025550100', orgId: null, metadata: {} }
    const { sessionId } = await sessions.open(tenant, { ...call, agent: AGENT })
    const scheduled: Promise<unknown>[] = []
    const schedule: CallbackTasks['schedule'] = (...given) => {
      const task = makeCallbackTasks({ db, clock }).schedule(...given)
      scheduled.push(task)
      return task
    }
    const tools = makeTools({ outcomes: makeOutcomes({ db }), tasks: { schedule }, clock })
    const facts = { callSid: 'CA1', sessionId, streamSid: 'MZ1', agentName: 'Robin', customerPhone: from }
    const deps = { clock, log: { error: () => {} }, journal: { tool: () => {} } }
    const runner = makeToolRunner({ ...deps, tools, call: { ...facts, tenant } })
    let calls = 0
    const run = async (name: string, args: unknown) => {
      calls += 1
      const request = { callId: `call_${calls}`, name, argumentsText: JSON.stringify(args), atMs: 0 }
      const outcome = await runner.run(request)
      return { ...outcome, output: JSON.parse(outcome.output) as Record<string, unknown> }
    }
    const tasks = () => db.selectFrom('callback_tasks').selectAll().orderBy('created_at').execute()
    return { clock, tenantId, other, sessionId, run, tasks, scheduled }
  }

  it('are offered as far as the agent may use them', () => {
    const deps = {
      outcomes: makeOutcomes({ db: test.db }),
      tasks: makeCallbackTasks({ db: test.db, clock: new TestClock() }),
    }
    const tools = makeTools({ ...deps, clock: new TestClock() })
    expect(toolsOf(tools, ['record_outcome', 'end_call', 'unknown']).map((tool) => tool.declaration.name)).toEqual([
      'end_call',
      'record_outcome',
    ])
    expect(JSON.stringify(tools.map((tool) => tool.declaration.parameters))).not.toContain('~kind')
  })

  it('end the call', async () => {
    const { run } = await inCall()
    expect(await run('end_call', { reason: 'done' })).toMatchObject({ status: 'ok', endsCall: true })
  })

  it('note an outcome on the session of the call, and tags add up', async () => {
    const { run, sessionId } = await inCall()
    await run('record_outcome', { tags: ['billing'], outcome: 'paid', notes: 'By card.' })
    expect(await run('record_outcome', { tags: ['angry', 'billing'] })).toMatchObject({
      output: { tags: ['angry', 'billing'] },
    })
    const session = await test.db.selectFrom('voice_sessions').selectAll().executeTakeFirst()
    expect(session).toMatchObject({
      id: sessionId,
      outcome: 'paid',
      outcome_notes: 'By card.',
      tags: ['angry', 'billing'],
    })
  })

  it('note twenty outcomes in a call at most', async () => {
    const { run } = await inCall()
    const statuses = []
    for (let n = 0; n < 21; n += 1) statuses.push((await run('record_outcome', { tags: [`tag-${n}`] })).status)
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 'ok'), 'error'])
  })

  it('schedule no callback whose time is over before it is stored', async () => {
    const { run, tasks, clock, tenantId, scheduled } = await inCall()
    const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>()
    const { promise: letGo, resolve: release } = Promise.withResolvers<void>()
    const holding = test.db.transaction().execute(async (tx) => {
      await tx.selectFrom('tenants').select('tenant_id').where('tenant_id', '=', tenantId).forUpdate().execute()
      hold()
      await letGo
    })
    await isHeld
    const outcome = run('schedule_callback', { summary: 'A price.' })
    await clock.advance(10_000)
    expect(await outcome).toMatchObject({ status: 'timeout' })
    release()
    await holding
    expect(await Promise.allSettled(scheduled)).toMatchObject([{ status: 'rejected' }])
    expect(await tasks()).toEqual([])
  })

  it('schedule a callback to the number of the call', async () => {
    const { run, tasks, clock, tenantId } = await inCall()
    const when = new Date(clock.now() + 3_600_000).toISOString()
    const { output } = await run('schedule_callback', { summary: 'A price.', when, priority: 'high' })
    expect(await tasks()).toMatchObject([
      {
        ...{ tenant_id: tenantId, id: output['task_id'], call_sid: 'CA1', stream_sid: 'MZ1', agent_name: 'Robin' },
        ...{
          customer_phone: '+12025550101',
          status: 'open',
          priority: 'high',
          summary: 'A price.',
          due_at: new Date(when),
        },
      },
    ])
  })

  it('schedule a callback to another number, as soon as possible', async () => {
    const { run, tasks } = await inCall({ from: 'anonymous' })
    expect(await run('schedule_callback', { phone: '+12025550102', summary: 'x' })).toMatchObject({
      output: { due_at: 'as soon as possible' },
    })
    expect(await tasks()).toMatchObject([{ customer_phone: '+12025550102', due_at: null, priority: 'normal' }])
  })

  it.each([
    ['without a number', { summary: 'x' }, 'the number of this call is not known: ask for one'],
    [
      'to a number that is none',
      { summary: 'x', phone: '+1202555' },
      'phone is not a possible number: ask for it again',
    ],
    ['in the past', { summary: 'x', phone: '+12025550102', when: '2029-12-31T00:00:00Z' }, 'when is in the past'],
    [
      'far ahead',
      { summary: 'x', phone: '+12025550102', when: '2032-01-01T00:00:00Z' },
      'when is more than a year away',
    ],
    ["for another tenant's call", { summary: 'x', tenant_id: 'other' }, 'tenant_id is not a known field'],
  ])('do not schedule a callback %s', async (_what, args, error) => {
    const { run, tasks } = await inCall({ from: 'anonymous' })
    expect(await run('schedule_callback', args)).toMatchObject({ status: 'error', output: { error } })
    expect(await tasks()).toEqual([])
  })

  it('schedule three callbacks in a call at most', async () => {
    const { run, tasks } = await inCall()
    const times = [1, 2, 3, 4]
    const outcomes = []
    for (const time of times) outcomes.push((await run('schedule_callback', { summary: `No. ${time}` })).status)
    expect(outcomes).toEqual(['ok', 'ok', 'ok', 'error'])
    expect(await tasks()).toHaveLength(3)
  })
})
