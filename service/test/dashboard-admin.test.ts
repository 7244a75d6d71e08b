import type { BrowserContext, Page, WebSocketRoute } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { newId } from '../src/kernel/ids.ts'
import type { Db } from '../src/platform/db/schema.ts'
import { LOGIN, useDashboard } from './harness/dashboard.ts'
import { HOSTILE } from './harness/hostile.ts'
import { IS_FULL, LOOKS, NARROW, WIDE } from './harness/looks.ts'
import { faultsAsShown } from './harness/page-faults.ts'
import { startWebhookTarget, type WebhookTarget } from './harness/webhook-target.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const dashboard = useDashboard({
  settings: { LOG_LEVEL: 'debug', OUTBOUND_ALLOW_PRIVATE_NETWORKS: 'true', BILLING_WEBHOOK_URL: 'http://127.0.0.1:9/' },
  tenant: 'acme',
  furnish: giveUp,
})
let context: BrowserContext
let target: WebhookTarget
const agent = { id: '', versions: [''] }

beforeAll(async () => {
  target = await startWebhookTarget()
  target.answer({ status: 500 })
  await fill()
  context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
})
afterAll(() => target?.close())

/** What a call cost, which billing did not take in a day. */
async function giveUp(db: Db): Promise<void> {
  const [tenant_id, call_sid, at] = ['acme' as never, 'CA1', new Date()]
  const ids = { tenant_id, id: newId<string>(at.getTime()), call_sid, voice_session_id: null, sequence: null }
  const told = { event: 'billing.outcome', tenant_id, call_sid, voice_session_id: '', created_at: at.toISOString() }
  const spent = { status: 'failed' as const, attempts: 8, due_at: at, created_at: at, claim_token: null }
  const body = JSON.stringify({ ...told, payload: {} })
  await db
    .insertInto('billing_outbox')
    .values({ ...ids, event: told.event, body, ...spent, last_status_code: 503 })
    .execute()
}

/** What of the answers is looked at; each has some of it. */
type Answered = {
  agent: { id: string }
  version: { id: string }
  task: { id: string }
  user: { id: string }
  rollouts: { version_number: number; traffic_percentage: number }[]
  config: object
}

const ask = (method: string, path: string, body?: unknown) => dashboard.ask<Answered>(method, path, body)

/** A tenant with one of everything, each with a name that would do harm if it could. */
async function fill(): Promise<void> {
  const tenant = '/admin/tenants/acme'
  await ask('PUT', tenant, { tenant_id: 'acme', name: HOSTILE, webhook: { url: target.url } })
  const made = await ask('POST', `${tenant}/agents`, { agent_key: 'desk', name: HOSTILE, description: HOSTILE })
  agent.id = made.agent.id
  const draft = (greeting: string) =>
    ask('POST', `${tenant}/agent-versions`, { agent_id: agent.id, config: { greeting } })
  agent.versions = [(await draft('Hello.')).version.id, (await draft(HOSTILE)).version.id]
  await ask('POST', `${tenant}/agent-versions/${agent.versions[0]}/publish`)
  await ask('POST', `${tenant}/phone-routes`, { phone_number: '+12025550123', agent_key: 'desk', label: HOSTILE })
  await ask('POST', `${tenant}/users`, { email: 'grace@example.com', name: HOSTILE, role: 'viewer' })
  await ask('POST', `${tenant}/api-keys`, { label: HOSTILE })
  await ask('PUT', '/admin/prompts/polite', { text: HOSTILE, description: HOSTILE })
  const contact = { contact_name: HOSTILE.slice(0, 90), work_email: 'grace@acme-phones.com' }
  await ask('POST', '/access-requests', { company_name: HOSTILE.slice(0, 90), use_case: HOSTILE, ...contact })
  await ask('POST', '/dnc', { phone: '+12025550177', reason: HOSTILE })
}

const visit = (path: string) => dashboard.visit(context, path)

/** Presses a button that asks first, and says yes. */
async function confirm(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole('button', { name }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name }).click()
  await dialog.waitFor({ state: 'hidden' })
}

const agentPath = () => `/app/t/acme/agents/${agent.id}`

