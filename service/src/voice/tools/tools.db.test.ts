import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { makeTenant } from '../../../test/harness/tenants.ts'
import type { AgentChoice } from '../../agents/resolve.ts'
import { type NodeId, newId } from '../../kernel/ids.ts'
import { type CallbackTasks, makeCallbackTasks } from '../../operators/callback-tasks.ts'
import { makeDoNotCall } from '../../operators/do-not-call.ts'
import { makeLog } from '../../platform/log.ts'
import { makeEscalations } from '../../records/escalations.ts'
import { makeOutcomes } from '../../records/outcomes.ts'
import { makeSessions } from '../../records/sessions.ts'
import { agentConfigDefaults } from '../../tenancy/agent-config-defaults.ts'
import { toRuntime } from '../../tenancy/tenant-defaults.ts'
import { notedControls } from './controls.fixture.ts'
import { makeTools, toolsOf } from './registry.ts'
import { makeToolRunner } from './run.ts'

const OTHER = {
  ...{ agentId: null, agentKey: 'billing', versionId: null, versionNumber: null, agentName: 'Billie' },
  config: agentConfigDefaults({}),
}
/** What the other agent says while a caller waits. */
const CLIP = { kind: 'filler' as const, words: 'One moment.', text: 'One moment.', ms: 800, pieces: [] }
const AGENT = { agentKey: null, agentName: 'Robin', versionId: null, versionNumber: null }

/** Of the clock of a test, where the tenant has no time zone. */
const NOW = 'it is now Tuesday, 2030-01-01T00:00:00+00:00'

