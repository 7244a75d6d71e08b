import type { BrowserContext, Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { LOGIN, useDashboard } from './harness/dashboard.ts'
import { HOSTILE } from './harness/hostile.ts'
import { IS_FULL, LOOKS, NARROW, WIDE } from './harness/looks.ts'
import { faultsAsShown } from './harness/page-faults.ts'

const LISTED = '+12025550177'
/** As long as a task that is shown takes to be read again, and a little. */
const READ_AGAIN_MS = 20_000
/** After which its lists are read again. */
const LOOKS_MS = 10_000

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const dashboard = useDashboard()
/** Of tasks: one that is urgent and has a call, one for later. */
let tasks: { urgent: string; normal: string }

beforeAll(async () => fill(await dashboard.call('Please call me back.')))

type Asked = { task: { id: string; status: string; disposition: string | null; notes: string | null }; count: number }

const ask = (method: string, path: string, body?: unknown) => dashboard.ask<Asked>(method, path, body)

/** Tasks whose texts would do harm if they could. */
async function fill(callSid: string): Promise<void> {
  const texts = { summary: HOSTILE, notes: HOSTILE }
  const urgent = { customer_phone: '+12025550123', priority: 'urgent', call_sid: callSid, ...texts }
  const made = await ask('POST', '/callback-tasks', urgent)
  // Who is listed later has no tasks any more.
  await ask('POST', '/dnc', { phone: LISTED, reason: HOSTILE })
  const late = { customer_phone: LISTED, sla_due_at: new Date(Date.now() - 60_000).toISOString(), ...texts }
  const other = await ask('POST', '/callback-tasks', late)
  tasks = { urgent: made.task.id, normal: other.task.id }
}

const visit = (context: BrowserContext, path: string) => dashboard.visit(context, `/app/t/demo/${path}`)

/** Until a window has begun in its first field: what is written into another one before goes into that. */
const begun = (form: Locator) => form.locator('*:focus').waitFor()

const harm = (page: Page) => page.locator('main img, main script, main svg[onload]').count()

// Each of these pages is looked at in the wide by dashboard-every-page.
describe.each(IS_FULL ? LOOKS : [NARROW])('at $width px in $colorScheme colours', (look) => {
  it('has nothing that keeps somebody out, and shows texts as they are', async () => {
    const context = await dashboard.loggedIn(look)
    const found: Record<string, string[]> = {}
    for (const [path, sign] of [
      ['desk', 'Claim next of default'],
      [`desk/tasks/${tasks.urgent}`, 'Please call me back.'],
      ['desk/queues/default', 'Add hours'],
      ['desk/sweeps', 'Show what would be dispatched'],
      ['do-not-call', HOSTILE],
      ['campaigns', 'New campaign'],
    ] as const) {
      const { page, faults } = await visit(context, path)
      await page.getByText(sign).first().waitFor()
      const wrong = [...(await faultsAsShown(page)), ...faults]
      if ((await harm(page)) > 0) wrong.push('a text became HTML')
      if (path === 'do-not-call' && !(await isInSight(page, 'Remove'))) wrong.push('nobody sees how to remove a number')
      if (wrong.length > 0) found[path] = wrong
      await page.close()
    }
    expect(found).toEqual({})
    await context.close()
  })
})

/** Whether a button of a row can be pressed without moving the list. */
async function isInSight(page: Page, name: string): Promise<boolean> {
  const box = await page.getByRole('row').getByRole('button', { name }).first().boundingBox()
  return box !== null && box.x >= 0 && box.x + box.width <= (page.viewportSize()?.width ?? 0)
}

describe('a campaign', () => {
  it('is made of a list, once what is wrong is mended in its fields, with the lines that are left out, started, paused and cancelled', async () => {
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page, faults } = await visit(context, 'campaigns')
    await page.getByRole('button', { name: 'New campaign' }).click()
    const form = page.getByRole('dialog', { name: 'New campaign' })
    await begun(form)
    await form.getByLabel('Name').fill('Spring \u202E')
    await form.getByLabel('Agent').selectOption({ index: 1 })
    // As the page itself writes it.
    await form.getByLabel('Call from').fill('+1 202 555 0100')
    const csv = 'phone,name,consent\n+12025550123,Ann,true\nno number,Bob,true\n+12025550124,Eve,true\n'
    const file = { name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) }
    await form.getByLabel('Or take them from a file').setInputFiles(file)
    await form.getByLabel('Calls a second').fill('1000')
    await form.getByLabel('Minutes between them').fill('30, soon')
    await form.getByLabel('Not before').fill('nine')
    await form.getByLabel('Not after').fill('17:00')
    await form.getByLabel('Nobody is called before').fill('2100-01-01T09:00')
    await form.getByRole('button', { name: 'Make the campaign' }).click()
    await form.getByRole('alert').waitFor()
    const isWrong = (label: string) => form.getByLabel(label).getAttribute('aria-invalid')
    for (const label of ['Calls a second', 'Minutes between them', 'Not before'])
      expect([label, await isWrong(label)]).toEqual([label, 'true'])
    for (const label of ['Calls at once', 'Not after']) expect([label, await isWrong(label)]).not.toContain('true')
    await form.getByLabel('Calls a second').fill('2')
    await form.getByLabel('Minutes between them').fill('30, 60, 120')
    await form.getByLabel('Not before').fill('17:00')
    await form.getByRole('button', { name: 'Make the campaign' }).click()
    for (const label of ['Not before', 'Not after']) await expect.poll(() => isWrong(label)).toBe('true')
    await form.getByLabel('Not before').fill('09:00')
    await form.getByRole('button', { name: 'Make the campaign' }).click()

    await page.getByText('It has 2 contacts, and calls nobody yet.').waitFor()
    const bad = page.getByRole('group', { name: 'Lines that were left out' }).getByRole('row').nth(1)
    expect(await bad.getByRole('cell').first().textContent()).toBe('3')
    await page.getByRole('link', { name: 'Look at it, and start it' }).click()
    await page.getByText('0 of 2 done').waitFor()
    await expect.poll(() => page.title()).toBe('Spring · Parley')
    await page.getByRole('cell', { name: '+1 202 555 0124' }).waitFor()
    await page.getByText('3 at most, after 30, 60 minutes').waitFor()
    faults.splice(0, 2)

    for (const [button, state] of [
      ['Start', 'Running'],
      ['Pause', 'Paused'],
      ['Go on', 'Running'],
      ['Cancel the campaign', 'Cancelled'],
    ] as const) {
      await page.getByRole('button', { name: button, exact: true }).click()
      const dialog = page.getByRole('dialog', { name: `${button}?` })
      await dialog.getByRole('button', { name: 'Close' }).waitFor()
      await dialog.getByRole('button', { name: button, exact: true }).click()
      await page.locator('header').getByText(state, { exact: true }).waitFor()
    }
    await page.getByText('2 of 2 done').waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    expect(faults).toEqual([])
    await context.close()
  })
})

