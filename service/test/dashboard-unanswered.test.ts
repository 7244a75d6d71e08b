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

type Answered = { agent: { id: string }; task: { id: string }; version: { id: string }; count: number }

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
  await form.getByText('It goes on even if you close this.').waitFor()
  await form.getByRole('button', { name: 'Close', exact: true }).filter({ hasText: 'Close' }).click()
  await form.waitFor({ state: 'hidden' })
}

async function close({ context, page }: { context: BrowserContext; page: Page }): Promise<void> {
  await page.unrouteAll({ behavior: 'wait' })
  await context.close()
}

const untaken = (page: Page) => page.getByRole('region', { name: 'Left before it was taken' })
const failed = (page: Page) => page.getByRole('region', { name: 'Failed after its window was closed' })

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
    await login.locator('*:focus').waitFor()
    await login.getByLabel('User name or e-mail').fill(LOGIN.username)
    await login.locator('input[type=password]').fill(LOGIN.password)
    await login.getByRole('button', { name: 'Log in', exact: true }).click()
    await login.waitFor({ state: 'hidden' })
    await press()
    await expect.poll(() => keys.length).toBe(3)
    expect(new Set(keys).size).toBe(1)
    await close({ context, page })
  })

  it('of a campaign is asked for with the same key, and one is made', async () => {
    const draft = { agent_id: agentId, config: { greeting: 'Hello.' } }
    const { version } = await ask('POST', '/admin/tenants/acme/agent-versions', draft)
    await ask('POST', `/admin/tenants/acme/agent-versions/${version.id}/publish`)
    const { context, page } = await visit('t/acme/campaigns')
    const keys: (string | undefined)[] = []
    await page.route('**/api/v1/campaigns?*', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback()
      keys.push(route.request().headers()['idempotency-key'])
      const answer = await route.fetch()
      await (keys.length === 1 ? route.abort() : route.fulfill({ response: answer }))
    })
    const form = await open(page, 'New campaign')
    await form.getByLabel('Name').fill('Once')
    await form.getByLabel('Agent').selectOption('desk')
    await form.getByLabel('Contacts').fill(`phone\n${NUMBER}\n`)
    const press = () => form.getByRole('button', { name: 'Make the campaign', disabled: false }).click()
    await press()
    await form.getByText('The service cannot be reached.').waitFor()
    await press()
    await expect.poll(() => keys.length).toBe(2)
    await form.waitFor({ state: 'hidden' })
    expect([new Set(keys).size, keys[0]]).toEqual([1, expect.any(String)])
    expect((await ask('GET', '/campaigns')).count).toBe(1)
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

describe('a form whose answer comes late', () => {
  it('leads nobody away who has left its page', async () => {
    const { context, page } = await visit(`t/acme/agents/${agentId}`)
    await page.getByRole('heading', { name: 'Desk', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Agents', exact: true }).first().click()
    const form = await open(page, 'New agent')
    const { asked, answer } = await hold(page, '**/tenants/acme/agents', 'POST')
    await form.getByLabel('Name').fill('Late')
    await form.getByLabel('Key').fill('late')
    await form.getByRole('button', { name: 'Create the agent' }).click()
    await asked
    await page.goBack()
    await page.getByRole('heading', { name: 'Desk', exact: true }).waitFor()
    // What is shown there is read again before anybody would be led away.
    const readAgain = page.waitForResponse((response) => response.url().includes('/agents?limit'))
    answer({ json: { ok: true, agent: { id: 'late' } } })
    await (await readAgain).finished()
    await page.getByRole('link', { name: 'Numbers', exact: true }).click()
    await page.getByRole('heading', { name: 'Numbers', exact: true }).waitFor()
    expect(pathOf(page)).toBe('/app/t/acme/numbers')
    await page.goBack()
    await page.getByRole('heading', { name: 'Desk', exact: true }).waitFor()
    expect(pathOf(page)).toBe(`/app/t/acme/agents/${agentId}`)
    await close({ context, page })
  })

  it('leads nobody away who has closed it', async () => {
    const { context, page } = await visit('tenants')
    const { asked, answer } = await hold(page, '**/api/v1/admin/tenants/late', 'PUT')
    const form = await open(page, 'New tenant')
    await form.getByLabel('Id').fill('late')
    await form.getByRole('button', { name: 'Create the tenant' }).click()
    await asked
    await closeWaiting(form)
    const readAgain = page.waitForResponse((response) => /\/admin\/tenants(\?|$)/.test(response.url()))
    answer({ json: { ok: true, warnings: [] } })
    await (await readAgain).finished()
    await page.getByRole('link', { name: 'Prompts', exact: true }).click()
    await page.getByRole('heading', { name: 'Prompts', exact: true }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Tenants', exact: true }).waitFor()
    expect(pathOf(page)).toBe('/app/tenants')
    await close({ context, page })
  })

  it('is shown on whatever page when it is a key that is told once, until it is taken', async () => {
    const { context, page } = await visit('t/acme/people')
    const { asked, answer } = await hold(page, '**/tenants/acme/api-keys', 'POST')
    const form = await open(page, 'New key')
    await form.getByLabel('Label').fill('till')
    await form.getByRole('button', { name: 'Make the key' }).click()
    await asked
    await closeWaiting(form)
    await page.getByRole('link', { name: 'Numbers', exact: true }).click()
    await page.getByRole('heading', { name: 'Numbers', exact: true }).waitFor()
    const created_at = '2030-01-01T00:00:00.000Z'
    const api_key = { id: 'k', tenant_id: 'acme', label: 'till', key_prefix: 'pk_late', created_at }
    answer({ json: { ok: true, created: { api_key, token: 'pk_late_secret' } } })
    const told = untaken(page)
    expect(await told.getByLabel('API key', { exact: true }).inputValue()).toBe('pk_late_secret')
    expect(await faultsAsShown(page)).toEqual([])
    await told.getByRole('button', { name: 'Done' }).press('Enter')
    await told.waitFor({ state: 'hidden' })
    await page.locator('main:focus').waitFor()
    await close({ context, page })
  })

  it('says that it goes on when it is closed, and if it fails then that is told on whatever page', async () => {
    const { context, page } = await visit('t/acme/do-not-call')
    const { asked, answer } = await hold(page, '**/api/v1/dnc', 'POST')
    const form = await open(page, 'Add a number')
    await form.getByLabel('Number').fill(NUMBER)
    await form.getByRole('button', { name: 'Add', exact: true }).click()
    await asked
    await form.getByText('It goes on even if you close this.').waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    await closeWaiting(form)
    await open(page, 'Add a number')
    await form.getByLabel('Number').fill('+12025550158')
    answer(REFUSED)
    const told = failed(page)
    await told.getByText('There is no room now.').waitFor({ state: 'attached' })
    expect(await form.getByRole('alert').count()).toBe(0)
    expect(await form.getByLabel('Number').inputValue()).toBe('+12025550158')
    await form.getByRole('button', { name: 'Cancel' }).click()
    await form.waitFor({ state: 'hidden' })
    await toTenant(page, 'Globex')
    await page.waitForURL('**/t/globex/do-not-call')
    await told.getByText('“Add a number” of acme went on after its window was closed').waitFor()
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await faultsAsShown(page)).toEqual([])
    }
    await told.getByRole('button', { name: 'Dismiss' }).press('Enter')
    await told.waitFor({ state: 'hidden' })
    await page.locator('main:focus').waitFor()
    await close({ context, page })
  })

  it('says for whom it was when that fails, where its label does not', async () => {
    const user = { email: 'ned@acme.example', role: 'viewer', password: LOGIN.password }
    await ask('POST', '/admin/tenants/acme/users', user)
    const { context, page } = await visit('t/acme/people')
    const { asked, answer } = await hold(page, '**/api/v1/admin/tenants/acme/users/*', 'DELETE')
    const row = page.getByRole('row').filter({ hasText: user.email })
    await row.getByRole('button', { name: 'Delete' }).click()
    const question = page.getByRole('dialog', { name: 'Delete?' })
    await question.getByRole('button', { name: 'Delete' }).click()
    await asked
    await closeWaiting(question)
    answer(REFUSED)
    await failed(page).getByText(`“Delete” for ${user.email} went on after its window was closed`).waitFor()
    await failed(page).getByText('There is no room now.').waitFor()
    await close({ context, page })
  })

  it('says that nothing was published where what was seen was not what would be, and its page was left', async () => {
    const draft = { agent_id: agentId, config: { greeting: 'Hello.' } }
    const { id } = (await ask('POST', '/admin/tenants/acme/agent-versions', draft)).version
    const { context, page } = await visit(`t/acme/agents/${agentId}/versions/${id}`)
    const { asked, answer } = await hold(page, `**/agent-versions/${id}/publish`, 'POST')
    await page.getByRole('button', { name: /^Publish version/ }).click()
    const question = page.getByRole('dialog')
    await question.getByRole('button', { name: /^Publish version/ }).click()
    await asked
    await closeWaiting(question)
    await page.getByRole('link', { name: 'Numbers', exact: true }).click()
    await page.getByRole('heading', { name: 'Numbers', exact: true }).waitFor()
    answer({ status: 412, json: { ok: false, error: 'It has changed.', code: 'precondition_failed', request_id: 'r' } })
    await failed(page).getByText('Not published: somebody else has changed it').waitFor()
    await close({ context, page })
  })

  it('changes nothing in the one that is opened after it when it has read what somebody else has written', async () => {
    await ask('PUT', '/admin/prompts/shared', { text: 'Begun with.' })
    const { context, page } = await visit('prompts')
    const form = await open(page, 'Change')
    await form.getByLabel('Text').fill('Ours.')
    await ask('PUT', '/admin/prompts/shared', { text: 'Theirs.' })
    const { asked, answer } = await hold(page, '**/api/v1/admin/prompts/shared', 'GET')
    await form.getByRole('button', { name: 'Save the prompt' }).click()
    await asked
    await closeWaiting(form)
    await open(page, 'Change')
    const read = page.waitForResponse((response) => response.url().endsWith('/prompts/shared'))
    answer({ json: { ok: true, prompt: { key: 'shared', description: '', text: 'Theirs.', etag: '"1"' } } })
    await (await read).finished()
    await form.getByLabel('Text').fill('Ours, later.')
    const late = failed(page)
    await late.getByText('It has changed since it was read.').waitFor({ state: 'attached' })
    expect(await form.getByRole('region', { name: 'Somebody else changed it meanwhile' }).count()).toBe(0)
    await close({ context, page })
  })
})

describe('what comes of a page that is left', () => {
  const come = (page: Page) => page.getByRole('region', { name: 'Came after its page was left' })

  it('is told on whatever page where an import breaks, which is not left without a question', async () => {
    const { context, page } = await visit('t/acme/do-not-call')
    const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/api/v1/dnc/import', async (route) => {
      const answer = answers.shift()
      await answer?.promise
      await (answers.length > 0 ? route.fallback() : route.fulfill(REFUSED))
    })
    const [first, second] = answers
    // More than is sent at once.
    const numbers = Array.from({ length: 12_000 }, (_, at) => `+1202${5_000_000 + at},asked`)
    const buffer = Buffer.from(['phone,reason', 'no number,', ...numbers].join('\n'))
    await page.getByLabel(/A CSV file/).setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer })
    first?.resolve()
    await page.getByText(/^[1-9]\d* listed/).waitFor()
    const question = page.getByRole('dialog', { name: 'Leave while it goes on?' })
    const numbersPage = page.getByRole('link', { name: 'Numbers', exact: true })
    await numbersPage.click()
    await question.getByText('while this tab is open and you are logged in').waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    await question.getByRole('button', { name: 'Stay' }).click()
    await question.waitFor({ state: 'hidden' })
    expect(pathOf(page)).toBe('/app/t/acme/do-not-call')
    await numbersPage.click()
    await question.getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('heading', { name: 'Numbers', exact: true }).waitFor()
    second?.resolve()
    const told = come(page)
    await told.getByText('There is no room now.').waitFor()
    await told.getByText('What came before is listed.').waitFor()
    await told.getByRole('group', { name: 'Lines that were refused' }).waitFor()
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await faultsAsShown(page)).toEqual([])
    }
    await told.getByRole('button', { name: 'Dismiss' }).press('Enter')
    await told.waitFor({ state: 'hidden' })
    await page.locator('main:focus').waitFor()
    await close({ context, page })
  })

  it('is told on whatever page where a campaign leaves out lines', async () => {
    const { context, page } = await visit('t/acme/campaigns')
    const { asked, answer } = await hold(page, '**/api/v1/campaigns?*', 'POST')
    const form = await open(page, 'New campaign')
    await form.getByLabel('Name').fill('Late')
    await form.getByLabel('Agent').selectOption('desk')
    await form.getByLabel('Contacts').fill(`phone\n${NUMBER}\nno number\n`)
    await form.getByRole('button', { name: 'Make the campaign' }).click()
    await asked
    await closeWaiting(form)
    await toTenant(page, 'Globex')
    await page.waitForURL('**/t/globex/campaigns')
    await page.getByRole('link', { name: 'Numbers', exact: true }).click()
    await page.getByRole('heading', { name: 'Numbers', exact: true }).waitFor()
    const campaign = { id: 'late', tenant_id: 'acme', contacts: { total: 1 } }
    answer({ json: { ok: true, campaign, errors: [{ at: 3, error: 'It is no number.' }] } })
    await come(page).getByText('“New campaign” for Late of acme went on after it was left').waitFor()
    await come(page).getByText('It is no number.').waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    await close({ context, page })
  })

  it('is told with its agent where a version that was published will hardly work', async () => {
    const body = { agent_id: agentId, config: { greeting: 'Hello.' } }
    const { id } = (await ask('POST', '/admin/tenants/acme/agent-versions', body)).version
    const { context, page } = await visit(`t/acme/agents/${agentId}/versions/${id}`)
    const { asked, answer } = await hold(page, '**/agent-versions/*/publish*', 'POST')
    const publish = (place: Page | Form) => place.getByRole('button', { name: /^Publish version/ })
    await publish(page).click()
    const question = page.getByRole('dialog')
    await publish(question).click()
    await asked
    await closeWaiting(question)
    await page.getByRole('link', { name: 'Numbers', exact: true }).click()
    await page.getByRole('heading', { name: 'Numbers', exact: true }).waitFor()
    answer({ json: { ok: true, version: {}, warnings: ['It names no tool.'] } })
    await come(page)
      .getByText(/^“Publish version \d+” for Desk went on after it was left/)
      .waitFor()
    await close({ context, page })
  })
})

