import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { useDashboard } from './harness/dashboard.ts'
import { HOSTILE } from './harness/hostile.ts'
import { IS_FULL, LOOKS, WIDE } from './harness/looks.ts'
import { faultsAsShown } from './harness/page-faults.ts'
import { until } from './harness/wait.ts'
import { watchedPage } from './harness/watched-page.ts'

const ROUTES = join(import.meta.dirname, '..', '..', 'dashboard', 'src', 'routes')
const WAIT_MS = 30_000

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 })

const dashboard = useDashboard()
let pages: Record<string, Shown>

/** A page: where it is, what tells that it is drawn, which buttons of it open forms, and which send what stands in the page. */
type Shown = { at: string; sign: string; forms?: string[]; sends?: string[] }

/** Shown beside a call that goes on, where `dashboard-live.test.ts` looks at it and writes into its forms. */
const LIVE_CALL = 'live/$streamSid'

beforeAll(async () => {
  pages = pagesOf(await fill())
})

type Made = { agents: { id: string }[]; version: { id: string }; task: { id: string }; campaign: { id: string } }

const ask = (method: string, path: string, body?: unknown) => dashboard.ask<Made>(method, path, body)

/** Ids of one of each thing that has a page. */
type Ids = { agent: string; draft: string; task: string; campaign: string }

async function fill(): Promise<Ids> {
  const { agents } = await ask('GET', '/admin/tenants/demo/agents')
  const agent = agents[0]?.id ?? ''
  const config = { greeting: 'Hello.' }
  const draft = (await ask('POST', '/admin/tenants/demo/agent-versions', { agent_id: agent, config })).version.id
  const task = (await ask('POST', '/callback-tasks', { customer_phone: '+12025550123', summary: HOSTILE })).task.id
  const contacts = [{ phone: '+12025550123', metadata: { name: HOSTILE, consent: true } }]
  const campaign = (await ask('POST', '/campaigns', { name: 'Spring', agent_key: 'front-desk', contacts })).campaign.id
  await ask('PUT', '/admin/prompts/polite', { text: HOSTILE, description: HOSTILE })
  await ask('POST', '/admin/tenants/demo/users', { email: 'grace@example.com', name: HOSTILE, role: 'viewer' })
  return { agent, draft, task, campaign }
}

function pagesOf({ agent, draft, task, campaign }: Ids): Record<string, Shown> {
  const of = (path: string) => `t/demo/${path}`
  return {
    '/login': { at: 'login', sign: 'Log in' },
    '/invitation': { at: 'invitation#token=nobodys', sign: 'Welcome to Parley' },
    '/': { at: '', sign: 'All tenants' },
    '/t/$tenantId': { at: of(''), sign: 'What calls came to' },
    overview: { at: of('overview'), sign: 'What calls came to' },
    calls: { at: of('calls'), sign: 'Every call that came in', forms: ['Place a call'] },
    'calls/$callSid': { at: of('calls/CAnone'), sign: 'not_found' },
    conversations: { at: of('conversations'), sign: 'Find the calls in which' },
    talk: { at: of('talk'), sign: 'Your call' },
    live: { at: of('live'), sign: 'No call is going on' },
    desk: { at: of('desk'), sign: 'Claim next of default', forms: ['Set up a queue', 'New task'] },
    'desk/tasks/$taskId': {
      ...{
        at: of(`desk/tasks/${task}`),
        sign: 'Call back now',
        forms: ['Edit', 'Assign', 'Complete', 'Reopen', 'Snooze'],
      },
    },
    'desk/queues/$queueKey': { at: of('desk/queues/default'), sign: 'Add hours', sends: ['Save'] },
    'desk/sweeps': { at: of('desk/sweeps'), sign: 'Show what would be dispatched' },
    'do-not-call': { at: of('do-not-call'), sign: 'Export', forms: ['Add a number'], sends: ['Ask'] },
    campaigns: { at: of('campaigns'), sign: 'Spring', forms: ['New campaign'] },
    'campaigns/$campaignId': { at: of(`campaigns/${campaign}`), sign: '0 of 1 done' },
    agents: { at: of('agents'), sign: 'Front desk', forms: ['New agent'] },
    'agents/$agentId': {
      at: of(`agents/${agent}`),
      sign: 'Compare versions',
      forms: ['Change the agent'],
      sends: ['Save the policy'],
    },
    'agents/$agentId/versions/$versionId': {
      ...{ at: of(`agents/${agent}/versions/${draft}`), sign: 'Try it in text', sends: ['Save the draft'] },
    },
    '/tenants': { at: 'tenants', sign: 'Demo Company', forms: ['New tenant'] },
    '/prompts': { at: 'prompts', sign: 'polite', forms: ['New prompt', 'Change'] },
    '/access-requests': { at: 'access-requests', sign: 'Access requests' },
    '/diagnostics': { at: 'diagnostics', sign: 'Voices' },
    '/audit-log': { at: 'audit-log', sign: 'prompt.' },
    '/supervisor-actions': { at: 'supervisor-actions', sign: 'Nobody has stepped in yet' },
    '/live': { at: 'live', sign: 'No call is going on' },
    '/logs': { at: 'logs', sign: 'Live' },
    numbers: { at: of('numbers'), sign: '+1 202 555 0100', forms: ['Add a number', 'Change'] },
    settings: { at: of('settings'), sign: 'Everything, as JSON', sends: ['Save the settings'] },
    people: { at: of('people'), sign: 'grace@example.com', forms: ['Invite somebody', 'Change', 'New key'] },
    deliveries: { at: of('deliveries'), sign: 'Deliveries' },
  }
}

