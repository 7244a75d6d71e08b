import type { BrowserContext, Locator, Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Look } from './harness/chromium.ts'
import { LOGIN, useDashboard } from './harness/dashboard.ts'
import { faultsAsShown } from './harness/page-faults.ts'

const WIDE: Look = { width: 1280, colorScheme: 'light' }
const GRACE = 'grace@acme.example'
const HEDY = 'hedy@globex.example'
const NUMBER = '+12025550155'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const dashboard = useDashboard({ settings: { SIMULATOR: 'off' }, tenant: 'acme' })
let agentId: string
/** Of a draft that says "Hello."; each test has one of its own. */
let draft: { id: string; path: string }

type Version = { id: string; status: string; config: { greeting: string } }
type Answered = { agent: { id: string }; version: Version; versions: Version[]; prompt: { text: string } }

const ask = (method: string, path: string, body?: unknown) => dashboard.ask<Answered>(method, path, body)

beforeAll(async () => {
  await ask('PUT', '/admin/tenants/acme', { tenant_id: 'acme', name: 'Acme' })
  const config = { tenant_id: 'globex', telephony: { from_number: NUMBER } }
  await ask('PUT', '/admin/tenants/globex', config)
  await ask('POST', '/admin/tenants/acme/users', { email: GRACE, role: 'admin', password: LOGIN.password })
  await ask('POST', '/admin/tenants/globex/users', { email: HEDY, role: 'admin', password: LOGIN.password })
  agentId = (await ask('POST', '/admin/tenants/acme/agents', { agent_key: 'desk', name: 'Desk' })).agent.id
})
beforeEach(async () => {
  const body = { agent_id: agentId, config: { greeting: 'Hello.' } }
  const { id } = (await ask('POST', '/admin/tenants/acme/agent-versions', body)).version
  draft = { id, path: `/app/t/acme/agents/${agentId}/versions/${id}` }
})

const versionIn = (page: Page) => new URL(page.url()).pathname.split('/').at(-1)
const stored = async (wanted: string | undefined) => {
  const { versions } = await ask('GET', `/admin/tenants/acme/agent-versions?agent_id=${agentId}`)
  return versions.find(({ id }) => id === wanted)
}
const greetingOf = async (wanted: string | undefined) => (await stored(wanted))?.config.greeting
const statusOf = async (wanted: string) => (await stored(wanted))?.status

/** The page of the draft, with a greeting typed that is not saved. */
async function typing(greeting: string): Promise<{ context: BrowserContext; page: Page }> {
  const context = await dashboard.loggedIn(WIDE)
  const { page } = await dashboard.visit(context, draft.path)
  await greetingIn(page).fill(greeting)
  return { context, page }
}

const greetingIn = (page: Page) => page.getByLabel('Greeting', { exact: true })
const save = (page: Page) => page.getByRole('button', { name: 'Save the draft' }).click()

/** Until a window has begun in its first field: what is written into another one before goes into that. */
const begun = (form: Locator) => form.locator('*:focus').waitFor()

/** As a session ends that was not used for long: the page learns of it from the next answer. */
async function endSession(context: BrowserContext): Promise<void> {
  const headers = { origin: dashboard.address }
  expect((await context.request.post(`${dashboard.address}/api/v1/admin/auth/logout`, { headers })).ok()).toBe(true)
}

/** As a page learns that its tab is looked at again; in a browser without a window all are looked at all the while. */
async function comeBackTo(page: Page): Promise<void> {
  await page.bringToFront()
  await page.evaluate("dispatchEvent(new Event('visibilitychange'))")
}

async function logInAgain(page: Page, username: string): Promise<void> {
  const login = page.getByRole('dialog', { name: 'Log in again' })
  await begun(login)
  await login.getByLabel('User name or e-mail').fill(username)
  await login.locator('input[type=password]').fill(LOGIN.password)
  await login.getByRole('button', { name: 'Log in', exact: true }).click()
  await login.waitFor({ state: 'hidden' })
}

