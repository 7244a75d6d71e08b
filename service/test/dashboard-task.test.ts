import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { LOGIN, useDashboard } from './harness/dashboard.ts'
import { HOSTILE } from './harness/hostile.ts'
import { IS_FULL, LOOKS, NARROW, WIDE } from './harness/looks.ts'
import { faultsAsShown } from './harness/page-faults.ts'
import { startWebhookTarget, type WebhookTarget } from './harness/webhook-target.ts'

const VIEWER = 'vera@demo.example'
const PHONE = '+12025550155'
const LISTED = '+12025550156'
const TICKET = { id: 'T-7', url: 'https://tickets.example.com/7' }
const IN_NEW_YORK = { ...WIDE, timezoneId: 'America/New_York' }

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

// Sweeps of its own would be between what a test does and what it looks at.
const dashboard = useDashboard({ settings: { OUTBOUND_ALLOW_PRIVATE_NETWORKS: 'true', SWEEP_INTERVAL_SECONDS: '0' } })
let tickets: WebhookTarget

beforeAll(async () => {
  tickets = await startWebhookTarget()
  await ask('POST', '/admin/tenants/demo/users', { email: VIEWER, role: 'viewer', password: LOGIN.password })
  await ask('POST', '/dnc', { phone: LISTED })
  const { config } = await ask('GET', '/admin/tenants/demo')
  await ask('PUT', '/admin/tenants/demo', {
    ...config,
    ticketing: { driver: 'generic', base_url: tickets.url, token: 'secret' },
    compliance: { require_consent: true, calling_hours: { start: '00:00', end: '24:00' } },
  })
})

afterAll(() => tickets.close())

type Asked = { task: { id: string } & Record<string, unknown>; config: object }

const ask = (method: string, path: string, body?: unknown) => dashboard.ask<Asked>(method, path, body)

const read = async (id: string) => (await ask('GET', `/callback-tasks/${id}`)).task

async function made(facts: object = {}): Promise<string> {
  return (await ask('POST', '/callback-tasks', { customer_phone: PHONE, ...facts })).task.id
}

const pathOf = (id: string) => `/app/t/demo/desk/tasks/${id}`

const factOf = (page: Page, name: string) =>
  page.locator('dl > div').filter({ has: page.getByText(name, { exact: true }) })

/** The form in which a task is edited, once it hears keys. */
async function edited(page: Page) {
  await page.getByRole('button', { name: 'Edit', exact: true, disabled: false }).click()
  const form = page.getByRole('dialog', { name: 'Edit' })
  // It begins in its first field: what is written into another before that goes into this one.
  await form.locator('*:focus').waitFor()
  const save = () => form.getByRole('button', { name: 'Save the task', disabled: false }).click()
  const saved = async () => {
    await save()
    await form.waitFor({ state: 'hidden' })
  }
  return { form, save, saved }
}

describe('a task that is looked at', () => {
  it('is to be called today, and once that day is over on that day, on a page that stays open', async () => {
    const id = await made({ due_at: '2100-01-01T14:00:00Z' })
    const context = await dashboard.loggedIn({ ...WIDE, timezoneId: 'UTC' })
    const { page } = await dashboard.visit(context, '/app/login')
    await page.clock.install({ time: new Date('2100-01-01T23:59:00Z') })
    await page.goto(`${dashboard.address}${pathOf(id)}`)
    const due = factOf(page, 'To be called')
    await due.getByText('Today,').waitFor()
    await page.clock.fastForward(120_000)
    await due.getByText('Jan 1,').waitFor()
    await context.close()
  })
})

describe('what is wanted in a language that is written from right to left', () => {
  it('stands from right to left, with its full stop at its end, where English begins at the left', async () => {
    const [hebrew, english] = ['נא להתקשר אליי מחר בבוקר.', 'Call me back tomorrow, (שלום).']
    const [id] = [await made({ summary: hebrew, notes: english }), await made({ summary: english })]
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, pathOf(id))
    const directionOf = (text: string) =>
      page
        .getByText(text, { exact: true })
        .filter({ visible: true })
        .first()
        .evaluate((element) => (element.matches(':dir(rtl)') ? 'rtl' : 'ltr'))
    expect([await directionOf(hebrew), await directionOf(english)]).toEqual(['rtl', 'ltr'])
    await page.goto(`${dashboard.address}/app/t/demo/desk`)
    expect([await directionOf(hebrew), await directionOf(english)]).toEqual(['rtl', 'ltr'])
    await context.close()
  })
})