describe('secrets that are told once', () => {
  /** Sends a form whose window is closed before it is answered, which it is once this is released. */
  async function sendAndClose(page: Page, path: string, send: () => Promise<Form>) {
    const held = Promise.withResolvers<void>()
    await page.route(path, async (route) => {
      await held.promise
      await route.fallback()
    })
    const asked = page.waitForRequest(path)
    const form = await send()
    await asked
    await closeWaiting(form)
    return held.resolve
  }

  async function sendKey(page: Page, label: string): Promise<Form> {
    const form = await open(page, 'New key')
    await form.getByLabel('Label').fill(label)
    await form.getByRole('button', { name: 'Make the key' }).click()
    return form
  }

  async function invite(page: Page, email: string): Promise<Form> {
    const form = await open(page, 'Invite somebody')
    await form.getByLabel('E-mail').fill(email)
    await form.getByRole('button', { name: 'Make the invitation' }).click()
    return form
  }

  const KEYS = '**/tenants/acme/api-keys'
  const USERS = '**/tenants/acme/users'
  const keysIn = (place: Form | Page) => place.getByLabel('API key', { exact: true })

  it('are all shown, each with whose it is, and taken one by one on whatever page', async () => {
    const { context, page } = await visit('t/acme/people')
    const first = await sendAndClose(page, KEYS, () => sendKey(page, 'till'))
    const second = await sendAndClose(page, KEYS, () => sendKey(page, 'shop'))
    first()
    second()
    await expect.poll(() => keysIn(page).count()).toBe(2)
    await (await sendKey(page, 'van')).waitFor({ state: 'hidden' })
    await expect.poll(() => keysIn(page).count()).toBe(3)
    for (const whose of ['till', 'shop', 'van']) await page.getByText(`For ${whose}`, { exact: true }).waitFor()
    const tokens = await keysIn(page).evaluateAll((fields) =>
      fields.map((field) => (field as { value?: string }).value),
    )
    expect(new Set(tokens).size).toBe(3)
    expect(await faultsAsShown(page)).toEqual([])
    // The second click comes to lie on the button of the next, which nobody has copied.
    await page.getByRole('button', { name: 'Done' }).first().dblclick()
    await expect.poll(() => keysIn(page).count()).toBe(2)
    await page.getByRole('link', { name: 'Numbers', exact: true }).click()
    await page.getByRole('heading', { name: 'Numbers', exact: true }).waitFor()
    expect(await keysIn(untaken(page)).count()).toBe(2)
    expect(await faultsAsShown(page)).toEqual([])
    await close({ context, page })
  })

  it('say whose they are when several invitations come after their page was left', async () => {
    const { context, page } = await visit('t/acme/people')
    const people = ['ann@acme.example', 'bob@acme.example']
    const releases: (() => void)[] = []
    for (const email of people) releases.push(await sendAndClose(page, USERS, () => invite(page, email)))
    await page.getByRole('link', { name: 'Numbers', exact: true }).click()
    await page.getByRole('heading', { name: 'Numbers', exact: true }).waitFor()
    for (const release of releases) release()
    for (const email of people) await untaken(page).getByText(`For ${email}`, { exact: true }).waitFor()
    await close({ context, page })
  })

  it('are not covered by what has failed, on a narrow screen either', async () => {
    const { context, page } = await visit('t/acme/people')
    const release = await sendAndClose(page, KEYS, () => sendKey(page, 'kiosk'))
    const { asked, answer } = await hold(page, USERS, 'POST')
    const form = await invite(page, 'zoe@acme.example')
    await asked
    await closeWaiting(form)
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.getByRole('heading', { name: 'Acme' }).first().waitFor()
    await page.setViewportSize({ width: 390, height: 800 })
    release()
    answer(REFUSED)
    await Promise.all([untaken(page).waitFor(), failed(page).waitFor()])
    await page.evaluate('scrollTo(0, 0)')
    const [secret, failure] = await Promise.all([untaken(page).boundingBox(), failed(page).boundingBox()])
    expect((secret?.y ?? 0) + (secret?.height ?? 0)).toBeLessThanOrEqual(failure?.y ?? 0)
    expect(secret?.y).toBeLessThan(800)
    expect(await faultsAsShown(page)).toEqual([])
    await close({ context, page })
  })
})