describe('a version', () => {
  it('is published and drafted from only as it is seen', async () => {
    const { context, page } = await typing('Typed.')
    await page.getByText('Save the draft first').waitFor()
    const publish = page.getByRole('button', { name: /^Publish version/ })
    const newDraft = page.getByRole('button', { name: /^New draft from version/ })
    expect([await publish.isDisabled(), await newDraft.isDisabled()]).toEqual([true, true])
    await save(page)
    await page.getByText('Saved.', { exact: true }).waitFor()
    expect([await publish.isDisabled(), await newDraft.isDisabled()]).toEqual([false, false])
    await context.close()
  })

  const publishOf = (place: Page | Locator) => place.getByRole('button', { name: /^Publish version/ })
  const newDraftOf = (page: Page) => page.getByRole('button', { name: /^New draft from version/ })
  const newerOn = (page: Page) => page.getByRole('region', { name: 'Somebody else changed it meanwhile' })
  /** The page of the draft, to which somebody else gives another greeting meanwhile. */
  const reading = async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, draft.path)
    await greetingIn(page).waitFor()
    await ask('PATCH', `/admin/tenants/acme/agent-versions/${draft.id}`, { config: { greeting: 'Unseen.' } })
    return { context, page }
  }

  it('is drafted once, whoever clicks twice', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, draft.path)
    const made: string[] = []
    page.on('request', (request) => request.method() === 'POST' && made.push(request.url()))
    await newDraftOf(page).click()
    await page.waitForURL((address) => address.pathname !== draft.path)
    // The second click comes when the page of the draft is there, which has the same button.
    await newDraftOf(page).dispatchEvent('click', { detail: 2 })
    await page.reload()
    await greetingIn(page).waitFor()
    expect(made).toHaveLength(1)
    await context.close()
  })

  it('is not published where it says what was not seen, and is once that was taken', async () => {
    const { context, page } = await reading()
    const publish = async () => {
      await publishOf(page).click()
      const question = page.getByRole('dialog')
      await publishOf(question).click()
      await question.waitFor({ state: 'hidden' })
    }
    await publish()
    await newerOn(page).getByText('Unseen.').waitFor()
    expect([await statusOf(draft.id), await greetingIn(page).inputValue()]).toEqual(['draft', 'Hello.'])
    await page.locator('div:focus').and(newerOn(page).locator('..')).waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    await newerOn(page).getByRole('button', { name: 'Take the stored one' }).click()
    expect(await greetingIn(page).inputValue()).toBe('Unseen.')
    await publish()
    await expect.poll(() => statusOf(draft.id)).toBe('published')
    await context.close()
  })

  it('is neither published nor drafted from while what somebody else has written is not seen', async () => {
    const { context, page } = await reading()
    await page.clock.install()
    await page.clock.fastForward(70_000)
    await comeBackTo(page)
    await page.getByText('Somebody else has changed it meanwhile').waitFor()
    expect([await publishOf(page).isDisabled(), await newDraftOf(page).isDisabled()]).toEqual([true, true])
    expect(await faultsAsShown(page)).toEqual([])
    await page.getByRole('button', { name: 'See what somebody else has changed' }).press('Enter')
    await newerOn(page).getByText('Unseen.').waitFor()
    await newerOn(page).getByRole('button', { name: 'Take the stored one' }).press('Enter')
    expect(await greetingIn(page).inputValue()).toBe('Unseen.')
    expect([await publishOf(page).isDisabled(), await newDraftOf(page).isDisabled()]).toEqual([false, false])
    await context.close()
  })

  it('is not published from the list of its agent either where somebody else has changed it since that was read', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, `/app/t/acme/agents/${agentId}`)
    const row = page.getByRole('row').filter({ has: page.locator(`a[href$="${draft.id}"]`) })
    await publishOf(row).waitFor()
    await ask('PATCH', `/admin/tenants/acme/agent-versions/${draft.id}`, { config: { greeting: 'Unseen.' } })
    await publishOf(row).click()
    await publishOf(page.getByRole('dialog')).click()
    await page.getByRole('dialog').getByText('Not published: somebody else has changed it').waitFor()
    expect(await statusOf(draft.id)).toBe('draft')
    await context.close()
  })

  it('tells whoever saves it of a tool that there is not', async () => {
    const { context, page } = await typing('Typed.')
    await page.getByLabel('Everything, as JSON').fill('{ "greeting": "Typed.", "tools": ["order_staus"] }')
    await save(page)
    await page.getByText(/^Saved\. tools names order_staus, which is no built-in tool/).waitFor()
    await context.close()
  })

  it('tells whoever publishes it the same, on its page and in the list of its agent', async () => {
    const config = { greeting: 'Hello.', tools: ['order_staus'] }
    const change = (id: string) => ask('PATCH', `/admin/tenants/acme/agent-versions/${id}`, { config })
    await change(draft.id)
    const context = await dashboard.loggedIn(WIDE)
    const ofAgent = `/app/t/acme/agents/${agentId}`
    for (const path of [draft.path, ofAgent]) {
      const body = { agent_id: agentId, config }
      if (path === ofAgent) draft.id = (await ask('POST', '/admin/tenants/acme/agent-versions', body)).version.id
      const { page } = await dashboard.visit(context, path)
      const row = page.getByRole('row').filter({ has: page.locator(`a[href$="${draft.id}"]`) })
      await publishOf(path === ofAgent ? row : page).click()
      await publishOf(page.getByRole('dialog')).click()
      const told = page.getByRole('dialog', { name: /^Version \d+ is published$/ })
      await told.getByText(/^tools names order_staus, which is no built-in tool/).waitFor()
      expect(await statusOf(draft.id)).toBe('published')
      expect(await faultsAsShown(page)).toEqual([])
      await told.getByRole('button', { name: 'Close' }).last().press('Enter')
      await told.waitFor({ state: 'hidden' })
      await page.locator('#content:focus').waitFor()
      await page.close()
    }
    await context.close()
  })

  it('shows what callers hear when somebody else publishes it, and keeps what was typed beside it', async () => {
    const { context, page } = await typing('Typed.')
    await ask('POST', `/admin/tenants/acme/agent-versions/${draft.id}/publish`)
    await save(page)
    const typed = page.getByLabel('What you have typed', { exact: true })
    await typed.waitFor()
    expect(await greetingIn(page).inputValue()).toBe('Hello.')
    expect(await typed.inputValue()).toContain('"Typed."')
    expect(await faultsAsShown(page)).toEqual([])
    await page.getByRole('button', { name: 'New draft of it' }).click()
    await page.getByRole('button', { name: 'Save the draft' }).waitFor()
    expect(versionIn(page)).not.toBe(draft.id)
    expect(await greetingOf(versionIn(page))).toBe('Typed.')
    await context.close()
  })

  it('leads to the draft of what was typed without a question whether to drop that, however slow the machine', async () => {
    const { context, page } = await typing('Typed.')
    await ask('POST', `/admin/tenants/acme/agent-versions/${draft.id}/publish`)
    await save(page)
    const draftOfIt = page.getByRole('button', { name: 'New draft of it' })
    await draftOfIt.waitFor()
    await page.evaluate(DRAWN_LATE)
    await draftOfIt.click()
    await page.waitForURL((address) => address.pathname !== draft.path)
    await page.getByRole('button', { name: 'Save the draft' }).waitFor()
    await context.close()
  })
})

