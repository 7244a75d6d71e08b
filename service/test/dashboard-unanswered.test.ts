import type { BrowserContext, Page, Route } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { LOGIN, useDashboard } from './harness/dashboard.ts'
import { WIDE } from './harness/looks.ts'
import { faultsAsShown } from './harness/page-faults.ts'

const NUMBER = '+12025550155'
const QUESTION = 'Drop what you have typed?'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const dashboard = useDashboard({ settings: { SIMULATOR: 'off' }, tenant: 'acme' })
let agentId: string

type Answered = { agent: { id: string }; task: { id: string }; count: number }

const ask = (method: string, path: string, body?: unknown) => dashboard.ask<Answered>(method, path, body)

beforeAll(async () => {
  await ask('PUT', '/admin/tenants/acme', { tenant_id: 'acme', name: 'Acme' })
  await ask('PUT', '/admin/tenants/globex', { tenant_id: 'globex', name: 'Globex' })
  agentId = (await ask('POST', '/admin/tenants/acme/agents', { agent_key: 'desk', name: 'Desk' })).agent.id
})

async function visit(path: string): Promise<{ context: BrowserContext; page: Page }> {
  const context = await dashboard.loggedIn(WIDE)
  const { page } = await dashboard.visit(context, `/app/${path}`)
  return { context, page }
}

type Answer = NonNullable<Parameters<Route['fulfill']>[0]>

const REFUSED: Answer = {
  status: 503,
  json: { ok: false, error: 'There is no room now.', code: 'unavailable', request_id: 'r' },
}

/** Holds the answers to requests of this method until one is given for all. */
async function hold(page: Page, path: string, method: string) {
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<Answer>()
  await page.route(path, async (route) => {
    if (route.request().method() !== method) return route.fallback()
    asked.resolve()
    await route.fulfill(await answer.promise)
  })
  return { asked: asked.promise, answer: answer.resolve }
}

/** Opens a form and waits until it has begun in its first field: what is written into another before goes into that. */
async function open(page: Page, name: string) {
  await page.getByRole('button', { name, exact: true }).click()
  const form = page.getByRole('dialog', { name, exact: true })
  await form.locator('*:focus').waitFor()
  return form
}

type Form = Awaited<ReturnType<typeof open>>

/** While something is under way; in its corner a window has another button that is called so. */
async function closeWaiting(form: Form): Promise<void> {
  await form.getByText('It goes on when this is closed.').waitFor()
  await form.getByRole('button', { name: 'Close', exact: true }).filter({ hasText: 'Close' }).click()
  await form.waitFor({ state: 'hidden' })
}

async function close({ context, page }: { context: BrowserContext; page: Page }): Promise<void> {
  await page.unrouteAll({ behavior: 'wait' })
  await context.close()
}

const pathOf = (page: Page) => new URL(page.url()).pathname

async function toTenant(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /^Tenant/ }).click()
  await page.getByRole('option', { name }).click()
}

describe('a form that is filled in for one tenant', () => {
  it.each([
    ['desk', 'New task', "Customer's number"],
    ['desk', 'Set up a queue', 'Key'],
    ['do-not-call', 'Add a number', 'Number'],
    ['agents', 'New agent', 'Name'],
    ['numbers', 'Add a number', 'Number'],
  ])(
    'is gone when somebody goes back to another one, and nothing of it is sent there: %s, %s',
    async (path, name, field) => {
      const { context, page } = await visit(`t/globex/${path}`)
      await page.getByRole('button', { name, exact: true }).waitFor()
      await toTenant(page, 'Acme')
      await page.waitForURL(`**/t/acme/${path}`)
      // Whoever has chosen by the keyboard goes on where they were.
      await page
        .locator('*:focus')
        .and(page.getByLabel('Tenant', { exact: true }))
        .waitFor()
      const form = await open(page, name)
      await form.getByLabel(field).fill('typed')
      const sent: string[] = []
      page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
      await page.goBack()
      await page.getByRole('dialog', { name: QUESTION }).getByRole('button', { name: 'Drop it' }).click()
      await page.waitForURL(`**/t/globex/${path}`)
      await form.waitFor({ state: 'hidden' })
      expect(await (await open(page, name)).getByLabel(field).inputValue()).toBe('')
      expect(sent).toEqual([])
      await close({ context, page })
    },
  )
})

describe('what is in doubt', () => {
  it('is told of when the page has been loaded anew, and nothing of what it says is kept', async () => {
    const { context, page } = await visit('t/acme/calls')
    let sent = 0
    await page.route('**/api/v1/make-call', (route) => {
      sent += 1
      return route.abort()
    })
    const press = async (told: string) => {
      const form = await open(page, 'Place a call')
      await form.getByLabel('Number to call').fill(NUMBER)
      await form.getByLabel('Said first').fill('Hello.')
      await form.getByRole('button', { name: 'Place the call' }).click()
      await form.getByText(told).waitFor()
    }
    await press('The service cannot be reached.')
    const kept = await page.evaluate<string>('JSON.stringify(sessionStorage)')
    expect([kept.includes('in-doubt'), kept.includes(NUMBER), kept.includes('Hello')]).toEqual([true, false, false])
    await page.reload()
    await press('The call may have been placed as it was asked for before')
    expect(sent).toBe(1)
    await close({ context, page })
  })

  it('is asked for with the same key when the session ends in between', async () => {
    const { context, page } = await visit('t/acme/calls')
    const keys: (string | undefined)[] = []
    await page.route('**/api/v1/make-call', (route) => {
      keys.push(route.request().headers()['idempotency-key'])
      return keys.length === 1 ? route.abort() : route.continue()
    })
    const form = await open(page, 'Place a call')
    await form.getByLabel('Number to call').fill(NUMBER)
    const press = () => form.getByRole('button', { name: 'Place the call', disabled: false }).click()
    await press()
    await form.getByText('The service cannot be reached.').waitFor()
    await context.request.post(`${dashboard.address}/api/v1/admin/auth/logout`, {
      headers: { origin: dashboard.address },
    })
    await press()
    const login = page.getByRole('dialog', { name: 'Log in again' })
    await login.getByLabel('User name or e-mail').fill(LOGIN.username)
    await login.locator('input[type=password]').fill(LOGIN.password)
    await login.getByRole('button', { name: 'Log in', exact: true }).click()
    await login.waitFor({ state: 'hidden' })
    await press()
    await expect.poll(() => keys.length).toBe(3)
    expect(new Set(keys).size).toBe(1)
    await close({ context, page })
  })

  it('of a task is said in its own words, and the next one is made when it is pressed again', async () => {
    const { context, page } = await visit('t/acme/desk')
    await page.route('**/api/v1/callback-tasks', (route) => route.abort(), { times: 1 })
    const form = await open(page, 'New task')
    await form.getByLabel("Customer's number").fill('+12025550156')
    await form.getByRole('button', { name: 'Make the task' }).click()
    await form.getByText('The service cannot be reached.').waitFor()
    await form.getByRole('button', { name: 'Cancel' }).click()
    await form.waitFor({ state: 'hidden' })
    await open(page, 'New task')
    await form.getByLabel("Customer's number").fill('+12025550157')
    await form.getByRole('button', { name: 'Make the task' }).click()
    await form.getByText('The task may have been made as it was asked for before').waitFor()
    await form.getByRole('button', { name: 'Make the task', disabled: false }).click()
    await page.getByRole('heading', { name: '+1 202 555 0157' }).waitFor()
    expect((await ask('GET', '/callback-tasks?customer_phone=%2B12025550156')).count).toBe(0)
    await close({ context, page })
  })
})