describe('a task that is edited', () => {
  it('has what was changed, in the time of whoever changes it, and keeps what others change meanwhile', async () => {
    const known = { summary: 'A chair.', notes: 'Red.', metadata: { order: 7 } }
    const id = await made({ ...known, due_at: '2100-01-01T14:00:30Z', sla_due_at: '2100-01-02T14:00:30Z' })
    const context = await dashboard.loggedIn(IN_NEW_YORK)
    const { page, faults } = await dashboard.visit(context, pathOf(id))
    const sent: object[] = []
    page.on('request', (request) => request.method() === 'PATCH' && sent.push(request.postDataJSON() as object))
    await page.getByRole('heading', { name: 'History' }).waitFor()
    await page.keyboard.press('e')
    const form = page.getByRole('dialog', { name: 'Edit' })
    await form.locator('*:focus').waitFor()
    expect(await form.getByLabel('To be called').inputValue()).toBe('2100-01-01T09:00')
    await ask('PATCH', `/callback-tasks/${id}`, { notes: 'Green.', priority: 'urgent', metadata: { order: 8 } })
    await form.getByLabel('What is wanted').fill(HOSTILE)
    await form.getByLabel('To be called').fill('2100-01-01T10:30')
    await form.getByRole('textbox', { name: /^Ticket/ }).fill(TICKET.id)
    await form.getByLabel('Address of the ticket').fill(TICKET.url)
    expect(await faultsAsShown(page)).toEqual([])
    await form.getByRole('button', { name: 'Save the task' }).click()
    await form.waitFor({ state: 'hidden' })
    const metadata = { order: 8, external_ticket: TICKET }
    expect(sent).toEqual([{ summary: HOSTILE, due_at: '2100-01-01T15:30:00.000Z', metadata }])
    expect(await read(id)).toMatchObject({ notes: 'Green.', priority: 'urgent', ...sent[0] })
    const link = page.getByRole('link', { name: TICKET.id, exact: true })
    await link.waitFor()
    expect([await link.getAttribute('href'), await link.getAttribute('rel')]).toEqual([TICKET.url, 'noopener'])
    await page.getByText('Changed: what is wanted, to be called, ticket or other metadata').waitFor()

    const again = await edited(page)
    await again.form.getByLabel('To be called').fill('')
    await again.form.getByLabel('To be done by').fill('')
    await again.form.getByLabel('Address of the ticket').fill('javascript:alert(1)')
    await again.saved()
    await factOf(page, 'Ticket').getByText(TICKET.id, { exact: true }).waitFor()
    await link.waitFor({ state: 'hidden' })
    expect(sent[1]).toMatchObject({ due_at: null, sla_due_at: null })

    const last = await edited(page)
    await last.form.getByRole('textbox', { name: /^Ticket/ }).fill('')
    await last.form.getByLabel('Address of the ticket').fill('')
    await last.saved()
    await factOf(page, 'Ticket').waitFor({ state: 'hidden' })
    expect((await read(id))['metadata']).toEqual({ order: 8 })
    expect(faults).toEqual([])
    await context.close()
  })

  it('asks before it writes over what somebody else has changed of the same, and says what cannot be', async () => {
    const id = await made({ summary: 'A chair.' })
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, pathOf(id))
    const { form, save } = await edited(page)
    await form.getByLabel('What is wanted').fill('Two chairs.')
    await ask('PATCH', `/callback-tasks/${id}`, { summary: 'A table.', priority: 'low' })
    await save()
    const both = form.getByRole('region', { name: 'Stored now and Yours' })
    await both.getByText('A table.').waitFor()
    await both.getByText('Two chairs.').waitFor()
    // What we have not changed is no matter of choice.
    expect(await both.getByText('normal').count()).toBe(0)
    expect(await faultsAsShown(page)).toEqual([])
    await form.getByRole('button', { name: 'Save mine over it', disabled: false }).press('Enter')
    await form.waitFor({ state: 'hidden' })
    expect(await read(id)).toMatchObject({ summary: 'Two chairs.', priority: 'low' })

    const { form: refused, save: send } = await edited(page)
    await page.route(`**/callback-tasks/${id}`, (route) =>
      route.request().method() === 'PATCH'
        ? route.continue({ postData: '{"queue_key":"No queue"}' })
        : route.fallback(),
    )
    await refused.getByLabel('Notes').fill('Green.')
    await send()
    await refused.getByRole('alert').getByText('invalid_request').waitFor()
    expect(await refused.getByLabel('Queue').getAttribute('aria-invalid')).toBe('true')
    await context.close()
  })

  it('is not written over what comes between the last look at it and the write, and keeps what was typed', async () => {
    const id = await made({ notes: 'Red.', metadata: { order: 7 } })
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, pathOf(id))
    const { form, save } = await edited(page)
    await form.getByLabel('Notes').fill('Green.')
    let isFirst = true
    await page.route(`**/callback-tasks/${id}`, async (route) => {
      if (route.request().method() === 'PATCH' && isFirst) {
        isFirst = false
        await ask('PATCH', `/callback-tasks/${id}`, { notes: 'Blue.', metadata: { order: 8 } })
      }
      await route.fallback()
    })
    await save()
    const both = form.getByRole('region', { name: 'Stored now and Yours' })
    await both.getByText('Blue.').waitFor()
    await both.getByText('Green.').waitFor()
    expect(await form.getByLabel('Notes').inputValue()).toBe('Green.')
    expect(await read(id)).toMatchObject({ notes: 'Blue.', metadata: { order: 8 } })
    await form.getByRole('button', { name: 'Save mine over it', disabled: false }).click()
    await form.waitFor({ state: 'hidden' })
    expect(await read(id)).toMatchObject({ notes: 'Green.', metadata: { order: 8 } })
    await context.close()
  })

  it('is not to be edited by whoever may only look at it', async () => {
    const id = await made({ metadata: { external_ticket: TICKET } })
    const context = await dashboard.loggedIn(WIDE, VIEWER)
    const { page } = await dashboard.visit(context, pathOf(id))
    await page.getByRole('link', { name: TICKET.id, exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Edit', exact: true }).count()).toBe(0)
    await context.close()
  })
})