type CampaignAnswer = { campaign: { id: string; contacts: object } }

describe('a part of a page that is a list', () => {
  it('keeps the keyboard where more of it was asked for, and where it was read again', async () => {
    const contacts = Array.from({ length: 51 }, (_, n) => ({ phone: `+12025550${100 + n}` }))
    const settings = { name: 'Long', agent_key: 'front-desk' }
    const made = await dashboard.ask<{ campaign: { id: string } }>('POST', '/campaigns', { ...settings, contacts })
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await visit(context, `campaigns/${made.campaign.id}`)
    const rows = page.locator('div:focus').getByRole('row')
    await page.getByRole('button', { name: 'Load more' }).press('Enter')
    await expect.poll(() => rows.count()).toBe(52)

    const failing = `**/campaigns/${made.campaign.id}/calls*`
    const broken = { status: 500, json: { ok: false, error: 'It broke.', code: 'internal_error', request_id: 'r' } }
    await page.route(failing, (route) => route.fulfill(broken))
    await page.getByLabel('Status').selectOption('pending')
    const again = page.getByRole('button', { name: 'Try again' })
    await again.waitFor()
    await page.unroute(failing)
    await again.press('Enter')
    await expect.poll(() => rows.count()).toBe(51)

    const list = /\/api\/v1\/campaigns($|\?)/
    await page.route(list, (route) => route.fulfill(broken))
    await page.goto(`${dashboard.address}/app/t/demo/campaigns`)
    await again.waitFor()
    await page.unroute(list)
    await again.press('Enter')
    await expect.poll(() => rows.filter({ hasText: 'Long' }).count()).toBe(1)
    await context.close()
  })
})