/** As where a machine is busy: the service has answered again before a page has drawn what came of its last answer. */
const DRAWN_LATE = `{
  const { prototype } = MessagePort
  const { postMessage } = prototype
  prototype.postMessage = function (...given) {
    setTimeout(() => postMessage.apply(this, given), 300)
  }
}`

describe('what somebody types', () => {
  it('stays when the session ends, and is saved once they have logged in again', async () => {
    const { context, page } = await typing('Typed.')
    await endSession(context)
    await save(page)
    const login = page.getByRole('dialog', { name: 'Log in again' })
    await login.waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    expect(new URL(page.url()).pathname).toBe(draft.path)
    await logInAgain(page, LOGIN.username)
    expect(await greetingIn(page).inputValue()).toBe('Typed.')
    await save(page)
    await page.getByText('Saved.', { exact: true }).waitFor()
    expect(await greetingOf(draft.id)).toBe('Typed.')
    await context.close()
  })

  it('stays when the session ends, and goes on by itself once they have logged in in another tab', async () => {
    const { context, page } = await typing('Typed.')
    await endSession(context)
    await save(page)
    const login = page.getByRole('dialog', { name: 'Log in again' })
    await login.waitFor()
    const other = (await dashboard.visit(context, '/app/login')).page
    await other.getByLabel('User name or e-mail').fill(LOGIN.username)
    await other.locator('input[type=password]').fill(LOGIN.password)
    await other.getByRole('button', { name: 'Log in', exact: true }).click()
    await other.getByRole('heading', { level: 1, name: 'All tenants' }).waitFor()
    expect(await login.isVisible()).toBe(true)
    await comeBackTo(page)
    await login.waitFor({ state: 'hidden' })
    expect(await greetingIn(page).inputValue()).toBe('Typed.')
    await context.close()
  })

  it('stays in a window, whose request is what learns of the end of the session', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, '/app/prompts')
    await page.getByRole('button', { name: 'New prompt' }).click()
    await begun(page.getByRole('dialog', { name: 'New prompt' }))
    await page.getByLabel('Key').fill('typed')
    await page.getByLabel('Text').fill('Typed.')
    await endSession(context)
    await page.getByRole('button', { name: 'Save the prompt' }).click()
    await logInAgain(page, LOGIN.username)
    await page.getByRole('button', { name: 'Save the prompt' }).click()
    await page.getByRole('row').filter({ hasText: 'typed' }).waitFor()
    expect((await ask('GET', '/admin/prompts/typed')).prompt.text).toBe('Typed.')
    await context.close()
  })

  it('is gone, with all that was read, when somebody else logs in', async () => {
    const { context, page } = await typing('Typed.')
    const tenants = page.getByRole('link', { name: 'Tenants', exact: true })
    await tenants.waitFor()
    await endSession(context)
    await save(page)
    const reads: string[] = []
    page.on('response', (response) => reads.push(response.url()))
    await logInAgain(page, GRACE)
    await page.getByRole('button', { name: `Logged in as ${GRACE}` }).waitFor()
    await greetingIn(page).waitFor()
    expect(await greetingIn(page).inputValue()).toBe('Hello.')
    expect(reads.some((url) => url.includes('/agent-versions'))).toBe(true)
    expect(await tenants.count()).toBe(0)
    await context.close()
  })

  it('is left for their own pages by somebody of another tenant who logs in', async () => {
    const { context, page } = await typing('Typed.')
    await endSession(context)
    await save(page)
    await logInAgain(page, HEDY)
    await page.waitForURL('**/app/t/globex/overview')
    await page.getByRole('link', { name: 'Calls', exact: true }).click()
    await page.waitForURL('**/app/t/globex/calls')
    await context.close()
  })

  it('is not left by a link, the way out or a closed tab without a question', async () => {
    const { context, page } = await typing('Typed.')
    const question = page.getByRole('dialog', { name: 'Drop what you have typed?' })
    const leave = () => page.getByRole('link', { name: 'Numbers', exact: true }).click()
    await leave()
    await question.getByRole('button', { name: 'Go on writing' }).click()
    await question.waitFor({ state: 'hidden' })
    await page.locator('a:focus').getByText('Numbers', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Logged in as ada' }).click()
    const out = page.getByRole('menuitem', { name: 'Log out' })
    await out.click()
    await question.getByRole('button', { name: 'Go on writing' }).waitFor()
    // It would lie upon the question, and go with the focus that is given back.
    await out.waitFor({ state: 'hidden' })
    await question.getByRole('button', { name: 'Go on writing' }).click()
    await question.waitFor({ state: 'hidden' })
    await page
      .locator('*:focus')
      .and(page.getByRole('button', { name: 'Logged in as ada' }))
      .waitFor()
    const asked = page.waitForEvent('dialog', (dialog) => dialog.type() === 'beforeunload')
    // An answer to the question of a tab that is torn down with its profile fails in nobody's hands.
    const closed = page.waitForEvent('close')
    await page.close({ runBeforeUnload: true })
    await asked
    await closed
    await context.close()

    const again = await typing('Typed.')
    await again.page.getByRole('link', { name: 'Numbers', exact: true }).click()
    const drop = again.page.getByRole('button', { name: 'Drop it' })
    // The second click of a double one, wherever it comes to lie, answers nothing.
    await drop.dispatchEvent('click', { detail: 2 })
    await again.page.locator('.mantine-Modal-overlay').dispatchEvent('click', { detail: 2 })
    await drop.click()
    await again.page.getByRole('heading', { name: 'Numbers', exact: true }).waitFor()
    await again.context.close()
  })

  it('is not saved over what somebody else has written meanwhile before that was seen', async () => {
    const { context, page } = await typing('Ours.')
    await ask('PATCH', `/admin/tenants/acme/agent-versions/${draft.id}`, { config: { greeting: 'Theirs.' } })
    await save(page)
    const panel = page.getByRole('region', { name: 'Somebody else changed it meanwhile' })
    await panel.getByText('Theirs.').waitFor()
    expect(await greetingOf(draft.id)).toBe('Theirs.')
    await panel.getByRole('button', { name: 'Save mine over it' }).press('Enter')
    await page.getByText('Saved.', { exact: true }).waitFor()
    // There is nothing to save now: the keyboard goes on beside the button that does.
    await page.locator('div:focus').getByRole('button', { name: 'Save the draft', disabled: true }).waitFor()
    expect(await greetingOf(draft.id)).toBe('Ours.')

    await ask('PATCH', `/admin/tenants/acme/agent-versions/${draft.id}`, { config: { greeting: 'Theirs again.' } })
    await greetingIn(page).fill('Ours again.')
    await save(page)
    await panel.getByRole('button', { name: 'Take the stored one' }).press('Enter')
    await page.locator('div:focus').getByRole('button', { name: 'Save the draft', disabled: true }).waitFor()
    expect(await greetingIn(page).inputValue()).toBe('Theirs again.')
    await greetingIn(page).fill('Ours at last.')
    await save(page)
    await page.getByText('Saved.', { exact: true }).waitFor()
    expect(await greetingOf(draft.id)).toBe('Ours at last.')
    await context.close()
  })

  it('in a window is not lost by a click beside it, and by a key after a question alone', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, '/app/prompts')
    const open = () => page.getByRole('button', { name: 'New prompt' }).click()
    const form = page.getByRole('dialog', { name: 'New prompt' })
    await open()
    await form.waitFor()
    await page.mouse.click(5, 500)
    await form.waitFor({ state: 'hidden' })
    await open()
    await begun(form)
    await form.getByLabel('Text').fill('Typed.')
    await page.mouse.click(5, 500)
    await page.keyboard.press('Escape')
    const question = page.getByRole('dialog', { name: 'Drop what you have typed?' })
    await question.waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'hidden' })
    // It hears keys again when it has the focus again.
    await form.locator('*:focus').waitFor()
    expect(await form.getByLabel('Text').inputValue()).toBe('Typed.')
    await page.keyboard.press('Escape')
    await question.getByRole('button', { name: 'Drop it' }).click()
    await form.waitFor({ state: 'hidden' })
    await open()
    expect(await form.getByLabel('Text').inputValue()).toBe('')
    await context.close()
  })

  it('while it is saved stays, and is still to be saved', async () => {
    const { context, page } = await typing('Typed.')
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route(`**/agent-versions/${draft.id}`, async (route) => {
      await held
      await route.continue()
    })
    const sent = page.waitForRequest((request) => request.method() === 'PATCH')
    await save(page)
    await sent
    await greetingIn(page).fill('Typed later.')
    const written = page.waitForResponse((response) => response.request().method() === 'PATCH')
    const read = page.waitForResponse((response) => response.url().includes('/agent-versions?'))
    answer()
    await Promise.all([written, read])
    await page.unrouteAll({ behavior: 'wait' })
    expect(await greetingIn(page).inputValue()).toBe('Typed later.')
    await save(page)
    await page.getByText('Saved.', { exact: true }).waitFor()
    expect(await greetingOf(draft.id)).toBe('Typed later.')
    await context.close()
  })
})