describe('a question', () => {
  it('does not begin with why an earlier one failed, nor is it answered by one that was closed', async () => {
    await ask('PUT', '/admin/prompts/asked', { text: 'Hello.' })
    const { context, page } = await visit('prompts')
    const row = page.getByRole('row').filter({ hasText: 'asked' })
    const question = page.getByRole('dialog', { name: 'Delete?' })
    const remove = async () => {
      await row.getByRole('button', { name: 'Delete' }).click()
      await question.locator('*:focus').waitFor()
    }
    const path = '**/api/v1/admin/prompts/asked'
    await page.route(path, (route) => route.fulfill(REFUSED), { times: 1 })
    await remove()
    await question.getByRole('button', { name: 'Delete' }).click()
    await question.getByRole('alert').waitFor()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'hidden' })
    await remove()
    expect(await question.getByRole('alert').count()).toBe(0)

    const { asked, answer } = await hold(page, path, 'DELETE')
    await question.getByRole('button', { name: 'Delete' }).click()
    await asked
    await closeWaiting(question)
    await remove()
    const readAgain = page.waitForResponse((response) => /\/admin\/prompts(\?|$)/.test(response.url()))
    answer({ json: { ok: true, deleted: true } })
    await (await readAgain).finished()
    await page.unrouteAll({ behavior: 'wait' })
    await question.getByRole('button', { name: 'Delete' }).click()
    await row.waitFor({ state: 'hidden' })
    await close({ context, page })
  })
})