describe.each(IS_FULL ? LOOKS : [NARROW])('the page of a task at $width px in $colorScheme colours', (look) => {
  it('tells what was done, when and by whom, and what came of its ticket, in words', async () => {
    const id = await made({ sla_due_at: '2020-01-01T14:00:00Z', metadata: { external_ticket: TICKET } })
    await ask('POST', '/admin/operator-queues/sweep')
    const act = (action: string, body: object) => ask('POST', `/callback-tasks/${id}/${action}`, body)
    await act('assign', { operator: 'grace', by: 'ann' })
    await act('acknowledge', { operator: 'grace' })
    await act('snooze', { until: '2100-01-01T14:00:00Z', reason: 'at lunch', operator: 'grace' })
    await act('wake', {})
    const body = JSON.stringify({ id: TICKET.id, status: 'closed' })
    tickets.answer({ status: 200, headers: { 'content-type': 'application/json' }, body })
    await ask('POST', '/admin/operator-queues/external-reconciliation/sweep')
    const context = await dashboard.loggedIn({ ...look, timezoneId: 'America/New_York' })
    const { page, faults } = await dashboard.visit(context, pathOf(id))
    for (const told of [
      'Ticket T-7 is closed',
      'For grace',
      /^It was to be done by/,
      /^Until 1 Jan 2100, 09:00|^Until Jan 1, 2100, 09:00/,
    ])
      await page.getByText(told).waitFor()
    for (const fact of ['Created by', 'Last SLA alert', 'Seen at', 'Completed at']) await factOf(page, fact).waitFor()
    // What was not done is not told of.
    expect(await factOf(page, 'Last tried at').count()).toBe(0)
    expect([...(await faultsAsShown(page)), ...faults]).toEqual([])
    await context.close()
  })
})

describe('a call that may not be placed', () => {
  it.each([
    [{ order: 7 }, ['dnc_listed', 'consent_missing']],
    [{ consent: true }, ['dnc_listed']],
  ])('is told with all that speaks against the task with %j: %j', async (metadata, codes) => {
    const id = await made({ customer_phone: LISTED, metadata })
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, pathOf(id))
    await page.getByRole('button', { name: 'Call back now' }).click()
    const dialog = page.getByRole('dialog')
    // A machine that is too busy for a call says that first.
    const refused = async () => {
      await dialog.getByRole('button', { name: 'Call back now', disabled: false }).click()
      expect(await dialog.getByRole('alert').textContent()).toContain('on the do-not-call list')
    }
    await vi.waitFor(refused, { timeout: 60_000, interval: 1_000 })
    const told = await dialog.getByRole('alert').textContent()
    const all = ['dnc_listed', 'consent_missing', 'outside_calling_hours']
    expect(all.filter((code) => told?.includes(code))).toEqual(codes)
    await context.close()
  })

  it('is asked about with the consent of whom it is for', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, '/app/t/demo/do-not-call')
    await page.getByRole('textbox', { name: /^Number/ }).fill('+1 202 555 0155')
    await page.getByRole('button', { name: 'Ask', disabled: false }).click()
    await page.getByText(/Nobody says that this person agreed/).waitFor()
    await page.getByLabel('They agreed to be called').check()
    // What was said without it says nothing of this.
    await page.getByText('It may not be called now').waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Ask', disabled: false }).click()
    await page.getByText('It may be called now').waitFor()
    await context.close()
  })
})