describe('a window', () => {
  it('begins in its first field, and gives the focus back to its button however it is closed', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, '/app/prompts')
    const button = page.getByRole('button', { name: 'New prompt' })
    const form = page.getByRole('dialog', { name: 'New prompt' })
    const focused = page.locator('*:focus')
    const open = async () => {
      await button.press('Enter')
      await form.waitFor()
      await focused.and(form.getByLabel('Key')).waitFor()
    }
    for (let times = 0; times < 5; times += 1) {
      await open()
      await page.keyboard.press('Escape')
      await form.waitFor({ state: 'hidden' })
      await focused.and(button).waitFor()
    }
    await open()
    await form.getByRole('button', { name: 'Cancel', disabled: false }).press('Enter')
    await focused.and(button).waitFor()
    await open()
    await page.keyboard.type('focused')
    await form.getByLabel('Text').fill('Typed.')
    await form.getByRole('button', { name: 'Save the prompt', disabled: false }).press('Enter')
    await focused.and(button).waitFor()
    await context.close()
  })

  it('that waits for an answer gives the focus back, too', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, '/app/t/acme/settings')
    const button = page.getByRole('button', { name: 'What would run?', disabled: false })
    await button.press('Enter')
    await page.getByRole('dialog', { name: 'What would run' }).locator('*:focus').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('*:focus').and(button).waitFor()
    await context.close()
  })

  it.each([
    ['Pages', 'dialog'],
    ['Logged in as ada', 'menu'],
  ] as const)(
    'of the bar (%s) gives the focus back the first time, when it has just been loaded, and later',
    async (name, role) => {
      const context = await dashboard.loggedIn({ width: 768, colorScheme: 'light' })
      const { page } = await dashboard.visit(context, '/app/prompts')
      const button = page.getByRole('button', { name })
      for (let times = 0; times < 2; times += 1) {
        await button.press('Enter')
        await page.getByRole(role).waitFor()
        await page.locator(`[role=${role}] *:focus`).waitFor({ state: 'attached' })
        await page.keyboard.press('Escape')
        await page.getByRole(role).waitFor({ state: 'hidden' })
        await page.locator('*:focus').and(button).waitFor()
      }
      await context.close()
    },
  )
})