describe('the pages of a tenant', () => {
  it('say once that there is no such tenant, whichever of them is asked for', async () => {
    for (const path of ['overview', 'desk', 'settings', 'people', 'calls/CAnone']) {
      const { page } = await visit(`/app/t/nobody/${path}`)
      await page.getByRole('heading', { name: 'There is no such tenant' }).waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
      await page.getByRole('link', { name: 'All that there are' }).click()
      await page.getByRole('heading', { name: 'Tenants' }).waitFor()
      await page.close()
    }
  })

  it('lead from a live call that is over to where it stands then', async () => {
    const { page } = await visit('/app/t/acme/live/MZover')
    await page.getByText('No such call goes on').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await faultsAsShown(page)).toEqual([])
    await page.getByRole('link', { name: 'all calls' }).click()
    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor()
    await page.close()
  })

  it('are there of one that is not in the list', async () => {
    const page = await context.newPage()
    const nothing = { ok: true, count: 0, tenants: [], next_cursor: null }
    await page.route('**/api/v1/admin/tenants?*', (route) => route.fulfill({ json: nothing }))
    await page.goto(`${dashboard.address}/app/t/acme/people`)
    await page.getByText('grace@example.com').waitFor()
    await page.close()
  })
})

describe('a tenant that is called as what all of them stand under', () => {
  it('has a page of its own, and leaves the list as it is', async () => {
    await ask('PUT', '/admin/tenants/list', { tenant_id: 'list', name: 'Listing' })
    const { page, faults } = await visit('/app/tenants')
    await page.getByRole('link', { name: 'Listing' }).click()
    await page.getByRole('heading', { level: 1, name: 'Listing' }).waitFor()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Listing')
    await page.getByRole('button', { name: 'Delete the tenant' }).click()
    const question = page.getByRole('dialog', { name: 'Delete the tenant?' })
    const force = question.getByLabel('Also end its live calls')
    await force.check()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'hidden' })
    // Who is asked once more has agreed to nothing yet.
    await page.getByRole('button', { name: 'Delete the tenant' }).click()
    expect(await force.isChecked()).toBe(false)
    await question.getByRole('button', { name: 'Delete the tenant' }).click()
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
    await page.getByRole('link', { name: 'Listing' }).waitFor({ state: 'hidden' })
    await page.getByRole('cell', { name: 'acme', exact: true }).waitFor()
    expect(faults).toEqual([])
    await page.close()
  })
})

/** As many lines as each word of an address takes; one that is broken takes more than one. */
const LINES_OF_WORDS = `
  [...document.querySelectorAll('[aria-label=People] td:first-child > span')].flatMap((address) =>
    [...address.childNodes].filter(({ data }) => data).map((word) => {
      const range = document.createRange()
      range.selectNode(word)
      return range.getClientRects().length
    }))`

describe('the people of a tenant', () => {
  it('have addresses that are broken between their words alone, and their names, whatever the width', async () => {
    const someone = { email: 'maximiliane.obermeier@customers.example.com', name: 'Maximiliane', role: 'viewer' }
    await ask('POST', '/admin/tenants/acme/users', someone)
    const { page } = await visit('/app/t/acme/people')
    for (const width of [390, 768, 1024]) {
      await page.setViewportSize({ width, height: 800 })
      await page.getByText('Maximiliane', { exact: true }).filter({ visible: true }).waitFor()
      const lines = await page.evaluate<number[]>(LINES_OF_WORDS)
      expect(lines.filter((count) => count !== 1)).toEqual([])
      expect(lines.length).toBeGreaterThan(5)
    }
    await page.close()
  })

  it('get another e-mail and password, which log them in from then on, and another role keeps what else was changed', async () => {
    const [before, after] = ['lin@acme.example', 'lin.berg@acme.example']
    const { user } = await ask('POST', '/admin/tenants/acme/users', {
      ...{ email: before, name: 'Lin', role: 'viewer', password: LOGIN.password },
    })
    const { page } = await visit('/app/t/acme/people')
    const form = page.getByRole('dialog', { name: 'Change' })
    const open = async (email: string) => {
      const change = page.getByRole('row').filter({ hasText: email }).getByRole('button', { name: 'Change' })
      await change.click()
      await form.locator('*:focus').waitFor()
    }
    const save = () => form.getByRole('button', { name: 'Save the person', disabled: false }).click()
    await open(before)
    await form.getByLabel('E-mail').fill('grace@example.com')
    await form.getByLabel('New password', { exact: true }).fill(NEW_PASSWORD)
    await form.getByLabel('New password again').fill(LOGIN.password)
    await save()
    await form.getByText('The two new passwords are not the same. Nothing is changed.').waitFor()
    await form.getByLabel('New password again').fill(NEW_PASSWORD)
    await save()
    await form.getByRole('alert').getByText('The e-mail is that of another person.').waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    await form.getByLabel('E-mail').fill(after)
    // Somebody else renames them meanwhile, which this form has not touched.
    await ask('PATCH', `/admin/tenants/acme/users/${user.id}`, { name: 'Lin Berg' })
    await save()
    await form.waitFor({ state: 'hidden' })
    await page.getByRole('cell', { name: 'Lin Berg', exact: true }).waitFor()
    expect(await loginStatus(before, LOGIN.password)).toBe(401)
    expect(await loginStatus(after, NEW_PASSWORD)).toBe(200)

    await open(after)
    await form.getByLabel('Role').selectOption('operator')
    await save()
    await form.waitFor({ state: 'hidden' })
    await page.getByRole('row').filter({ hasText: after }).getByText('Operator').waitFor()
    expect(await loginStatus(after, NEW_PASSWORD)).toBe(200)
    await page.close()
  })
})

