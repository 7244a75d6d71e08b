import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { LOGIN, useDashboard } from './harness/dashboard.ts'
import { WIDE } from './harness/looks.ts'
import { faultsAsShown } from './harness/page-faults.ts'

const LONG_MS = 30_000

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const dashboard = useDashboard({ settings: { SIMULATOR: 'off', SWEEP_INTERVAL_SECONDS: '0' }, tenant: 'acme' })

beforeAll(async () => {
  await dashboard.ask('PUT', '/admin/tenants/acme', { tenant_id: 'acme', name: 'Acme' })
})

async function visit(path: string) {
  const context = await dashboard.loggedIn(WIDE)
  const { page } = await dashboard.visit(context, `/app/t/acme/${path}`)
  return { context, page }
}

/** From now on nobody answers what is read. */
const away = (page: Page) =>
  page.route('**/api/v1/**', (route) => (route.request().method() === 'GET' ? route.abort() : route.fallback()))

describe('a page whose service is away', () => {
  it.each([
    ['live', 'No call is going on'],
    ['campaigns', 'Nobody is being called'],
    ['people', 'No keys yet'],
    ['overview', 'No agent had calls'],
  ])('says of %s what failed, and no longer that there is nothing', async (path, nothing) => {
    const { context, page } = await visit(path)
    await page.clock.install()
    await page.reload()
    await page.getByText(nothing).waitFor()
    await away(page)
    await readAgain(page)
    await page.getByText('The service cannot be reached.').first().waitFor()
    await page.getByText(nothing).waitFor({ state: 'hidden' })
    expect(await faultsAsShown(page)).toEqual([])
    await page.unroute('**/api/v1/**')
    // A page that reads by itself may have done so by now: then there is nothing to press beside what it says.
    await page.getByRole('button', { name: 'Try again' }).or(page.getByText(nothing)).last().click()
    await page.getByText(nothing).waitFor()
    await context.close()
  })
})

describe('a page of one thing that cannot be read', () => {
  it('keeps the keyboard when it is tried again', async () => {
    const { context, page } = await visit('numbers')
    await page.getByRole('heading', { name: 'Numbers', exact: true }).waitFor()
    await away(page)
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    const again = page.getByRole('button', { name: 'Try again' })
    await again.press('Enter')
    await page.locator('main:focus').waitFor()
    await again.waitFor()
    await page.unroute('**/api/v1/**')
    await again.press('Enter')
    await page.getByText('Everything, as JSON').waitFor()
    await page.locator('main:focus').waitFor()
    await context.close()
  })
})

describe('a page of figures that cannot be read', () => {
  it.each([
    ['t/acme/overview', 'By agent'],
    ['', 'By tenant'],
  ])('says so at /%s, and keeps no place for what is read after them', async (path, part) => {
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, '/app/t/acme/numbers')
    await page.getByRole('heading', { name: 'Numbers', exact: true }).waitFor()
    await page.route('**/analytics/**', (route) => route.abort())
    await page.goto(`${dashboard.address}/app/${path}`)
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor()
    await page.getByText('Nothing is late.').waitFor()
    expect(await page.getByRole('region', { name: part }).count()).toBe(0)
    expect(await page.locator('[aria-busy=true]').count()).toBe(0)
    await page.unroute('**/analytics/**')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('region', { name: part }).waitFor()
    await context.close()
  })
})

/** As when a page is looked at again after a while. */
async function readAgain(page: Page): Promise<void> {
  await page.clock.fastForward(60_000)
  await page.evaluate("dispatchEvent(new Event('visibilitychange'))")
}

describe('a request that nobody answers', () => {
  it('is told of in its window after half a minute, goes on, and is done when it is answered at last', async () => {
    const { context, page } = await visit('people')
    await page.clock.install()
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    await page.route('**/api/v1/admin/tenants/acme/api-keys', async (route) => {
      if (route.request().method() === 'POST') await answered
      await route.fallback()
    })
    await page.reload()
    await page.getByRole('button', { name: 'New key' }).click()
    const form = page.getByRole('dialog', { name: 'New key' })
    await form.locator('*:focus').waitFor()
    await form.getByRole('textbox', { name: /^Label/ }).fill('Till')
    const asked = page.waitForRequest((request) => request.method() === 'POST')
    const nowMs = () => page.evaluate<number>('Date.now()')
    const beforeMs = await nowMs()
    await form.getByRole('button', { name: 'Make the key' }).click()
    await asked
    const askedMs = await nowMs()
    const told = form.getByText('No answer has come yet. It may be done all the same')
    // However long this machine took for that: time stands until it has been looked.
    await page.clock.pauseAt(beforeMs + LONG_MS - 1_000)
    expect(await told.count()).toBe(0)
    await page.clock.runFor(askedMs - beforeMs + 1_000)
    await told.waitFor()
    await page.clock.resume()
    expect(await faultsAsShown(page)).toEqual([])
    answer()
    await form.waitFor({ state: 'hidden' })
    await page.getByRole('cell', { name: 'Till' }).waitFor()
    await context.close()
  })
})

describe('a file that is asked for when the session is over', () => {
  it('leads to the login, and is there when it is asked for again', async () => {
    const { context, page } = await visit('do-not-call')
    const ask = page.getByRole('button', { name: 'Export', disabled: false })
    await ask.waitFor()
    await page.waitForLoadState('networkidle')
    await context.clearCookies()
    await ask.click()
    await logIn(page)
    await page.getByText('Your session is over. Log in again.').waitFor()
    const file = page.waitForEvent('download')
    await ask.click()
    expect((await file).suggestedFilename()).toMatch(/\.csv$/)
    await context.close()
  })
})