describe('the settings of a tenant', () => {
  it('are gone through backwards with each field, and its label, below the bar', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, '/app/t/acme/settings')
    const bottom = (await page.getByRole('banner').first().boundingBox())?.height ?? 0
    await page.getByLabel('Document').focus()
    for (const label of [
      'Call only with consent',
      'Calls to a number a day',
      'API requests a minute',
      'Secret',
      'Account',
      'Name',
    ]) {
      const field = page.getByLabel(label, { exact: true })
      while (!(await field.evaluate((element) => element === element.ownerDocument.activeElement)))
        await page.keyboard.press('Shift+Tab')
      const top = await page
        .getByText(label, { exact: true })
        .first()
        .evaluate((element) => element.getBoundingClientRect().top)
      expect(top, label).toBeGreaterThanOrEqual(bottom)
    }
    await context.close()
  })

  it('say why they are not saved over what somebody else has written', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, '/app/t/acme/settings')
    const ours = { tenant_id: 'acme', name: 'Ours', telephony: { from_number: NUMBER } }
    await page.getByLabel('Document', { exact: true }).fill(JSON.stringify(ours))
    await ask('PUT', '/admin/tenants/acme', { tenant_id: 'acme', name: 'Theirs' })
    await page.getByRole('button', { name: 'Save the settings' }).click()
    const panel = page.getByRole('region', { name: 'Somebody else changed it meanwhile' })
    await panel.getByText('name: Theirs').waitFor()
    const keep = panel.getByRole('button', { name: 'Save mine over it' })
    const answer = Promise.withResolvers<void>()
    await page.route('**/admin/tenants/acme', async (route) => {
      await answer.promise
      await route.fallback()
    })
    await keep.press('Enter')
    // Some browsers give the focus of what cannot be pressed to what is around it, others to the page.
    await page.locator('button:focus').and(keep).waitFor({ state: 'detached' })
    answer.resolve()
    await panel.getByRole('alert').getByText('conflict', { exact: true }).waitFor()
    await page.locator('button:focus').and(keep).waitFor()
    await page.getByLabel('Document', { exact: true }).fill(JSON.stringify({ ...ours, telephony: {} }))
    await keep.press('Enter')
    await page.getByText('Saved.').waitFor()
    await page.locator('div:focus').getByRole('button', { name: 'Save the settings', disabled: true }).waitFor()
    await context.close()
  })
})