describe('a campaign that calls', () => {
  it('shows what has become of its last contact when it is over', async () => {
    const contacts = [{ phone: '+12025550125' }]
    const { campaign } = await dashboard.ask<CampaignAnswer>('POST', '/campaigns', {
      ...{ name: 'Autumn', agent_key: 'front-desk', contacts },
    })
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await visit(context, 'campaigns')
    const is = { over: false, told: false }
    await page.route(`**/api/v1/campaigns/${campaign.id}`, async (route) => {
      const counts = { ...campaign.contacts, pending: 0, [is.over ? 'completed' : 'dialing']: 1 }
      const now = { status: is.over ? 'completed' : 'running', contacts: counts }
      await route.fulfill({ json: { ok: true, campaign: { ...campaign, ...now } } })
      is.told = is.over
    })
    // Its contacts are asked for less often: what is read of them before the end is not all.
    await page.route(`**/api/v1/campaigns/${campaign.id}/calls*`, async (route) => {
      const response = await route.fetch()
      const { calls } = (await response.json()) as { calls: object[] }
      const now = is.told ? { status: 'completed', outcome: 'reached' } : { status: 'dialing' }
      await route.fulfill({ response, json: { ok: true, calls: calls.map((call) => ({ ...call, ...now })) } })
    })
    await page.goto(`${dashboard.address}/app/t/demo/campaigns/${campaign.id}`)
    const row = page.getByRole('row').filter({ hasText: '+1 202 555 0125' })
    await row.getByText('Dialing').waitFor()
    is.over = true
    await page.getByText('1 of 1 done').waitFor()
    const outcome = row.getByText('Reached').filter({ visible: true })
    await outcome.waitFor()
    // On a phone there is no room for its column.
    await page.setViewportSize({ width: 390, height: 800 })
    await outcome.waitFor()
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })
})

const OPERATOR = 'robin@demo.example'