describe('the built-in tools', () => {
  const test = useDatabase()

  async function inCall({ from = '+12025550101', timezone = 'UTC' } = {}) {
    const clock = new TestClock()
    const { db } = test
    const tenantId = await makeTenant(db, 'acme')
    const other = await makeTenant(db, 'other')
    const tenant = toRuntime(
      { tenant_id: tenantId, compliance: { timezone } },
      { account_sid: null, auth_token: null, from_number: null },
    )
    const sessions = makeSessions({ db, clock, nodeId: newId<NodeId>(clock.now()) })
    const call = { callSid: 'CA1', direction: 'inbound' as const, from, to: '+12025550100', orgId: null, metadata: {} }
    const { sessionId } = await sessions.open(tenant, { ...call, agent: AGENT })
    const scheduled: Promise<unknown>[] = []
    const choices: AgentChoice[] = []
    const schedule: CallbackTasks['schedule'] = (...given) => {
      const task = makeCallbackTasks({ db, clock }).schedule(...given)
      scheduled.push(task)
      return task
    }
    const tenants = { get: async () => tenant }
    const escalations = makeEscalations({ db, clock, tenants })
    const doNotCall = makeDoNotCall({ db, clock, log: makeLog({ level: 'silent', secrets: [] }), tenants })
    const tools = makeTools({
      ...{
        outcomes: makeOutcomes({ db }),
        clock,
        resolveAgent: async (_tenant, choice) => {
          choices.push(choice)
          return OTHER
        },
        tenantTools: { of: async () => [] },
        clips: { of: async (_tenant, config) => (config === OTHER.config ? [CLIP] : []) },
      },
      kept: { tasks: { schedule }, escalations, doNotCall },
    })
    const { controls, done } = notedControls()
    const facts = { callSid: 'CA1', sessionId, streamSid: 'MZ1', agentName: 'Robin', customerPhone: from }
    const deps = { clock, log: { error: () => {} }, journal: { tool: () => {} } }
    const runner = makeToolRunner({ ...deps, tools, call: { ...facts, tenant, controls } })
    let calls = 0
    const run = async (name: string, args: unknown) => {
      calls += 1
      const request = { callId: `call_${calls}`, name, argumentsText: JSON.stringify(args), atMs: 0 }
      const outcome = await runner.run(request)
      return { ...outcome, output: JSON.parse(outcome.output) as Record<string, unknown> }
    }
    const tasks = () => db.selectFrom('callback_tasks').selectAll().orderBy('created_at').execute()
    return { clock, tenantId, other, sessionId, run, tasks, scheduled, doNotCall, done, choices }
  }

  it('are offered as far as the agent may use them', () => {
    const clock = new TestClock()
    const tools = makeTools({
      outcomes: makeOutcomes({ db: test.db }),
      clock,
      resolveAgent: async () => null,
      tenantTools: { of: async () => [] },
      clips: { of: async () => [] },
      kept: null,
    })
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
    const { run, tasks, tenantId } = await inCall({ timezone: 'Asia/Tokyo' })
    const when = '2030-01-01T01:00:00Z'
    const { output } = await run('schedule_callback', { summary: 'A price.', when, priority: 'high' })
    expect(output['due_at']).toBe('Tuesday, 2030-01-01T10:00:00+09:00')
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
    [
      'in the past',
      { summary: 'x', phone: '+12025550102', when: '2029-12-31T00:00:00Z' },
      `when is in the past: ${NOW}`,
    ],
    [
      'far ahead',
      { summary: 'x', phone: '+12025550102', when: '2032-01-01T00:00:00Z' },
      `when is more than a year away: ${NOW}`,
    ],
    [
      "for another tenant's call",
      { summary: 'x', tenant_id: 'other' },
      'tenant_id is not a known field: there are phone, when, summary, priority',
    ],
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

  describe('transfer_call', () => {
    it('has the call put through, warm if that is wanted', async () => {
      const { run, done } = await inCall()
      expect(await run('transfer_call', { target: '+12025550103' })).toMatchObject({
        status: 'ok',
        output: { ok: true },
      })
      await run('transfer_call', { target: '+12025550103', summary: 'A refund.', warm: true })
      expect(done).toEqual([
        ['transfer', { target: '+12025550103', summary: '', isWarm: false }],
        ['transfer', { target: '+12025550103', summary: 'A refund.', isWarm: true }],
      ])
      expect(await run('transfer_call', { target: 'the boss' })).toMatchObject({ status: 'error' })
    })
  })

  describe('send_dtmf', () => {
    it('presses keys, and nothing is to be said about it', async () => {
      const { run, done } = await inCall()
      expect(await run('send_dtmf', { digits: '12w#' })).toMatchObject({ status: 'ok', isSilent: true })
      expect(await run('send_dtmf', { digits: '12x' })).toMatchObject({ status: 'error' })
      expect(done).toEqual([['press', '12w#']])
    })
  })

  describe('pause_recording', () => {
    it('keeps what follows out of the recording', async () => {
      const { run, done } = await inCall()
      expect(await run('pause_recording', { paused: true })).toMatchObject({ output: { ok: true, paused: true } })
      expect(done).toEqual([['pauseRecording', true]])
    })
  })

  describe('hand_off', () => {
    it('hands the caller to the agent of a key, and to no other', async () => {
      const { run, done } = await inCall()
      expect(await run('hand_off', { agent_key: 'billing', summary: 'A refund.' })).toMatchObject({ status: 'ok' })
      expect(await run('hand_off', { agent_key: 'sales' })).toMatchObject({
        ...{ status: 'error', output: { error: 'there is no agent with this key' } },
      })
      expect(done).toEqual([['handOff', 'billing', 0, ['One moment.'], 'A refund.']])
    })

    it.each([
      ['they are in', '+12025550101', '+12025550101'],
      ['the call is in, where nobody is known', 'anonymous', 'CA1'],
    ])('has the caller talk to the version whose share of the other agent %s', async (_whose, from, caller) => {
      const { run, choices } = await inCall({ from })
      await run('hand_off', { agent_key: 'billing' })
      expect(choices).toEqual([{ agentKey: 'billing', caller }])
    })
  })

  describe('add_to_dnc', () => {
    it('lists the number of the call, of its tenant alone', async () => {
      const { run, doNotCall, tenantId, other } = await inCall()
      expect(await run('add_to_dnc', { reason: 'asked for it' })).toMatchObject({ status: 'ok', output: { ok: true } })
      expect(await doNotCall.get(tenantId, '+12025550101')).toMatchObject({ reason: 'asked for it', source: 'Robin' })
      await expect(doNotCall.get(other, '+12025550101')).rejects.toThrow('not on the do-not-call list')
    })

    it('lists it also where the words of the model cannot be stored as they are', async () => {
      const { run, doNotCall, tenantId } = await inCall()
      expect(await run('add_to_dnc', { reason: 'never\u0000 again' })).toMatchObject({ status: 'ok' })
      expect(await doNotCall.get(tenantId, '+12025550101')).toMatchObject({ reason: 'never again' })
    })

    it('is refused for who has no number', async () => {
      const { run } = await inCall({ from: 'anonymous' })
      expect(await run('add_to_dnc', {})).toMatchObject({ status: 'error' })
    })
  })

  describe('escalate_to_human', () => {
    it('marks the call, tells the tenant, and adds a task, once', async () => {
      const { run, tasks, tenantId, done } = await inCall()
      const first = await run('escalate_to_human', { reason: 'Wants a person.' })
      expect(await run('escalate_to_human', { reason: 'Again.' })).toMatchObject({ status: 'error' })
      expect(await tasks()).toMatchObject([
        {
          id: first.output['task_id'],
          summary: 'Wants a person.',
          priority: 'high',
          call_sid: 'CA1',
          queue_key: 'default',
        },
      ])
      const log = await test.db.selectFrom('call_logs').selectAll().where('tenant_id', '=', tenantId).executeTakeFirst()
      expect(log).toMatchObject({ escalated: true, escalation_target: 'default' })
      expect(done).toEqual([['escalated', 'default']])
    })

    it('adds no task for who has no number, and marks the call all the same', async () => {
      const { run, tasks, done } = await inCall({ from: 'anonymous' })
      expect(await run('escalate_to_human', { reason: 'Wants a person.' })).toMatchObject({ status: 'ok' })
      expect([await tasks(), done]).toEqual([[], [['escalated', 'default']]])
    })
  })
})