it('the keyboard goes on in a page that was led to, and at the beginning of one that is loaded', async () => {
  const context = await dashboard.loggedIn(WIDE)
  const { page } = await dashboard.visit(context, '/app/t/acme/agents')
  const inPage = page.locator('main:focus')
  const desk = page.getByRole('main').getByRole('link', { name: 'Desk', exact: true })
  await desk.press('Enter')
  await page.getByRole('heading', { name: 'Desk', level: 1 }).waitFor()
  await inPage.waitFor()
  await page
    .getByRole('button', { name: /^New draft from version/ })
    .first()
    .press('Enter')
  await page.getByRole('button', { name: 'Save the draft' }).waitFor()
  await inPage.waitFor()
  await ask('POST', '/callback-tasks', { customer_phone: '+12025550188' })
  await page.goto(`${dashboard.address}/app/t/acme/desk`)
  await page.getByRole('button', { name: 'Claim next of default' }).waitFor()
  await page.keyboard.press('n')
  await page.getByRole('heading', { name: '+1 202 555 0188' }).waitFor()
  await inPage.waitFor()
  // What stands around all pages keeps it.
  const calls = page.getByRole('navigation').getByRole('link', { name: 'Calls', exact: true })
  await calls.press('Enter')
  await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor()
  expect(await calls.and(page.locator(':focus')).count()).toBe(1)
  await page.reload()
  await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor()
  expect(await inPage.count()).toBe(0)
  await context.close()
})