const NEW_PASSWORD = 'another password of Lin'

async function loginStatus(username: string, password: string): Promise<number> {
  const other = await dashboard.context(WIDE)
  const asked = { data: { username, password }, headers: { origin: dashboard.address } }
  const answer = await other.request.post(`${dashboard.address}/api/v1/admin/auth/login`, asked)
  await other.close()
  return answer.status()
}

describe('an agent', () => {
  it('is renamed, and publishes only what has passed a simulation once that is set, by whoever may', async () => {
    const named = { agent_key: 'night', name: 'Night', description: 'After hours.' }
    const { id } = (await ask('POST', '/admin/tenants/acme/agents', named)).agent
    await ask('POST', '/admin/tenants/acme/agent-versions', { agent_id: id, config: { greeting: 'Good evening.' } })
    const path = `/app/t/acme/agents/${id}`
    const { page } = await visit(path)
    await page.getByRole('button', { name: 'Change the agent' }).click()
    const form = page.getByRole('dialog', { name: 'Change the agent' })
    await form.locator('*:focus').waitFor()
    await form.getByLabel('Name').fill('Night desk')
    await form.getByLabel('Publish only what has passed a simulation').check()
    expect(await faultsAsShown(page)).toEqual([])
    await ask('PATCH', `/admin/tenants/acme/agents/${id}`, { description: 'From ten to six.' })
    await form.getByRole('button', { name: 'Save the agent' }).click()
    await page.getByRole('heading', { name: 'Night desk' }).waitFor()
    await page.getByText('From ten to six.').waitFor()
    await page.getByText('Only what has passed a simulation is published').waitFor()
    await page.getByRole('button', { name: 'Publish version 1', disabled: false }).click()
    const question = page.getByRole('dialog')
    await question.getByRole('button', { name: 'Publish version 1' }).click()
    await question.getByRole('alert').getByText('conflict', { exact: true }).waitFor()
    await page.close()

    const viewer = { email: 'vera@acme.example', role: 'viewer', password: LOGIN.password }
    await ask('POST', '/admin/tenants/acme/users', viewer)
    const other = await dashboard.loggedIn(WIDE, viewer.email)
    const seen = (await dashboard.visit(other, path)).page
    await seen.getByRole('heading', { name: 'Night desk' }).waitFor()
    expect(await seen.getByRole('button', { name: 'Change the agent' }).count()).toBe(0)
    await other.close()
  })
})