describe('a button that is pressed by the keyboard', () => {
  it('has the focus again when what it does has failed', async () => {
    const { id } = (await ask('POST', '/callback-tasks', { customer_phone: NUMBER })).task
    const { context, page } = await visit(`t/acme/desk/tasks/${id}`)
    const { asked, answer } = await hold(page, `**/callback-tasks/${id}/claim`, 'POST')
    const claim = page.getByRole('button', { name: 'Claim', exact: true })
    await page.getByRole('button', { name: 'Claim', exact: true, disabled: false }).press('Enter')
    await asked
    // Browsers take the focus from a button that can no longer be pressed, sooner or later.
    await expect.poll(() => page.evaluate<string>('document.activeElement.tagName')).not.toBe('BUTTON')
    answer(REFUSED)
    await page.getByRole('alert').getByText('There is no room now.').waitFor()
    await page.locator('*:focus').and(claim).waitFor()
    await close({ context, page })
  })
})

describe('a window that was refused', () => {
  it('has the keyboard go on in the field that was wrong', async () => {
    const { context, page } = await visit('t/acme/desk')
    const form = await open(page, 'New task')
    const number = form.getByLabel("Customer's number")
    await number.fill('12345')
    await form.getByLabel('What is wanted').fill('A chair.')
    await form.getByRole('button', { name: 'Make the task' }).press('Enter')
    await form.getByText('must be a phone number').first().waitFor()
    await page.locator('*:focus').and(number).waitFor()
    await close({ context, page })
  })

  it('has it go on where it was sent from, where no field was', async () => {
    await ask('PUT', '/admin/prompts/refused', { text: 'Hello.' })
    const { context, page } = await visit('prompts')
    const { asked, answer } = await hold(page, '**/api/v1/admin/prompts/refused', 'DELETE')
    await page.getByRole('row').filter({ hasText: 'refused' }).getByRole('button', { name: 'Delete' }).press('Enter')
    const question = page.getByRole('dialog', { name: 'Delete?' })
    await question.locator('*:focus').waitFor()
    const confirm = question.getByRole('button', { name: 'Delete' })
    await confirm.press('Enter')
    await asked
    // Browsers take the focus from a button that can no longer be pressed, sooner or later.
    await expect.poll(() => page.evaluate<string>('document.activeElement.tagName')).toBe('BODY')
    answer(REFUSED)
    await question.getByRole('alert').waitFor()
    await page.locator('*:focus').and(confirm).waitFor()
    await close({ context, page })
  })
})

describe('a choice that could not be read', () => {
  it('says why it is empty', async () => {
    const { context, page } = await visit('t/acme/calls')
    const refused = { ok: false, error: 'This is not allowed.', code: 'forbidden', request_id: 'r' }
    await page.route('**/tenants/acme/agents?*', (route) => route.fulfill({ status: 403, json: refused }))
    const form = await open(page, 'Place a call')
    await form.getByText('The agents could not be read: This is not allowed.').waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    await close({ context, page })
  })
})
