import { sql } from 'kysely'
import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../src/kernel/clock.ts'
import { newId, type TenantId } from '../src/kernel/ids.ts'
import type { PhoneNumber } from '../src/kernel/phone.ts'
import { makeCallbackTasks } from '../src/operators/callback-tasks.ts'
import type { Db } from '../src/platform/db/schema.ts'
import { someTurn, tenantTold } from '../src/records/calls.fixture.ts'
import { endedCall } from '../src/records/evaluations/evaluations.fixture.ts'
import type { JournaledTurn } from '../src/records/journal-entry.ts'
import { insertSupervisorAction } from '../src/records/supervisor-action-store.ts'
import { TestClock } from './harness/clock.ts'
import { LOGIN, useDashboard } from './harness/dashboard.ts'
import { HOSTILE } from './harness/hostile.ts'
import { IS_FULL, LOOKS, NARROW, WIDE } from './harness/looks.ts'
import { faultsAsShown } from './harness/page-faults.ts'
import { makeTenant } from './harness/tenants.ts'

const ACME = 'acme' as TenantId
const HOUR_MS = 3_600_000
const LATE = 'It could not be scored within a day of its end.'
const SAID = 'I would like the green chair.'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const dashboard = useDashboard({ furnish: addCalls, tenant: 'acme' })

beforeAll(async () => {
  for (const role of ['viewer', 'operator', 'admin'])
    await dashboard.ask('POST', '/admin/tenants/acme/users', { email: emailOf(role), role, password: LOGIN.password })
})

const emailOf = (role: string) => `${role}@acme.example`

/** Calls that are over, and that are scored when somebody asks for it alone. In all but the silent one the caller says something. */
async function addCalls(db: Db): Promise<void> {
  await makeTenant(db, 'acme')
  const clock = new TestClock(systemClock.now() - HOUR_MS)
  const caller = someTurn(2, { text: SAID })
  for (const callSid of ['CArich', 'CAgood']) await addCall(db, clock, { callSid, caller })
  await addCall(db, clock, { callSid: 'CAsilent', reason: 'The caller said nothing.' })
  await enrich(db, clock)
}

type Planted = { callSid: string; caller?: JournaledTurn; reason?: string }

async function addCall(db: Db, clock: TestClock, { callSid, caller, reason = LATE }: Planted): Promise<void> {
  const turns = [someTurn(1), ...(caller ? [caller] : [])]
  await endedCall(db, clock, callSid, { tenant: tenantTold('acme', null), turns })
  await db.deleteFrom('session_scorings').execute()
  const unscored = { qa_status: 'not_scored' as const, qa_reason: reason }
  await db.updateTable('voice_sessions').set(unscored).where('call_sid', '=', callSid).execute()
}

/** The rich call has all that a page can tell of one. */
async function enrich(db: Db, clock: TestClock): Promise<void> {
  const now = new Date(clock.now())
  const campaign = newId<string>(clock.now())
  await sql`
    insert into campaigns (tenant_id, id, name, agent_key, status, calls_per_second, max_concurrent, max_attempts, retry_minutes,
                           next_dial_at, created_at, updated_at)
    values (${ACME}, ${campaign}, 'Spring', 'desk', 'draft', 1, 1, 3, '{30}', ${now}, ${now}, ${now})`.execute(db)
  const task = await makeCallbackTasks({ db, clock }).schedule(tenantTold('acme', null), {
    ...{ customerPhone: '+12025550123' as PhoneNumber, priority: 'normal', summary: 'Wants a chair.', notes: null },
    ...{ dueAt: null, createdBy: 'Robin', metadata: {}, call: null },
  })
  const log = {
    ...{ answered_by: 'human', answered_by_source: 'words' as const, escalated: true, escalation_target: 'the desk' },
    ...{ callback_task_id: task.id, campaign_id: campaign },
  }
  await db.updateTable('call_logs').set(log).where('call_sid', '=', 'CArich').execute()
  const session = { outcome: 'ordered', outcome_notes: 'Two of them.', audio_output_provider: 'secondary' as const }
  await db.updateTable('voice_sessions').set(session).where('call_sid', '=', 'CArich').execute()
  const actions = [
    { action: 'takeover', reason: null, note: null },
    { action: 'escalate', target: 'the desk', reason: 'Wants a refund.', note: HOSTILE },
  ]
  for (const [at, action] of actions.entries()) await addAction(db, new Date(clock.now() + at * 1_000), action)
}

type Done = { action: string; target?: string; reason: string | null; note: string | null }

async function addAction(db: Db, at: Date, done: Done): Promise<void> {
  const by = { supervisor: 'ada', target: null, metadata: {}, created_at: at }
  const of = { tenant_id: ACME, id: newId<string>(at.getTime()), stream_sid: 'MZCArich', call_sid: 'CArich' }
  await insertSupervisorAction(db, ACME, { ...of, ...by, ...done })
}

const visit = (context: BrowserContext, callSid: string) => dashboard.visit(context, `/app/t/acme/calls/${callSid}`)
const loggedInAs = (role: string) => dashboard.loggedIn(WIDE, emailOf(role))
const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

describe('the page of a call', () => {
  it('tells who answered and how that is known, what came of it, and leads to what it was placed for', async () => {
    const context = await loggedInAs('viewer')
    const { page, faults } = await visit(context, 'CArich')
    const facts = panel(page, 'The call').locator('dl')
    for (const fact of [
      'Answered byHuman, by what was said',
      'Escalated tothe desk',
      'OutcomeOrdered',
      'Notes on the outcomeTwo of them.',
      'Who spokeThe secondary provider',
    ])
      await facts.getByText(fact).waitFor()
    await facts.getByRole('link', { name: 'The task' }).click()
    await page.getByText('Wants a chair.').waitFor()
    await page.goBack()
    await facts.getByRole('link', { name: 'The campaign' }).click()
    await page.getByRole('heading', { name: 'Spring' }).waitFor()
    expect(faults).toEqual([])
    await context.close()
  })

  it('shows what supervisors did, oldest first, and nothing of it where they did nothing', async () => {
    const context = await loggedInAs('viewer')
    const { page, faults } = await visit(context, 'CArich')
    const done = panel(page, 'What supervisors did').getByRole('listitem')
    await done.nth(1).getByText('Wants a refund.').waitFor()
    expect(await done.nth(0).textContent()).toMatch(/^Took the call over.*ada/)
    expect(await done.nth(1).textContent()).toMatch(/^Escalated.*to the desk.*ada/)
    await done.nth(1).getByText(HOSTILE.slice(0, 28)).waitFor()
    expect(await page.locator('main img, main script, main svg[onload]').count()).toBe(0)
    await page.goto(`${dashboard.address}/app/t/acme/calls/CAgood`)
    await page.getByText(SAID, { exact: true }).waitFor()
    expect(await panel(page, 'What supervisors did').count()).toBe(0)
    expect(faults).toEqual([])
    await context.close()
  })

  it.each(IS_FULL ? LOOKS : [NARROW])(
    'has nothing that keeps somebody out at $width px in $colorScheme colours',
    async (look) => {
      const context = await dashboard.loggedIn(look, emailOf('admin'))
      const { page, faults } = await visit(context, 'CArich')
      await panel(page, 'What supervisors did').waitFor()
      expect([...(await faultsAsShown(page)), ...faults]).toEqual([])
      await context.close()
    },
  )
})