describe('the desk', () => {
  it('takes a task from an operator and leads to it; calls are placed by those alone who may', async () => {
    await ask('POST', '/admin/tenants/demo/users', { email: OPERATOR, role: 'operator', password: LOGIN.password })
    const look = { ...WIDE, timezoneId: 'America/New_York' }
    const context = await dashboard.loggedIn(look, OPERATOR)
    const { page, faults } = await visit(context, 'desk?queue_key=sales')
    await page.getByRole('button', { name: 'New task' }).waitFor()
    await page.keyboard.press('m')
    const form = page.getByRole('dialog', { name: 'New task' })
    await begun(form)
    await form.getByLabel("Customer's number").fill('+1 202 555 0166')
    await form.getByLabel('What is wanted').fill(HOSTILE)
    await form.getByLabel('Priority').selectOption('low')
    await form.getByLabel('To be called', { exact: true }).fill('2100-01-01T09:00')
    await form.getByLabel('They agreed to be called').check()
    expect(await faultsAsShown(page)).toEqual([])
    // Whoever presses again after an answer was lost has one task.
    await page.route('**/api/v1/callback-tasks', (route) => route.fetch().then(() => route.abort()), { times: 1 })
    await form.getByRole('button', { name: 'Make the task' }).click()
    await form.getByText('The service cannot be reached.').waitFor()
    await form.getByRole('button', { name: 'Make the task' }).click()
    await page.getByRole('heading', { name: '+1 202 555 0166' }).waitFor()
    expect((await ask('GET', '/callback-tasks?customer_phone=%2B12025550166')).count).toBe(1)
    const id = new URL(page.url()).pathname.split('/').at(-1)
    expect((await ask('GET', `/callback-tasks/${id}`)).task).toMatchObject({
      ...{ customer_phone: '+12025550166', summary: HOSTILE, queue_key: 'sales', priority: 'low' },
      // Nine o'clock of whoever writes it.
      ...{ due_at: '2100-01-01T14:00:00.000Z', metadata: { consent: true } },
    })
    expect(await harm(page)).toBe(0)
    expect(faults).toEqual([expect.stringMatching(/ERR_FAILED.*callback-tasks/)])
    await page.goto(`${dashboard.address}/app/t/demo/calls`)
    await page.getByRole('row').nth(1).waitFor()
    expect(await page.getByRole('button', { name: 'Place a call' }).count()).toBe(0)
    await context.close()
  })

  it('goes on by the keyboard where the button was that was pressed', async () => {
    const asked = { customer_phone: '+12025550198', queue_key: 'other' }
    const { id } = (await ask('POST', '/callback-tasks', asked)).task
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await visit(context, `desk/tasks/${id}`)
    for (const [button, next] of [
      ['Acknowledge', 'Claim'],
      ['Claim', 'Release'],
      ['Release', 'Claim'],
    ] as const) {
      await page.getByRole('button', { name: button, exact: true, disabled: false }).press('Enter')
      await page.locator('div:focus').getByRole('button', { name: next, exact: true }).waitFor()
    }
    await context.close()
  })

  it.each([
    ['Complete', 'Complete the task', 'Reopen'],
    ['Snooze', 'Snooze the task', 'Wake'],
  ])('goes on by the keyboard on the page when its window has taken %s away', async (button, submit, next) => {
    const asked = { customer_phone: '+12025550196', queue_key: 'other' }
    const { id } = (await ask('POST', '/callback-tasks', asked)).task
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await visit(context, `desk/tasks/${id}`)
    await page.getByRole('button', { name: button, exact: true, disabled: false }).press('Enter')
    const form = page.getByRole('dialog', { name: button })
    await form.locator('*:focus').waitFor()
    await form.getByRole('button', { name: submit, disabled: false }).press('Enter')
    await page.getByRole('button', { name: next, exact: true }).waitFor()
    await form.waitFor({ state: 'hidden' })
    // Either what is around the buttons, or the page.
    await page.locator('main:focus, main div:focus').waitFor()
    await context.close()
  })

  it('calls a queue on the page of a task as people do', async () => {
    await ask('PUT', '/admin/tenants/demo/operator-queues/named', { name: 'Returns, north' })
    const asked = { customer_phone: '+12025550194', queue_key: 'named' }
    const { id } = (await ask('POST', '/callback-tasks', asked)).task
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    for (const path of ['desk?queue_key=named', `desk/tasks/${id}`]) {
      const { page } = await visit(context, path)
      await page.getByRole('button', { name: 'Claim next of Returns, north', exact: true }).waitFor()
      await page.close()
    }
    await context.close()
  })

  it('says that nothing is due for as long as its lists stand', async () => {
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await visit(context, 'desk')
    await page.clock.install()
    await page.goto(`${dashboard.address}/app/t/demo/desk?queue_key=quiet`)
    await page.getByRole('button', { name: 'Claim next of quiet', disabled: false }).click()
    const nothing = page.getByText('Nothing is due in quiet.')
    await nothing.waitFor()
    await ask('POST', '/callback-tasks', { customer_phone: '+12025550195', queue_key: 'quiet' })
    await page.clock.fastForward(LOOKS_MS)
    await page.getByRole('link', { name: '+1 202 555 0195' }).waitFor()
    await nothing.waitFor({ state: 'hidden' })
    await context.close()
  })

  it('leads to what is late also where somebody has claimed it', async () => {
    const anHourAgo = new Date(Date.now() - 60 * 60 * 1_000).toISOString()
    const body = { customer_phone: '+12025550193', queue_key: 'tardy', sla_due_at: anHourAgo }
    const { task } = await ask('POST', '/callback-tasks', body)
    await ask('POST', `/callback-tasks/${task.id}/claim`, { operator: 'grace' })
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await visit(context, 'desk?status=open')
    const queues = page.getByRole('region', { name: 'Queues' })
    for (const name of ['1 late of tardy', 'tardy']) {
      await queues.getByRole('link', { name, exact: true }).click()
      await page.waitForURL('**/desk?queue_key=tardy')
      await page.getByRole('link', { name: '+1 202 555 0193' }).waitFor()
      await page.goto(`${dashboard.address}/app/t/demo/desk?status=open`)
    }
    await context.close()
  })

  it('has nothing stand out but what is to be done next', async () => {
    const { task } = await ask('POST', '/callback-tasks', { customer_phone: '+12025550192', queue_key: 'plain' })
    const contacts = [{ phone: '+12025550192' }]
    const { campaign } = await dashboard.ask<{ campaign: { id: string } }>('POST', '/campaigns', {
      ...{ name: 'Next', agent_key: 'front-desk', contacts },
    })
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await visit(context, `desk/tasks/${task.id}`)
    const standsOut = page.locator('main .mantine-Button-root:not([data-variant=default]):visible')
    const next = () => standsOut.allInnerTexts()
    await expect.poll(next).toEqual(['Claim'])
    await standsOut.click()
    await expect.poll(next).toEqual(['Complete'])
    await ask('POST', `/callback-tasks/${task.id}/complete`, { disposition: 'resolved' })
    await page.reload()
    await expect.poll(next).toEqual(['Claim next of plain'])
    await page.goto(`${dashboard.address}/app/t/demo/campaigns/${campaign.id}`)
    await expect.poll(next).toEqual(['Start'])
    await context.close()
  })

  it('is gone back to from a task with the filters that it had', async () => {
    const { task } = await ask('POST', '/callback-tasks', { customer_phone: '+12025550194', queue_key: 'filtered' })
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await visit(context, 'desk?queue_key=filtered')
    await page.getByLabel('Status', { exact: true }).selectOption('open')
    await page.waitForURL('**/desk?queue_key=filtered&status=open')
    await page.getByRole('link', { name: '+1 202 555 0194' }).click()
    await page.waitForURL(`**/desk/tasks/${task.id}`)
    await page.locator('main').getByRole('link', { name: 'Desk', exact: true }).click()
    await page.waitForURL('**/desk?queue_key=filtered&status=open')
    await context.close()
  })

  it('goes on along its rows by the keyboard when somebody else has done the task that it was at', async () => {
    for (const end of [1, 2, 3])
      await ask('POST', '/callback-tasks', { customer_phone: `+1202555018${end}`, queue_key: 'rows' })
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await visit(context, 'desk')
    await page.clock.install()
    await page.goto(`${dashboard.address}/app/t/demo/desk?queue_key=rows`)
    const rows = page.getByRole('group', { name: 'Desk', exact: true }).getByRole('link')
    await expect.poll(() => rows.count()).toBe(3)
    const [, second, third] = await Promise.all([0, 1, 2].map((at) => rows.nth(at).getAttribute('href')))
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    const at = () => page.locator('*:focus').getAttribute('href')
    expect(await at()).toBe(second)
    await ask('POST', `/callback-tasks/${second?.split('/').at(-1)}/complete`, { disposition: 'resolved' })
    await page.clock.fastForward(LOOKS_MS)
    await expect.poll(() => rows.count()).toBe(2)
    await page.keyboard.press('j')
    expect(await at()).toBe(third)
    await context.close()
  })

  it('leads by the keyboard from the next task to its end', async () => {
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page, faults } = await visit(context, 'desk')
    await page.getByRole('button', { name: 'Claim next of default' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByText('Claim the next of default').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })

    // In a menu a letter is for the menu: it claims nothing.
    await page.getByRole('button', { name: 'Logged in as ada', disabled: false }).press('Enter')
    // It is closed by a key that it hears: one that comes before it has the focus is lost.
    await page.locator('[role=menu] *:focus').waitFor({ state: 'attached' })
    const claims: string[] = []
    page.on('request', (request) => request.url().endsWith('/claim-next') && claims.push(request.url()))
    await page.keyboard.press('n')
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'hidden' })
    expect(claims).toEqual([])

    await page.keyboard.press('n')
    await page.getByRole('heading', { name: 'Conversation' }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/app/t/demo/desk/tasks/${tasks.urgent}`)
    await page.getByText(HOSTILE).first().waitFor()
    await page.getByText('Please call me back.', { exact: true }).waitFor()

    await page.keyboard.press('a')
    await page.getByRole('button', { name: 'Acknowledge' }).waitFor({ state: 'hidden' })
    await page.keyboard.press('d')
    await begun(page.getByRole('dialog', { name: 'Complete' }))
    await page.getByLabel('How it went').selectOption('reached')
    await page.getByLabel('Notes').fill(`Called. ${HOSTILE}`)
    await page.getByRole('button', { name: 'Complete the task', disabled: false }).press('Enter')
    await page.getByRole('button', { name: 'Reopen' }).waitFor()
    await page.getByText(`Called. ${HOSTILE}`).first().waitFor()
    expect(await harm(page)).toBe(0)
    const { task } = await ask('GET', `/callback-tasks/${tasks.urgent}`)
    expect(task).toMatchObject({
      status: 'completed',
      disposition: 'reached',
      assigned_to: 'ada',
      acknowledged_by: 'ada',
    })
    expect(faults).toEqual([])
    await context.close()
  })

  it.each([390, 768, 900, 1024])(
    'says of each task how urgent it is, what is wanted and who has claimed it at %d px, without scrolling sideways',
    async (width) => {
      await ask('POST', `/callback-tasks/${tasks.normal}/claim`, { operator: 'grace.lund@demo.example' })
      const context = await dashboard.loggedIn({ width, colorScheme: 'light' })
      const { page } = await visit(context, 'desk')
      const list = page.getByRole('group', { name: 'Desk', exact: true })
      const row = list.getByRole('row').filter({ hasText: 'default, claimed by grace.lund@demo.example' })
      for (const told of ['Claimed', 'Normal', HOSTILE])
        await row.getByText(told, { exact: true }).filter({ visible: true }).waitFor()
      expect(await list.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
      await ask('POST', `/callback-tasks/${tasks.normal}/release`, {})
      await context.close()
    },
  )

  it('forgets what its tasks were filtered by when a link leads to others', async () => {
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await visit(context, 'desk')
    const queue = page.getByLabel('Queue', { exact: true })
    await queue.fill('nowhere')
    await page.getByText('No task is like that').waitFor()
    await page.getByRole('link', { name: 'My tasks' }).click()
    await page.waitForURL(/assigned_to=ada/)
    await expect.poll(() => queue.inputValue()).toBe('')
    expect(new URL(page.url()).searchParams.get('queue_key')).toBeNull()
    await context.close()
  })

  it('puts a task off and wakes it, tells of a refused call, and of somebody who was quicker', async () => {
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'dark' })
    const { page } = await visit(context, `desk/tasks/${tasks.normal}`)
    await page.getByRole('button', { name: 'Snooze' }).click()
    await begun(page.getByRole('dialog'))
    await page.getByLabel('Why').fill('at lunch')
    await page.getByRole('button', { name: 'Snooze the task' }).click()
    await page.getByText('at lunch').first().waitFor()
    await page.getByRole('button', { name: 'Wake' }).click()

    // A time that is typed, without a step from its year to its hour.
    await page.getByRole('button', { name: 'Snooze' }).click()
    await begun(page.getByRole('dialog'))
    await page.getByLabel('Until').selectOption({ label: 'At a time of your own' })
    const until = page.getByLabel('Day and time')
    await until.focus()
    await page.keyboard.type('120121000930AM')
    expect(await until.inputValue()).toBe('2100-12-01T09:30')
    await page.getByRole('button', { name: 'Snooze the task' }).click()
    await page.getByRole('button', { name: 'Wake' }).click()

    await page.getByRole('button', { name: 'Call back now' }).click()
    const dialog = page.getByRole('dialog')
    // A machine that is too busy for a call says that first.
    const refused = async () => {
      await dialog.getByRole('button', { name: 'Call back now' }).click()
      expect(await dialog.getByRole('alert').textContent()).toContain('on the do-not-call list')
    }
    await vi.waitFor(refused, { timeout: 60_000, interval: 1_000 })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })

    // Somebody else is between what is shown and what is done.
    const path = `**/callback-tasks/${tasks.normal}/claim`
    await page.route(path, async (route) => {
      await ask('POST', `/callback-tasks/${tasks.normal}/claim`, { operator: 'grace' })
      await route.continue()
    })
    await page.getByRole('button', { name: 'Claim', exact: true }).click()
    await page.getByText('Somebody was quicker.').waitFor()
    await page.getByRole('button', { name: 'Release' }).waitFor()
    await context.close()
  })

  it('keeps what is written of a task that somebody else has done meanwhile, and says so', async () => {
    const asked = { customer_phone: '+12025550199', queue_key: 'other' }
    const { id } = (await ask('POST', '/callback-tasks', asked)).task
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await visit(context, 'desk')
    await page.clock.install()
    await page.goto(`${dashboard.address}/app/t/demo/desk/tasks/${id}`)
    await page.getByRole('button', { name: 'Complete' }).click()
    const form = page.getByRole('dialog', { name: 'Complete' })
    await begun(form)
    await form.getByLabel('Notes').fill('She wants the green chair.')
    await ask('POST', `/callback-tasks/${id}/cancel`, { operator: 'grace' })
    await page.clock.fastForward(READ_AGAIN_MS)
    await page.locator('header').getByText('Cancelled', { exact: true }).waitFor()
    expect(await form.getByLabel('Notes').inputValue()).toBe('She wants the green chair.')
    await form.getByRole('button', { name: 'Complete the task' }).click()
    await form.getByRole('alert').getByText('conflict', { exact: true }).waitFor()
    await form.getByRole('button', { name: 'Cancel' }).click()
    await form.waitFor({ state: 'hidden' })
    expect(await page.getByRole('button', { name: 'Complete' }).count()).toBe(0)
    // What is not offered is not pressed by its key either.
    await page.keyboard.press('d')
    expect(await form.count()).toBe(0)
    expect(await faultsAsShown(page)).toEqual([])
    await context.close()
  })

  it('sets how a queue works, and says what is wrong with what cannot be', async () => {
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await visit(context, 'desk/queues/sales')
    await page.getByLabel('Time zone').fill('Nowhere/Town')
    await page.getByRole('button', { name: 'Add hours' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').first().waitFor()
    await page.getByLabel('Time zone').fill('Europe/Berlin')
    // The keyboard goes on where it was: at what saves, and beside the hours that are gone.
    const save = page.getByRole('button', { name: 'Save' })
    await save.press('Enter')
    await page.getByText('Saved.').waitFor()
    await page.locator('*:focus').and(save).waitFor()
    await page.getByRole('button', { name: 'Remove span 1' }).press('Enter')
    await page.locator('div:focus').getByRole('button', { name: 'Add hours' }).waitFor()
    await save.click()
    await page.getByText('Saved.').waitFor()
    await page.getByRole('link', { name: 'Desk' }).first().click()
    await page.getByRole('link', { name: 'sales', exact: true }).waitFor()
    await context.close()
  })
})

describe('a queue that is set', () => {
  it('can be given the defaults again, and one that has them cannot', async () => {
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page, faults } = await visit(context, 'desk/queues/returns')
    const name = page.getByLabel('Name')
    await name.fill('Returns')
    const reset = page.getByRole('button', { name: 'Back to the defaults', exact: true })
    expect(await reset.isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    await page.getByRole('button', { name: 'Back to the defaults', disabled: false }).press('Enter')
    const question = page.getByRole('dialog', { name: 'Back to the defaults?' })
    await question.getByRole('button', { name: 'Back to the defaults', disabled: false }).press('Enter')
    await question.waitFor({ state: 'hidden' })
    await expect.poll(() => name.inputValue()).toBe('')
    await page.getByRole('button', { name: 'Back to the defaults', exact: true, disabled: true }).waitFor()
    // The button cannot have the focus back.
    await expect.poll(() => focused(page)).toBe('content')
    expect(faults).toEqual([])
    await context.close()
  })
})

describe('a machine whose clock is wrong', () => {
  it('does not change what is late', async () => {
    const context = await dashboard.loggedIn(WIDE)
    await context.clock.install({ time: Date.now() + 60 * 60_000 })
    const due = { queue_key: 'clocks', sla_due_at: new Date(Date.now() + 30 * 60_000).toISOString() }
    await ask('POST', '/callback-tasks', { customer_phone: '+12025550191', ...due })
    const { page } = await visit(context, 'desk?queue_key=clocks')
    const row = page.getByRole('row').filter({ hasText: '+1 202 555 0191' })
    await row.getByText(/^(30:00|29:\d\d|28:\d\d) left$/).waitFor()
    await context.close()
  })
})

describe('a queue that is closed', () => {
  it('has nothing that is late, and says when that will be', async () => {
    const dayMs = 24 * 60 * 60 * 1_000
    const inTwoDays = new Intl.DateTimeFormat('en', { weekday: 'short', timeZone: 'UTC' }).format(
      Date.now() + 2 * dayMs,
    )
    const hours = [{ days: [inTwoDays.toLowerCase()], start: '09:00', end: '17:00' }]
    const settings = { business_hours: hours, timezone: 'UTC' }
    await ask('PUT', '/admin/tenants/demo/operator-queues/weekly', settings)
    const anHourAgo = new Date(Date.now() - 60 * 60 * 1_000).toISOString()
    const task = { customer_phone: '+12025550123', queue_key: 'weekly', sla_due_at: anHourAgo }
    await ask('POST', '/callback-tasks', task)
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await visit(context, 'desk')
    const row = page.getByRole('region', { name: 'Queues' }).getByRole('row').filter({ hasText: 'weekly' })
    await row.getByText('When it opens').waitFor()
    expect(await row.getByText(/late/).count()).toBe(0)
    // On a telephone no word gives way to that.
    await page.setViewportSize({ width: 390, height: 900 })
    const heightPx = async () => (await row.getByRole('link', { name: 'weekly: Settings' }).boundingBox())?.height ?? 99
    await expect.poll(heightPx).toBeLessThan(30)
    await context.close()
  })
})

const focused = (page: Page) => page.evaluate<string>('document.activeElement.id')

describe('the do-not-call list', () => {
  it('imports a list, names the line that is wrong, and finds, checks and removes a number', async () => {
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page, faults } = await visit(context, 'do-not-call')
    const letters = Buffer.from('phone,reason\n+12025550187,M\u00fcller\n', 'latin1')
    await page.getByLabel(/A CSV file/).setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer: letters })
    await page.getByRole('alert').getByText('Save it as “CSV UTF-8”').waitFor()
    const csv = `phone,reason\n+12025550188,"asked\nfor it"\nno number,\n${LISTED},again\n`
    const file = { name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) }
    await page.getByLabel(/A CSV file/).setInputFiles(file)
    await page.getByText('1 listed, 1 were there already, 1 refused.').waitFor()
    expect(await page.getByText('CSV UTF-8').count()).toBe(0)
    const bad = page.getByRole('group', { name: 'Lines that were refused' }).getByRole('row').nth(1)
    expect(await bad.getByRole('cell').first().textContent()).toBe('4')

    await page.getByRole('textbox', { name: /^Number/ }).fill('+12025550188')
    await page.getByRole('button', { name: 'Ask' }).click()
    await page.getByText('It may not be called now').waitFor()
    await page.getByRole('textbox', { name: /^Number/ }).fill('+12025550189')
    expect(await page.getByText('It may not be called now').count()).toBe(0)

    await page.getByLabel('Find a number').fill('+1 202 555 0188')
    const row = page.getByRole('group', { name: 'Do not call' }).getByRole('row').filter({ hasText: 'asked for it' })
    await page.getByText('One in all').waitFor()
    await row.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('The number is not listed').waitFor()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await expect.poll(() => focused(page)).toBe('content')

    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    expect((await saved).suggestedFilename()).toBe('do-not-call.csv')
    // A browser tells of each answer that says that something is not there.
    expect(faults.filter((fault) => !fault.includes('404'))).toEqual([])
    await context.close()
  })
})