describe('the pages of an administrator', () => {
  it('forget why a talk in text failed when it is begun again', async () => {
    const { page } = await visit(`${agentPath()}/versions/${agent.versions[1]}`)
    await page.getByRole('button', { name: 'Hear the greeting', disabled: false }).click()
    await page.getByLabel('You, as the caller').fill('Hello?')
    const away = { ok: false, error: 'The model is away.', code: 'unavailable', request_id: 'none' }
    await page.route('**/api/v1/chats', (route) => route.fulfill({ status: 503, json: away }))
    await page.getByRole('button', { name: 'Say it', disabled: false }).click()
    await page.getByText(away.error).waitFor()
    await page.getByRole('button', { name: 'Begin again', disabled: false }).click()
    await page.getByRole('button', { name: 'Hear the greeting' }).waitFor()
    expect(await page.getByText(away.error).count()).toBe(0)
    await page.close()
  })

  it('draft a version with its faults told in place, publish it, and share its calls with the one before', async () => {
    const { page } = await visit(`${agentPath()}/versions/${agent.versions[1]}`)
    const json = page.getByLabel('Everything, as JSON')
    await json.fill('{\n  "greeting": "Good morning.",\n  "idle": { "goodbye": 7 }\n}')
    await page.getByRole('button', { name: 'Save the draft' }).click()
    await page.getByText(/Line 3:.*\/idle\/goodbye/).waitFor()
    await json.fill('{ "greeting": "Good morning." }')
    await page.getByLabel('What it calls itself').fill('Robin')
    await page.getByLabel('Reasoning effort').selectOption({ label: 'High' })
    await page.getByRole('button', { name: 'Save the draft' }).click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    expect(await json.inputValue()).toContain('"reasoning_effort": "high"')
    const goesOn = page.locator('div:focus')
    await page.getByRole('button', { name: 'Hear the greeting', disabled: false }).press('Enter')
    await goesOn.getByLabel('You, as the caller').waitFor()
    await page.getByRole('button', { name: 'Begin again', disabled: false }).press('Enter')
    await goesOn.getByRole('button', { name: 'Hear the greeting' }).waitFor()
    await page.getByRole('button', { name: 'New simulation' }).click()
    const scenario = page.getByLabel('Scenarios, as JSON')
    await scenario.fill('[{')
    await page.getByRole('button', { name: 'Run it' }).click()
    await page.getByText(/The scenarios are no JSON/).waitFor()
    const caller = { steps: [{ say: 'Are you open?' }] }
    await scenario.fill(JSON.stringify([{ name: 'Hours', caller, expect: { heard: ['never this'] } }]))
    await page.getByRole('button', { name: 'Run it' }).click()
    await page.getByText('"never this" was not heard.').waitFor()
    await page.getByRole('button', { name: 'Read', exact: true }).click()
    await page.getByLabel('What was said in the run').getByText('Are you open?').waitFor()
    await page.getByRole('button', { name: 'New simulation' }).click()
    await scenario.fill(JSON.stringify([{ name: 'Hangs up', caller: { steps: [{ hang_up: true }] } }]))
    await page.getByLabel('How it is tried').selectOption({ label: 'By voice: the agent is called' })
    await page.getByRole('button', { name: 'Run it' }).click()
    await page.getByRole('cell', { name: 'By voice' }).waitFor()
    await confirm(page, 'Publish version 2')
    await page.getByText('Published', { exact: true }).waitFor()
    // To be read, and copied, by everybody; to be changed by nobody.
    const greeting = page.getByLabel('Greeting', { exact: true })
    expect([await greeting.isDisabled(), await greeting.isEditable()]).toEqual([false, false])
    expect(await greeting.inputValue()).toBe('Good morning.')

    await page.goto(dashboard.address + agentPath())
    await page.getByRole('button', { name: 'Roll back to version 1' }).waitFor()
    await page.getByLabel('Give a share to').selectOption({ label: 'Version 1' })
    // The keyboard goes on where the button was that was pressed.
    const shares = page.locator('div:focus')
    await page.getByRole('button', { name: 'Take out Version 1' }).press('Enter')
    await shares.getByText('answers all calls').waitFor()
    await page.getByLabel('Give a share to').selectOption({ label: 'Version 1' })
    await page.getByRole('button', { name: 'Undo' }).press('Enter')
    await shares.getByText('answers all calls').waitFor()
    await page.getByLabel('Give a share to').selectOption({ label: 'Version 1' })
    // What is typed stands there as it is typed, and is what is given.
    const percent = page.getByLabel('Percent of Version 1')
    await percent.press('ControlOrMeta+a')
    await percent.pressSequentially('.5')
    await page.getByText('answers 99.5%').waitFor()
    await percent.fill('')
    // As most of the world writes it, whatever the language of the browser.
    await percent.pressSequentially('2,5')
    await page.getByText('answers 97.5%').waitFor()
    expect(await percent.inputValue()).toBe('2.5')
    await percent.fill('')
    await percent.pressSequentially('25')
    expect(await percent.inputValue()).toBe('25')
    const entries = [{ agent_version_id: agent.versions[0], traffic_percentage: 40 }]
    await ask('PUT', `/admin/tenants/acme/agents/${agent.id}/rollouts`, { entries })
    await page.getByRole('button', { name: 'Save the rollout' }).click()
    await page.getByText('Somebody else changed the rollout meanwhile').waitFor()
    await page.getByText('Version 1: 40%').waitFor()
    await page.getByRole('button', { name: 'Save mine' }).click()
    await page.getByRole('button', { name: 'Save mine' }).waitFor({ state: 'hidden' })
    // The choice is gone as soon as ours is sent; when it is stored there is nothing left to undo.
    await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'hidden' })
    await page.getByText('answers 75%').waitFor()
    const { rollouts } = await ask('GET', `/admin/tenants/acme/agents/${agent.id}/rollouts`)
    expect(rollouts[0]).toMatchObject({ version_number: 1, traffic_percentage: 25 })
    await confirm(page, 'Roll back to version 1')
    await page.getByRole('button', { name: 'Roll back to version 2' }).waitFor()
    await page.close()
  })

  it('keep what somebody else has written of a tenant until it is decided', async () => {
    const { page } = await visit('/app/t/acme/settings')
    const name = page.getByLabel('Name', { exact: true })
    await name.fill('Ours')
    await ask('PUT', '/admin/tenants/acme', { tenant_id: 'acme', name: 'Theirs', webhook: { url: target.url } })
    await page.getByRole('button', { name: 'Save the settings' }).click()
    await page.getByRole('heading', { name: 'Somebody else changed it meanwhile' }).waitFor()
    await page.getByText('name: Theirs').waitFor()
    await page.getByRole('button', { name: 'Take the stored one' }).click()
    await page.getByText('name: Theirs').waitFor({ state: 'hidden' })
    expect(await name.inputValue()).toBe('Theirs')
    await name.fill(HOSTILE)
    await page.getByLabel('Longest silence, in seconds').fill('1')
    await page.getByRole('button', { name: 'Save the settings' }).click()
    await page.getByText(/Line \d+:.*\/limits\/idle_seconds/).waitFor()
    await page.getByLabel('Longest silence, in seconds').fill('20')
    await page.getByRole('button', { name: 'Save the settings' }).click()
    await page.getByText('Saved.').waitFor()
    expect((await ask('GET', '/admin/tenants/acme')).config).toMatchObject({
      name: HOSTILE,
      limits: { idle_seconds: 20 },
    })
    await page.close()
  })

  it('make a key that works, and revoke it', async () => {
    const { page } = await visit('/app/t/acme/people')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('dialog').getByLabel('Label').fill('till')
    await page.getByRole('button', { name: 'Make the key' }).click()
    const token = await page.getByLabel('API key', { exact: true }).inputValue()
    const tried = async () => {
      const answer = await fetch(`${dashboard.address}/api/v1/call-logs`, {
        headers: { authorization: `Bearer ${token}` },
      })
      return answer.status
    }
    expect(await tried()).toBe(200)
    // Nobody tells it again: the browser asks before the page goes with it.
    const asks = () => page.evaluate("!dispatchEvent(new Event('beforeunload', { cancelable: true }))")
    expect(await asks()).toBe(true)
    await page.getByRole('button', { name: 'Done' }).press('Enter')
    await page.locator('main:focus').waitFor()
    expect(await asks()).toBe(false)
    const row = page.getByRole('row').filter({ hasText: 'till' })
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await row.getByText('Revoked').waitFor()
    expect(await tried()).toBe(401)
    await page.close()
  })

  it('send again what a webhook did not take, and tell of it in the audit log', async () => {
    await target.receive(1)
    target.answer({ status: 204 })
    const { page } = await visit('/app/t/acme/deliveries?event=dnc.added')
    const row = page.getByRole('row').filter({ hasText: 'dnc.added' })
    await row.getByRole('button', { name: 'Send again' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
    await page.getByText('One is sent again.').waitFor()
    await row.getByText('Delivered').locator('visible=true').waitFor()
    await row.getByRole('button', { name: 'Look' }).click()
    await page.getByRole('dialog').getByText('500').first().waitFor()
    await page.goto(`${dashboard.address}/app/audit-log?action=webhook.redelivered`)
    await page
      .getByRole('row')
      .filter({ has: page.getByTitle('acme') })
      .filter({ hasText: 'ada' })
      .waitFor()
    await page.close()
  })

  it('show in the audit log of a narrow window what was done by whoever has a long address', async () => {
    const email = 'alexandra.montgomery-fitzgerald@branch-office.example'
    const users = '/admin/tenants/acme/users'
    await ask('POST', users, { email, role: 'admin', password: LOGIN.password })
    const theirs = await dashboard.loggedIn(WIDE, email)
    const asked = { data: { label: 'Till' }, headers: { origin: dashboard.address } }
    await theirs.request.post(`${dashboard.address}/api/v1/admin/tenants/acme/api-keys`, asked)
    const narrow = await dashboard.loggedIn(NARROW)
    const { page } = await dashboard.visit(narrow, `/app/audit-log?actor=${email}`)
    const row = page.getByRole('row').filter({ hasText: 'api_key.created' })
    const [done, look] = [row.getByText('api_key.created'), row.getByRole('button', { name: 'Look' })]
    await done.waitFor()
    const [told, button] = [await done.boundingBox(), await look.boundingBox()]
    expect((told?.x ?? 0) + (told?.width ?? Number.NaN)).toBeLessThan(button?.x ?? 0)
    await Promise.all([theirs.close(), narrow.close()])
  })

  it('show in the deliveries of a narrow window what was sent, and whether it was taken', async () => {
    const narrow = await dashboard.loggedIn(NARROW)
    const { page } = await dashboard.visit(narrow, '/app/t/acme/deliveries?event=dnc.added')
    const row = page.getByRole('row').filter({ hasText: 'dnc.added' }).first()
    const look = row.getByRole('button', { name: 'Look' })
    for (const what of ['dnc.added', /^(Pending|Delivered|Failed)$/]) {
      const told = row.getByText(what).locator('visible=true')
      await told.waitFor()
      const [box, button] = [await told.boundingBox(), await look.boundingBox()]
      expect((box?.x ?? 0) + (box?.width ?? Number.NaN)).toBeLessThan(button?.x ?? 0)
    }
    await narrow.close()
  })

  it('fit a narrow window though an agent has a long name without a space', async () => {
    const name = 'W'.repeat(80)
    const { id } = (await ask('POST', '/admin/tenants/acme/agents', { agent_key: 'long', name })).agent
    const draft = await ask('POST', '/admin/tenants/acme/agent-versions', {
      agent_id: id,
      config: { greeting: 'Hello.' },
    })
    const narrow = await dashboard.loggedIn(NARROW)
    const { page } = await dashboard.visit(narrow, `/app/t/acme/agents/${id}/versions/${draft.version.id}`)
    await page.getByRole('link', { name, exact: true }).waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    await narrow.close()
  })

  it('fit a narrow window though what describes an agent is one long address', async () => {
    const description = `https://wiki.example.com/${'Returns_and_complaints_'.repeat(5)}`
    const { id } = (await ask('POST', '/admin/tenants/acme/agents', { agent_key: 'told', name: 'Told', description }))
      .agent
    const narrow = await dashboard.loggedIn(NARROW)
    const { page } = await dashboard.visit(narrow, `/app/t/acme/agents/${id}`)
    await page.getByText(description).waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    await narrow.close()
  })

  it('fit a narrow window though the queue whose next task can be claimed has a long name', async () => {
    await ask('PUT', '/admin/tenants/acme/operator-queues/complaints', {
      name: 'Complaints and returns of the northern region',
    })
    const queueKey = 'complaints-and-returns-of-the-northern-region'
    const { task } = await ask('POST', '/callback-tasks', { customer_phone: '+12025550123', queue_key: queueKey })
    const narrow = await dashboard.loggedIn(NARROW)
    for (const [path, name] of [
      ['desk?queue_key=complaints', 'Complaints and returns of the northern region'],
      [`desk/tasks/${task.id}`, queueKey],
    ]) {
      const { page } = await dashboard.visit(narrow, `/app/t/acme/${path}`)
      const button = page.getByRole('button', { name: `Claim next of ${name}` })
      await button.waitFor()
      expect(await faultsAsShown(page)).toEqual([])
      // All of it is read.
      const words = button.getByText(`Claim next of ${name}`)
      expect(
        await words.evaluate((text) => [text.scrollWidth - text.clientWidth, text.scrollHeight - text.clientHeight]),
      ).toEqual([0, 0])
      await page.close()
    }
    await narrow.close()
  })

  it.each(LOOKS)('tell at $width px what there is to a name though that is one long word', async (look) => {
    const name = 'Gartenmöbelrückgabeangelegenheiten'.repeat(5)
    await ask('PUT', '/admin/tenants/acme/operator-queues/returns', { name })
    const visiting = await dashboard.loggedIn(look)
    const { page } = await dashboard.visit(visiting, '/app/t/acme/desk')
    const list = page.getByRole('group', { name: 'Queues' })
    await list.getByRole('link', { name, exact: true }).waitFor()
    expect(await list.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
    await visiting.close()
  })

  it.each(LOOKS)('are not moved sideways at $width px by names and keys that are one long word', async (look) => {
    const of = (letter: string, length: number) => letter.repeat(length)
    const key = `${of('k', 56)}${look.width}`
    const named = { agent_key: key, name: of('A', 200), description: of('D', 200) }
    const { agent } = await ask('POST', '/admin/tenants/acme/agents', named)
    const body = { agent_id: agent.id, config: { greeting: 'Hello.' } }
    const { version } = await ask('POST', '/admin/tenants/acme/agent-versions', body)
    await ask('POST', `/admin/tenants/acme/agent-versions/${version.id}/publish`)
    const { task } = await ask('POST', '/callback-tasks', { customer_phone: '+12025550124', queue_key: key })
    await ask('POST', `/callback-tasks/${task.id}/claim`, { operator: of('O', 200) })
    await ask('POST', '/campaigns', {
      ...{ name: of('C', 200), agent_key: key },
      contacts: [{ phone: '+12025550124', metadata: { consent: true } }],
    })
    const visiting = await dashboard.loggedIn(look)
    for (const [path, name, sign] of [
      ['agents', 'Agents', of('A', 200)],
      ['desk', 'Desk', of('O', 200)],
      ['campaigns', 'Campaigns', of('C', 200)],
    ] as const) {
      const { page } = await dashboard.visit(visiting, `/app/t/acme/${path}`)
      const list = page.getByRole('group', { name, exact: true })
      await list.getByText(sign).locator('visible=true').first().waitFor()
      expect([path, await list.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)]).toEqual([
        path,
        0,
      ])
      await page.close()
    }
    await visiting.close()
  })

  it('write what stands on the buttons of a row in a narrow window as high as its letters are', async () => {
    const narrow = await dashboard.loggedIn(NARROW)
    const { page } = await dashboard.visit(narrow, '/app/t/acme/people')
    const words = page.getByRole('group', { name: 'People' }).getByText('Change', { exact: true }).first()
    expect(await words.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)).toBeLessThanOrEqual(0)
    await narrow.close()
  })

  it('show the e-mails of people in two lines at most, however long a name is', async () => {
    await ask('POST', '/admin/tenants/acme/users', { email: 'long@example.com', name: 'N'.repeat(200), role: 'viewer' })
    const { page } = await visit('/app/t/acme/people')
    const list = page.getByRole('group', { name: 'People' })
    const email = list.getByRole('row').filter({ hasText: 'grace@example.com' }).getByRole('cell').first()
    const tops = await email
      .locator('span')
      .first()
      .evaluate((address) => [...address.getClientRects()].map(({ top }) => Math.round(top)))
    expect(new Set(tops).size).toBeLessThanOrEqual(2)
    expect(await list.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
    await page.close()
  })

  it('send again what billing did not take', async () => {
    const { page } = await visit('/app/diagnostics')
    const given = page.getByRole('region', { name: 'Billing outcomes that were given up' })
    await given
      .getByRole('row')
      .filter({ has: page.getByTitle('acme') })
      .filter({ hasText: '503' })
      .waitFor()
    await given.getByRole('button', { name: 'Send all again' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send all again' }).click()
    await page.getByText('One is sent again.').waitFor()
    await given.waitFor({ state: 'hidden' })
    await page.goto(`${dashboard.address}/app/audit-log?action=billing.redelivered`)
    await page.getByRole('row').filter({ hasText: 'billing.redelivered' }).filter({ hasText: 'ada' }).waitFor()
    await page.close()
  })

  it('mark nothing in one list that is sent again from another', async () => {
    await ask('PUT', '/admin/tenants/globex', { tenant_id: 'globex', name: 'Globex' })
    const { page } = await visit('/app/t/acme/deliveries')
    const send = page.getByRole('button', { name: 'Send 1 again' })
    const mark = async () => {
      await page.getByLabel('Mark dnc.added').check()
      await send.waitFor()
    }
    await mark()
    // Whatever has become of it by then.
    await page.getByLabel('Event', { exact: true }).fill('dnc.added')
    await send.waitFor({ state: 'hidden' })
    await mark()
    // By keys alone, too.
    await page.getByRole('button', { name: 'Tenant: ', disabled: false }).press('Enter')
    const other = page.getByRole('option', { name: 'Demo Company' })
    await other.waitFor()
    await page
      .locator('*:focus')
      .and(page.getByRole('combobox', { name: 'Tenant' }))
      .waitFor()
    await page.keyboard.type('glo')
    await other.waitFor({ state: 'hidden' })
    await page.keyboard.press('Enter')
    await page.waitForURL('**/t/globex/deliveries')
    await send.waitFor({ state: 'hidden' })
    await page.close()
  })

  it('leave what is marked to be sent again when another one is', async () => {
    const { page } = await visit('/app/numbers')
    const delivery = (id: string) => ({
      ...{ id, event: `voice.${id}`, status: 'failed', attempts: 9, url: target.url, body: {}, attempt_log: [] },
      ...{ created_at: new Date().toISOString(), next_attempt_at: null, delivered_at: null },
      ...{ last_status_code: 500, last_error: null },
    })
    const sent: object[] = []
    await page.route('**/webhook-deliveries*', (route) => {
      if (route.request().method() === 'POST') {
        sent.push(route.request().postDataJSON() as object)
        return route.fulfill({ json: { ok: true, requeued: 1 } })
      }
      return route.fulfill({ json: { ok: true, deliveries: ['one', 'two', 'three'].map(delivery), next_cursor: null } })
    })
    await page.goto(`${dashboard.address}/app/t/acme/deliveries`)
    await page.getByLabel('Mark voice.one').check()
    await page.getByLabel('Mark voice.two').check()
    for (const again of ['voice.three', 'voice.two']) {
      await page.getByRole('row').filter({ hasText: again }).getByRole('button', { name: 'Send again' }).click()
      const question = page.getByRole('dialog')
      await question.getByRole('button', { name: 'Send again' }).click()
      await question.waitFor({ state: 'hidden' })
    }
    await page.getByRole('button', { name: 'Send 1 again' }).waitFor()
    expect(await page.getByLabel('Mark voice.one').isChecked()).toBe(true)
    expect(sent).toEqual([{ ids: ['three'] }, { ids: ['two'] }])
    await page.close()
  })

  it('leave what is marked and has not failed when all that failed is sent again', async () => {
    const { page } = await visit('/app/numbers')
    const delivery = (status: string) => ({
      ...{ id: status, event: `voice.${status}`, status, attempts: 1, url: target.url, body: {}, attempt_log: [] },
      ...{ created_at: new Date().toISOString(), next_attempt_at: null, delivered_at: null },
      ...{ last_status_code: 200, last_error: null },
    })
    await page.route('**/webhook-deliveries*', (route) => {
      if (route.request().method() === 'POST') return route.fulfill({ json: { ok: true, requeued: 1 } })
      const deliveries = ['delivered', 'failed'].map(delivery)
      return route.fulfill({ json: { ok: true, deliveries, next_cursor: null } })
    })
    await page.goto(`${dashboard.address}/app/t/acme/deliveries`)
    await page.getByLabel('Mark voice.delivered').check()
    await page.getByLabel('Mark voice.failed').check()
    await confirm(page, 'Send all that failed again')
    await page.getByText('One is sent again.').waitFor()
    await page.getByRole('button', { name: 'Send 1 again' }).waitFor()
    expect(await page.getByLabel('Mark voice.delivered').isChecked()).toBe(true)
    await page.close()
  })

  it('find words in a log of which a line comes every moment', async () => {
    // The clock is that of all pages of a profile.
    const other = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await dashboard.visit(other, '/app/login')
    const opened = Promise.withResolvers<WebSocketRoute>()
    await page.routeWebSocket('**/logs*', opened.resolve)
    await page.clock.install()
    await page.goto(`${dashboard.address}/app/logs`)
    const socket = await opened.promise
    await page.getByText('Live', { exact: true }).waitFor()
    await page.clock.pauseAt(Date.now() + 3_600_000)
    await page.getByLabel('Words').fill('nobody')
    await page.clock.runFor(300)
    socket.send(JSON.stringify({ time: new Date().toISOString(), level: 'info', msg: 'A line', tenant_id: null }))
    await page.getByText('A line', { exact: true }).waitFor()
    await page.clock.runFor(300)
    await page.waitForURL('**/logs?q=nobody')
    await other.close()
  })

  it('are asked for their login when the log is read no more for them', async () => {
    const other = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await dashboard.visit(other, '/app/logs')
    await page.getByText('Live', { exact: true }).waitFor()
    const left = await other.request.post(`${dashboard.address}/api/v1/admin/auth/logout`, {
      headers: { origin: dashboard.address },
    })
    expect(left.ok()).toBe(true)
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    await other.close()
  })

  it('follow the log while it is written', async () => {
    await ask('PUT', '/admin/prompts/brief', { text: 'Be brief.' })
    const { page } = await visit('/app/logs?q=prompts%2F%3Akey')
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByText('method=PUT').first().waitFor()
    expect(await page.getByText('method=DELETE').count()).toBe(0)
    await ask('DELETE', '/admin/prompts/brief')
    await page.getByText('method=DELETE').waitFor()
    await page.close()
  })

  it('keep nobody out, and take no text for anything else', async () => {
    const { page, faults } = await visit('/app/tenants')
    const found: Record<string, string[]> = {}
    const shown = HOSTILE.slice(0, 28)
    const pages: [path: string, text: string][] = [
      ['/app/tenants', shown],
      ['/app/t/acme/agents', shown],
      [agentPath(), shown],
      [`${agentPath()}/versions/${agent.versions[1]}`, 'Try it in text'],
      ['/app/t/acme/numbers', shown],
      ['/app/t/acme/settings', shown],
      ['/app/t/acme/people', shown],
      ['/app/prompts', shown],
      ['/app/access-requests', shown],
      ['/app/t/acme/deliveries', 'dnc.added'],
      ['/app/diagnostics', 'Voices'],
      ['/app/audit-log', 'prompt.'],
      ['/app/logs', 'Live'],
    ]
    for (const [path, text] of pages) {
      await page.setViewportSize({ width: WIDE.width, height: 900 })
      await page.goto(dashboard.address + path)
      await page.locator('main').getByText(text).filter({ visible: true }).first().waitFor()
      for (const { width, colorScheme } of IS_FULL ? LOOKS : [NARROW]) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 900 })
        faults.push(...(await faultsAsShown(page)))
      }
      const wrong = faults.splice(0)
      if (wrong.length > 0) found[path] = wrong
    }
    expect(found).toEqual({})
    expect(await page.locator('main img, main script').count()).toBe(0)
    await page.close()
  })
})