describe('a form', () => {
  it('that is refused for a while says once for how long', async () => {
    const context = await dashboard.context(WIDE)
    const { page } = await dashboard.visit(context, '/app/login')
    const error = 'Too many failed logins: wait 12 s before the next one.'
    const refused = { ok: false, error, code: 'rate_limited', request_id: 'r' }
    await page.route('**/auth/login', (route) =>
      route.fulfill({ status: 429, headers: { 'retry-after': '12' }, json: refused }),
    )
    await page.getByLabel('User name or e-mail').fill('grace')
    await page.locator('input[type=password]').fill('wrong')
    await page.getByRole('button', { name: 'Log in', exact: true }).click()
    await page.getByRole('alert').getByText(error).waitFor()
    expect(await page.getByText('12 s').count()).toBe(1)
    await context.close()
  })

  it.each([
    ['agents', 'New agent', { Name: 'Desk', Key: 'desk' }, 'The tenant has an agent desk already.'],
    ['people', 'Invite somebody', { 'E-mail': HEDY }, 'The e-mail is that of another person.'],
    ['numbers', 'Add a number', { Number: NUMBER }, `The number ${NUMBER} is held by another tenant.`],
  ])('of the %s says at its field that what is written there is taken', async (path, name, fields, told) => {
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, `/app/t/acme/${path}`)
    await page.getByRole('button', { name }).click()
    const form = page.getByRole('dialog', { name })
    await begun(form)
    if (path === 'numbers') await form.getByLabel('Agent').selectOption('desk')
    for (const [label, text] of Object.entries(fields)) await form.getByLabel(label).fill(text)
    await form.locator('button[type=submit]').click()
    await form.getByRole('alert').getByText(told).waitFor()
    // There somebody writes on, and hears why.
    const at = Object.keys(fields).at(-1) ?? ''
    const described = `${told}${at === 'Key' ? ' How numbers and calls name it: small letters, digits, - and _.' : ''}`
    const field = form.getByRole('textbox', { name: at, description: described })
    await field.and(page.locator('[aria-invalid=true]:focus')).waitFor()
    await context.close()
  })
})

