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
const SPOKEN = ['CArich', 'CAgood', 'CAerased', 'CAgone']
const CALL_SIDS = [...SPOKEN, 'CAsilent', 'CAunwritten']
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
  for (const callSid of SPOKEN) await addCall(db, clock, { callSid, caller })
  await addCall(db, clock, { callSid: 'CAsilent', reason: 'The caller said nothing.' })
  await addCall(db, clock, { callSid: 'CAunwritten', caller: someTurn(2, { text: '' }) })
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
const button = (page: Page, name: string) => page.getByRole('button', { name, disabled: false })

type Log = { call_log: { voice_session_id: string | null } }
type Session = { voice_session: { qa: { score: number; criteria: object[] } | null } }

async function sessionOf(callSid: string): Promise<string | null> {
  return (await dashboard.ask<Log>('GET', `/call-logs/${callSid}`)).call_log.voice_session_id
}

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

  it('is found among the calls of its campaign, which say whose they are until that is taken away', async () => {
    const context = await loggedInAs('viewer')
    const { page, faults } = await visit(context, 'CArich')
    await panel(page, 'The call').getByRole('link', { name: 'The campaign' }).click()
    await page.getByRole('link', { name: 'Its calls' }).click()
    await page.getByText('One in all').waitFor()
    await page.getByText('Of the campaign Spring').waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    // A filter that is chosen in the bar leaves it as it is.
    await page.getByLabel('Direction').selectOption('browser')
    await page.getByText('No call is like that').waitFor()
    await page.getByLabel('Direction').selectOption('')
    await page.getByText('One in all').waitFor()
    await button(page, 'Of any campaign or none').press('Enter')
    await page.getByText(`${CALL_SIDS.length} in all`).waitFor()
    expect(await page.getByText('Of the campaign').count()).toBe(0)
    // The keyboard goes on among the filters.
    await page.keyboard.press('Tab')
    await page.locator('select:focus').waitFor()

    const unknown = await dashboard.visit(context, `/app/t/acme/calls?campaign_id=${newId<string>(systemClock.now())}`)
    await unknown.page.getByText('Of one campaign').waitFor()
    await unknown.page.getByText('It has called nobody yet, or its calls are not kept any more.').waitFor()
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

  it('says of what the model did not write down that it was not', async () => {
    const context = await loggedInAs('viewer')
    const { page } = await visit(context, 'CAunwritten')
    await page.getByText('(not written down)', { exact: true }).waitFor()
    await context.close()
  })

  it('says why a call was not scored, and offers to score and to erase it to whoever may', async () => {
    const offered = ['Give a score', 'Have the model score it', 'Erase what was said']
    for (const [role, mayDo] of [
      ['viewer', []],
      ['operator', offered.slice(0, 2)],
      ['admin', offered],
    ] as const) {
      const context = await loggedInAs(role)
      const { page } = await visit(context, 'CAsilent')
      await panel(page, 'Score').getByText('The caller said nothing.').waitFor()
      await panel(page, 'Score').getByText('Not scored').waitFor()
      for (const name of mayDo) await button(page, name).waitFor()
      const refused = offered.filter((name) => !(mayDo as readonly string[]).includes(name))
      for (const name of refused) expect(await page.getByRole('button', { name }).count()).toBe(0)
      await context.close()
    }
  })

  it('has the model score a call, and says in its words why there is nothing to score', async () => {
    const context = await loggedInAs('operator')
    const { page } = await visit(context, 'CAgood')
    const score = panel(page, 'Score')
    await score.getByText(LATE).waitFor()
    await button(page, 'Have the model score it').click()
    await score.getByText(/^The chat model gave it \d+%/).waitFor()
    await score.getByText('Helpfulness').waitFor()
    expect(await score.getByText(LATE).count()).toBe(0)
    await page.goto(`${dashboard.address}/app/t/acme/calls/CAsilent`)
    await button(page, 'Have the model score it').click()
    await page.getByRole('alert').getByText('There is nothing to score: the caller said nothing.').waitFor()
    await context.close()
  })

  it('takes down what a person thinks of a call, criterion by criterion, and shows that from then on', async () => {
    const context = await loggedInAs('operator')
    const { page } = await visit(context, 'CArich')
    await button(page, 'Give a score').click()
    const form = page.getByRole('dialog', { name: 'Give a score' })
    // What is written into another field before that goes into the first one.
    await form.locator('*:focus').waitFor()
    await form.getByLabel('Score in percent').fill('40')
    await form.getByLabel('Summary').fill('The chair was never offered.')
    await button(page, 'Add a criterion').click()
    await form.getByLabel('Criterion', { exact: true }).fill('offer')
    await form.getByLabel('Percent', { exact: true }).fill('25')
    await form.getByLabel('Why').fill(HOSTILE)
    expect(await faultsAsShown(page)).toEqual([])
    await button(page, 'Add a criterion').click()
    await button(page, 'Take out criterion 2').press('Enter')
    await form.locator('*:focus').waitFor()
    await form.getByRole('button', { name: 'Give the score', disabled: false }).click()
    await form.waitFor({ state: 'hidden' })
    const score = panel(page, 'Score')
    await score.getByText('40%').waitFor()
    await score.getByText('Offer').waitFor()
    await score.getByText('25%').waitFor()
    await page.getByText('The chair was never offered.').waitFor()
    expect(await page.locator('main img, main script, main svg[onload]').count()).toBe(0)
    const { voice_session } = await dashboard.ask<Session>('GET', `/voice-sessions/${await sessionOf('CArich')}`)
    expect(voice_session.qa).toMatchObject({ score: 0.4, criteria: [{ name: 'offer', score: 0.25, reason: HOSTILE }] })

    // What the model says afterwards changes nothing of it.
    await button(page, 'Have the model score it').click()
    await score.getByText(/theirs counts\.$/).waitFor()
    await score.getByText('40%').waitFor()
    await context.close()
  })

  it('is told of where its score comes to nothing after its window was closed', async () => {
    const context = await loggedInAs('operator')
    const { page } = await visit(context, 'CAgood')
    const answer = Promise.withResolvers<void>()
    const refused = { ok: false, error: 'There is no room now.', code: 'unavailable', request_id: 'r' }
    await page.route('**/evaluations', async (route) => {
      await answer.promise
      await route.fulfill({ status: 503, json: refused })
    })
    const parties = (await page.locator('main h1').filter({ hasText: '→' }).textContent()) ?? ''
    await button(page, 'Give a score').click()
    const form = page.getByRole('dialog', { name: 'Give a score' })
    await form.locator('*:focus').waitFor()
    await form.getByLabel('Score in percent').fill('40')
    await form.getByRole('button', { name: 'Give the score' }).click()
    await form.getByRole('button', { name: 'Close', exact: true }).filter({ hasText: 'Close' }).click()
    await page.getByRole('link', { name: 'Calls', exact: true }).first().click()
    answer.resolve()
    await page.getByText(`“Give a score” for ${parties} went on after its window was closed`).waitFor()
    await context.close()
  })

  it('erases what was said after a question that says what is lost, and shows what is left', async () => {
    const context = await loggedInAs('admin')
    const { page } = await visit(context, 'CAerased')
    const sessionId = await sessionOf('CAerased')
    await page.getByText(SAID, { exact: true }).waitFor()
    await button(page, 'Erase what was said').press('Enter')
    const question = page.getByRole('dialog', { name: 'Erase what was said?' })
    await question.getByText('It cannot be taken back.').waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    await question.getByRole('button', { name: 'Erase what was said', disabled: false }).click()
    await page.getByText('What was said in this call has been erased').waitFor()
    await question.waitFor({ state: 'hidden' })
    await page.locator('#content:focus').waitFor()
    expect(await page.getByText(SAID).count()).toBe(0)
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Erase what was said' }).count()).toBe(0)
    await page.locator('main header').getByText('Completed').waitFor()
    expect(await sessionOf('CAerased')).toBeNull()
    await expect(dashboard.ask('GET', `/voice-sessions/${sessionId}`)).rejects.toThrow('404')
    await context.close()
  })

  it('says in the words of the service why it erases nothing', async () => {
    const context = await loggedInAs('admin')
    const { page } = await visit(context, 'CAgone')
    await button(page, 'Erase what was said').click()
    const question = page.getByRole('dialog', { name: 'Erase what was said?' })
    await dashboard.ask('DELETE', `/voice-sessions/${await sessionOf('CAgone')}`)
    await question.getByRole('button', { name: 'Erase what was said', disabled: false }).click()
    await question.getByRole('alert').getByText('There is no such voice session.').waitFor()
    await context.close()
  })

  it.each(IS_FULL ? LOOKS : [NARROW])(
    'has nothing that keeps somebody out at $width px in $colorScheme colours',
    async (look) => {
      const context = await dashboard.loggedIn(look, emailOf('admin'))
      const { page, faults } = await visit(context, 'CArich')
      await panel(page, 'What supervisors did').waitFor()
      expect(await faultsAsShown(page)).toEqual([])
      await button(page, 'Give a score').click()
      await page.getByRole('dialog').getByLabel('Score in percent').waitFor()
      await button(page, 'Add a criterion').click()
      expect([...(await faultsAsShown(page)), ...faults]).toEqual([])
      await context.close()
    },
  )
})