async function logIn(page: Page): Promise<void> {
  const login = page.getByRole('dialog', { name: 'Log in again' })
  await login.locator('*:focus').waitFor()
  await login.getByLabel('User name or e-mail').fill(LOGIN.username)
  await login.locator('input[type=password]').fill(LOGIN.password)
  await login.getByRole('button', { name: 'Log in', exact: true }).click()
  await login.waitFor({ state: 'hidden' })
}

describe('a window that is sent when the session is over', () => {
  it('says to people that it was not sent, and sends it once they have logged in again', async () => {
    const { context, page } = await visit('desk')
    await page.getByRole('button', { name: 'New task', exact: true }).click()
    const form = page.getByRole('dialog', { name: 'New task' })
    await form.locator('*:focus').waitFor()
    await form.getByLabel("Customer's number").fill('+1 202 555 0155')
    await context.clearCookies()
    await form.getByRole('button', { name: 'Make the task' }).click()
    await logIn(page)
    const told = await form.getByRole('alert').textContent()
    expect(told).toContain('Not sent: your session was over. Send it again.')
    expect(told).not.toContain('key')
    await form.getByRole('button', { name: 'Make the task' }).click()
    await form.waitFor({ state: 'hidden' })
    await context.close()
  })

  it('says so too where something is read first', async () => {
    const made = { agent_key: 'desk', name: 'Desk' }
    const { agent } = await dashboard.ask<{ agent: { id: string } }>('POST', '/admin/tenants/acme/agents', made)
    const { context, page } = await visit(`agents/${agent.id}`)
    await page.getByRole('button', { name: 'Change the agent' }).click()
    const form = page.getByRole('dialog', { name: 'Change the agent' })
    await form.locator('*:focus').waitFor()
    await form.getByLabel('Name').fill('Front desk')
    await context.clearCookies()
    await form.getByRole('button', { name: 'Save the agent' }).click()
    await logIn(page)
    await form.getByRole('alert').getByText('Not sent: your session was over. Send it again.').waitFor()
    await form.getByRole('button', { name: 'Save the agent' }).click()
    await form.waitFor({ state: 'hidden' })
    await page.getByRole('heading', { name: 'Front desk' }).waitFor()
    await context.close()
  })
})

describe('what is typed on a page whose files are there no more', () => {
  it('stays, with a question and the login over it', async () => {
    const { context, page } = await visit('desk')
    await page.getByRole('button', { name: 'New task', exact: true }).click()
    const form = page.getByRole('dialog', { name: 'New task' })
    await form.locator('*:focus').waitFor()
    await page.waitForLoadState('networkidle')
    // As of a service that is away, and after a newer release.
    await page.route('**/app/assets/**', (route) => route.abort())
    const number = form.getByLabel("Customer's number")
    await number.fill('+1 202 555 0156')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Go on writing' }).click()
    await context.clearCookies()
    await form.getByRole('button', { name: 'Make the task' }).click()
    await logIn(page)
    expect(await number.inputValue()).toBe('+1 202 555 0156')
    await form.getByRole('button', { name: 'Make the task' }).click()
    await form.waitFor({ state: 'hidden' })
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })

  it('stays beneath whatever is opened beside it', async () => {
    const { context, page } = await visit('desk/queues/default')
    const name = page.getByRole('textbox').first()
    await name.waitFor()
    await page.waitForLoadState('networkidle')
    await page.route('**/app/assets/**', (route) => route.abort())
    await name.fill('The desk')
    await page.getByRole('button', { name: 'Logged in as ada' }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Tenant: Acme' }).click()
    await page.getByRole('option', { name: /Acme/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByRole('button', { name: 'Pages' }).click()
    await page.getByRole('dialog').getByRole('link', { name: 'Numbers', exact: true }).waitFor()
    await page.keyboard.press('Escape')
    expect(await name.inputValue()).toBe('The desk')
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })
})

describe('a browser that has no network', () => {
  it('is told so, and what was pressed is not done once there is one again', async () => {
    const { id } = (
      await dashboard.ask<{ task: { id: string } }>('POST', '/callback-tasks', { customer_phone: '+12025550157' })
    ).task
    const { context, page } = await visit('live')
    await page.getByText('No call is going on').waitFor()
    await context.setOffline(true)
    await page.getByText('The service cannot be reached.').waitFor()
    await page.getByText('No call is going on').waitFor({ state: 'hidden' })
    await context.setOffline(false)
    await page.getByText('No call is going on').waitFor()

    await page.goto(`${dashboard.address}/app/t/acme/desk/tasks/${id}`)
    const claim = page.getByRole('button', { name: 'Claim', exact: true, disabled: false })
    await claim.waitFor()
    await page.waitForLoadState('networkidle')
    await context.setOffline(true)
    await claim.click()
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor()
    await claim.waitFor()
    await context.setOffline(false)
    // What waited for it would be sent before what this asks for.
    await page.reload()
    await claim.waitFor()
    expect((await dashboard.ask<{ task: object }>('GET', `/callback-tasks/${id}`)).task).toMatchObject({
      status: 'open',
    })
    await context.close()
  })
})