describe('a prompt', () => {
  it('is left as it is by whoever has not seen it', async () => {
    const context = await dashboard.loggedIn(WIDE)
    await ask('PUT', '/admin/prompts/taken', { text: 'Theirs.' })
    const { page } = await dashboard.visit(context, '/app/prompts')
    await page.getByRole('button', { name: 'New prompt' }).click()
    const form = page.getByRole('dialog')
    const write = async (text: string) => {
      await begun(form)
      await form.getByLabel('Text').fill(text)
      await form.getByRole('button', { name: 'Save the prompt' }).click()
    }
    const cancel = async () => {
      await form.getByRole('button', { name: 'Cancel' }).click()
      await form.waitFor({ state: 'hidden' })
    }
    await form.getByLabel('Key').fill('taken')
    await write('Ours.')
    await form.getByRole('alert').getByText('is taken: choose another').waitFor()
    await cancel()

    const row = page.getByRole('row').filter({ hasText: 'taken' })
    await row.getByRole('button', { name: 'Change' }).click()
    await ask('PUT', '/admin/prompts/taken', { text: 'Theirs, later.' })
    await write('Ours.')
    await form.getByRole('alert').getByText('It has changed since it was read.').waitFor()
    expect((await ask('GET', '/admin/prompts/taken')).prompt.text).toBe('Theirs, later.')
    await cancel()
    await row.getByRole('cell', { name: '14', exact: true }).waitFor()
    await row.getByRole('button', { name: 'Change' }).click()
    await write('Ours.')
    await form.waitFor({ state: 'hidden' })
    expect((await ask('GET', '/admin/prompts/taken')).prompt.text).toBe('Ours.')
    await context.close()
  })

  it('that somebody else changed meanwhile stands beside ours: one of the two is kept', async () => {
    const context = await dashboard.loggedIn(WIDE)
    await ask('PUT', '/admin/prompts/shared', { text: 'Begun with.' })
    const { page } = await dashboard.visit(context, '/app/prompts')
    const row = page.getByRole('row').filter({ hasText: 'shared' })
    const form = page.getByRole('dialog', { name: 'Change' })
    const panel = form.getByRole('region', { name: 'Somebody else changed it meanwhile' })
    const write = async (theirs: string, ours: string) => {
      await row.getByRole('button', { name: 'Change' }).click()
      await begun(form)
      await form.getByLabel('Text').fill(ours)
      await ask('PUT', '/admin/prompts/shared', { text: theirs })
      await form.getByRole('button', { name: 'Save the prompt' }).click()
      await panel.getByText(`text: ${theirs}`).waitFor()
      await panel.getByText(`text: ${ours}`).waitFor()
    }
    const stored = async () => (await ask('GET', '/admin/prompts/shared')).prompt.text
    await write('Theirs.', 'Ours.')
    expect(await faultsAsShown(page)).toEqual([])
    expect(await stored()).toBe('Theirs.')
    await page.locator('div:focus > section').and(panel).waitFor()
    await panel.getByRole('button', { name: 'Save mine over it' }).click()
    await form.waitFor({ state: 'hidden' })
    expect(await stored()).toBe('Ours.')

    await write('Theirs again.', 'Ours again.')
    await panel.getByRole('button', { name: 'Take the stored one' }).click()
    await panel.waitFor({ state: 'hidden' })
    expect(await form.getByLabel('Text').inputValue()).toBe('Theirs again.')
    await page.keyboard.press('Enter')
    await form.waitFor({ state: 'hidden' })
    expect(await stored()).toBe('Theirs again.')
    await context.close()
  })

  it('that somebody else deleted meanwhile is made again by whoever wants it', async () => {
    const context = await dashboard.loggedIn(WIDE)
    await ask('PUT', '/admin/prompts/gone', { text: 'Begun with.' })
    const { page } = await dashboard.visit(context, '/app/prompts')
    await page.getByRole('row').filter({ hasText: 'gone' }).getByRole('button', { name: 'Change' }).click()
    const form = page.getByRole('dialog', { name: 'Change' })
    await begun(form)
    await form.getByLabel('Text').fill('Ours.')
    await ask('DELETE', '/admin/prompts/gone')
    await form.getByRole('button', { name: 'Save the prompt' }).click()
    await form.getByText('prompt: deleted').waitFor()
    await form.getByRole('button', { name: 'Save mine over it' }).click()
    await form.waitFor({ state: 'hidden' })
    expect((await ask('GET', '/admin/prompts/gone')).prompt.text).toBe('Ours.')
    await context.close()
  })

  it('that somebody else deleted meanwhile keeps what is typed in its window when the list is read again', async () => {
    const context = await dashboard.loggedIn(WIDE)
    await ask('PUT', '/admin/prompts/away', { text: 'Begun with.' })
    const { page } = await dashboard.visit(context, '/app/prompts')
    const row = page.getByRole('row').filter({ hasText: 'away' })
    await row.getByRole('button', { name: 'Change' }).click()
    const form = page.getByRole('dialog', { name: 'Change' })
    await begun(form)
    await form.getByLabel('Text').fill('Three pages.')
    await ask('DELETE', '/admin/prompts/away')
    await page.clock.install()
    await page.clock.fastForward(70_000)
    const read = page.waitForResponse((response) => /\/admin\/prompts(\?|$)/.test(response.url()))
    await comeBackTo(page)
    await (await read).finished()
    await form.getByRole('button', { name: 'Save the prompt' }).click()
    await form.getByText('prompt: deleted').waitFor()
    await form.getByRole('button', { name: 'Cancel' }).click()
    // With its window the row goes, too.
    await row.waitFor({ state: 'hidden' })
    await page.locator('main:focus').waitFor()
    await context.close()
  })
})