/** The paths of all routes, as their files have them; that of what is shown where a tenant's address ends is `/`, as the first page's. */
async function routePaths(): Promise<string[]> {
  const names = (await readdir(ROUTES)).filter((name) => /routes\.tsx?$/.test(name))
  const texts = await Promise.all(names.map((name) => readFile(join(ROUTES, name), 'utf8')))
  const paths = texts.flatMap((text) => [...text.matchAll(/path: '([^']+)'/g)].map(([, path = '']) => path))
  return [...new Set(paths)]
}

/** Until all of it is there. With what is wrong, if it is not drawn. */
async function open(page: Page, { at, sign }: Shown): Promise<string[]> {
  await page.goto(`${dashboard.address}/app/${at}`)
  const drawn = page.getByText(sign).locator('visible=true').first().waitFor()
  return drawn.then(
    () => filled(page).then(() => []),
    () => [`“${sign}” is not to be seen`],
  )
}

/** What was asked for stands in its place. */
async function filled(page: Page): Promise<void> {
  const isFilled = async () => (await page.locator('[aria-busy=true]').count()) === 0
  await until(isFilled, { what: 'the answer to be drawn', timeoutMs: WAIT_MS, everyMs: 20 })
}

/** That something is not there, or is refused, a browser tells of as well: here it is meant. */
function unmeant(faults: string[]): string[] {
  return faults.filter((fault) => !/status of 4\d\d/.test(fault))
}

describe('every page of the dashboard', () => {
  it('stands in the table that is gone through here', async () => {
    const known = [...Object.keys(pages), LIVE_CALL]
    expect(known.toSorted()).toEqual((await routePaths()).toSorted())
  })

  it.each(IS_FULL ? LOOKS : [WIDE])(
    'breaks no rule of accessibility at $width px in $colorScheme colours',
    async (look) => {
      const context = await dashboard.loggedIn(look)
      const { page, faults } = await watchedPage(context, dashboard.address)
      const found: Record<string, string[]> = {}
      for (const [path, shown] of Object.entries(pages)) {
        const wrong = [...(await open(page, shown)), ...(await faultsAsShown(page)), ...unmeant(faults.splice(0))]
        if (wrong.length > 0) found[path] = wrong
      }
      expect(found).toEqual({})
      await context.close()
    },
  )

  it('takes in each of its fields a text for a text, whatever that would do as anything else', async () => {
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page, faults } = await watchedPage(context, dashboard.address)
    const found: Record<string, string[]> = {}
    let written = 0
    for (const [path, shown] of Object.entries(pages)) {
      const wrong = await open(page, shown)
      for (const form of shown.forms ?? []) {
        written += await writeIntoForm(page, form).catch((error: Error) => {
          wrong.push(`${form}: ${error.message}`)
          return 0
        })
      }
      await openTenantSearch(page)
      written += await writeEverywhere(page.locator('body'))
      for (const name of shown.sends ?? []) {
        const button = page.getByRole('button', { name, exact: true }).first()
        if (await button.isEnabled()) await button.click()
      }
      await answered(page)
      wrong.push(...unmeant(faults.splice(0)))
      if ((await harm(page)) > 0) wrong.push('a text became HTML')
      if (wrong.length > 0) found[path] = wrong
    }
    expect(found).toEqual({})
    expect(written).toBeGreaterThan(80)
    await context.close()
  })
})

const FIELDS = ['text', 'search', 'email', 'tel', 'url', 'password'].map((type) => `input[type=${type}]`)
const HARM = 'img[src="x"], svg[onload], body script:not([src]), body style:not([data-mantine-styles])'

const harm = (page: Page) => page.locator(HARM).count()

/** Writes into every field that can be written into, and says how many they were. */
async function writeEverywhere(scope: Locator): Promise<number> {
  const fields = scope.locator(['textarea', ...FIELDS, 'input:not([type])'].join(', ')).and(scope.locator(':visible'))
  let written = 0
  for (const field of await fields.all()) {
    if (!(await field.isEditable()) || (await field.isDisabled())) continue
    await field.fill(HOSTILE)
    written += 1
  }
  return written
}

/** Each page but the login has one more field once it is opened. */
async function openTenantSearch(page: Page): Promise<void> {
  const closed = page.getByRole('banner').getByRole('button', { name: /^Tenant/ })
  if ((await closed.count()) === 0) return
  await closed.click()
  await page.getByRole('combobox', { name: 'Tenant' }).waitFor()
}

/** Opens a form, fills it in, sends it, and waits until it is taken, refused, or kept by the browser. */
async function writeIntoForm(page: Page, name: string): Promise<number> {
  await page.getByRole('button', { name, exact: true }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('button[type=submit]').waitFor()
  const written = await writeEverywhere(dialog)
  await dialog.locator('button[type=submit]').click()
  const isAnswered = async () =>
    !(await dialog.isVisible()) ||
    (await dialog.getByRole('alert').count()) > 0 ||
    (await dialog.locator(':invalid, [aria-invalid=true]').count()) > 0
  await until(isAnswered, { what: `${name} to be answered`, timeoutMs: WAIT_MS, everyMs: 20 })
  if (await dialog.isVisible()) await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'hidden' })
  return written
}

/** Filters stand in the address when whoever writes them pauses; then what they lead to is waited for. */
async function answered(page: Page): Promise<void> {
  const filters = page.getByRole('search').locator('input:not([type=date])')
  if ((await filters.count()) > 0) {
    await until(() => page.url().includes('alert'), { what: 'the filters to be taken', timeoutMs: WAIT_MS })
  }
  await filled(page)
}
