import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { LOGIN, useDashboard } from './harness/dashboard.ts'
import { HOSTILE } from './harness/hostile.ts'
import { IS_FULL, LOOKS, NARROW } from './harness/looks.ts'
import { faultsAsShown } from './harness/page-faults.ts'
import { until } from './harness/wait.ts'

const FIRST_LOAD_BYTES = 200 * 1_024

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const dashboard = useDashboard()
let callSid: string

beforeAll(async () => {
  const document = { tenant_id: 'demo', name: 'Demo Company', compliance: { record_calls: true } }
  await dashboard.ask('PUT', '/admin/tenants/demo', document)
  callSid = await dashboard.call('What do you sell?')
})

async function logIn(page: Page, password = LOGIN.password, username = LOGIN.username): Promise<void> {
  await page.getByLabel('User name or e-mail').fill(username)
  await page.locator('input[type=password]').fill(password)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
}

type Box = { x: number; y: number; width: number; height: number }

function isOver(one: Box, other: Box): boolean {
  const isBeside = one.x >= other.x + other.width || other.x >= one.x + one.width
  return !isBeside && one.y < other.y + other.height && other.y < one.y + one.height
}

const callPath = () => `/app/t/demo/calls/${callSid}`

describe('the dashboard', () => {
  it('leads whoever logs in to where they were going, through the list to a call, and out again', async () => {
    const context = await dashboard.context({ width: 1280, colorScheme: 'light' })
    const { page, faults } = await dashboard.visit(context, '/app/t/demo/calls?direction=inbound')
    await logIn(page, 'not the password')
    await page.getByRole('alert').getByText('The user name or the password is wrong.').waitFor()
    await logIn(page)
    await page.getByRole('heading', { name: 'Calls' }).waitFor()
    expect(new URL(page.url()).search).toBe('?direction=inbound')
    // Beside it a busy machine has calls that it did not take.
    const row = page.getByRole('row').filter({ has: page.locator(`a[href="${callPath()}"]`) })
    await row.filter({ hasText: '+1 202 555 0147' }).getByText('Completed').filter({ visible: true }).waitFor()

    await page.getByLabel('Status', { exact: true }).selectOption('failed')
    await page.getByText('No call is like that').waitFor()
    // To whoever does not see that it is read out.
    await page.getByRole('status').getByText('None', { exact: true }).waitFor({ state: 'attached' })
    expect(new URL(page.url()).searchParams.get('status')).toBe('failed')
    await page.getByLabel('Status', { exact: true }).selectOption('')
    await row.getByRole('link').click()

    await page.getByRole('heading', { name: 'Conversation' }).waitFor()
    expect(new URL(page.url()).pathname).toBe(callPath())
    await page.getByText('What do you sell?', { exact: true }).waitFor()
    await page.getByText(/this is Robin at the Demo Company/).waitFor()
    faults.length = 0
    await page.getByRole('button', { name: 'Load the recording' }).click()
    await page.getByRole('link', { name: 'Download' }).waitFor()
    // It is drawn by a style sheet of its own, which the policy of the page has to let in.
    await page.locator('canvas').first().waitFor()
    expect(faults).toEqual([])

    await page.getByRole('button', { name: 'Logged in as ada' }).click()
    const away = { status: 503, json: { error: 'The database is away.', code: 'unavailable' } }
    await page.route('**/auth/logout', (route) => route.fulfill(away), { times: 1 })
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    const failed = page.getByText('You are still logged in.')
    await failed.waitFor()
    // Where there is nothing to ask about, the focus stays with the menu, which goes as any other.
    await page.keyboard.press('Escape')
    await failed.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Logged in as ada' }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    await context.close()
  })

  it('shows a text as it is, whatever it would do as HTML', async () => {
    const context = await dashboard.context({ width: 1280, colorScheme: 'light' })
    const { page, faults } = await dashboard.visit(context, '/app/login')
    await logIn(page)
    await page.getByRole('heading', { name: 'All tenants', exact: true }).waitFor()
    for (const part of ['call-logs', 'voice-sessions', 'tenants'])
      await page.route(`**/api/v1/**/${part}**`, async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, json: hostile(await response.json()) })
      })
    for (const path of ['/app/t/demo/calls', callPath()]) {
      await page.goto(dashboard.address + path)
      await page.getByText(HOSTILE.slice(0, 28)).first().waitFor()
    }
    expect(await page.locator('main img, main script, main svg[onload], main style').count()).toBe(0)
    expect(faults).toEqual([])
    // What the page still asks for is answered first: an answer for a page that is gone fails in nobody's hands.
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })

  it('says once what a call came to, which its score says as well', async () => {
    const log = () => dashboard.ask<{ call_log: { summary: string | null } }>('GET', `/call-logs/${callSid}`)
    const summary = await until(async () => (await log()).call_log.summary, { what: 'a summary', timeoutMs: 60_000 })
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await dashboard.visit(context, callPath())
    await page.getByRole('region', { name: 'Score' }).getByText('Helpfulness').waitFor()
    expect(await page.getByText(summary, { exact: true }).count()).toBe(1)
    await context.close()
  })

  it('is printed as it is read, on white, without what leads elsewhere', async () => {
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'dark' })
    const { page } = await dashboard.visit(context, callPath())
    const navigation = page.getByRole('navigation')
    await navigation.first().waitFor()
    await page.emulateMedia({ media: 'print' })
    await navigation.first().waitFor({ state: 'hidden' })
    await page.locator('main').getByText('What do you sell?').waitFor()
    const ink = await page.evaluate('getComputedStyle(document.body).color')
    expect(ink).toBe('rgb(28, 36, 32)')
    await page.goto(`${dashboard.address}/app/t/demo/desk`)
    await page.locator('main').getByLabel('Claimed by').waitFor()
    const ground = await page.evaluate("getComputedStyle(document.querySelector('main input')).backgroundColor")
    expect(ground).toBe('rgb(255, 255, 255)')
    await context.close()
  })

  it('shows whoever logs in after a session that is over nothing that was read in it', async () => {
    const user = { email: 'vera@demo.example', role: 'viewer', password: LOGIN.password }
    await dashboard.ask('POST', '/admin/tenants/demo/users', user)
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await dashboard.visit(context, '/app/tenants')
    const row = page.getByRole('row').filter({ hasText: 'Demo Company' })
    await row.waitFor()
    await page.clock.install()
    await page.clock.fastForward(10_000)
    await context.clearCookies()
    await page.evaluate("dispatchEvent(new Event('visibilitychange'))")
    await logIn(page, LOGIN.password, user.email)
    await page.getByRole('button', { name: `Logged in as ${user.email}` }).waitFor()
    await page.getByRole('heading', { name: 'This page is not for your role' }).waitFor()
    expect(await row.count()).toBe(0)
    await context.close()
  })

  it('asks nothing for whoever has the address of a page that is not for their role, and says whose it is', async () => {
    const user = { email: 'otto@demo.example', role: 'operator', password: LOGIN.password }
    await dashboard.ask('POST', '/admin/tenants/demo/users', user)
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' }, user.email)
    for (const [path, whose] of [
      ['t/demo/talk', 'administrators'],
      ['t/demo/desk/sweeps', 'whoever administers the installation'],
      ['tenants', 'whoever administers the installation'],
      ['diagnostics', 'whoever administers the installation'],
      ['live', 'whoever administers the installation'],
      ['supervisor-actions', 'whoever administers the installation'],
    ] as const) {
      const { page, faults } = await dashboard.visit(context, `/app/${path}`)
      await page.getByText(`It is for ${whose}`, { exact: true }).waitFor()
      expect(await page.locator('main button').count()).toBe(0)
      expect(faults).toEqual([])
      await page.close()
    }
    const { page } = await dashboard.visit(context, '/app/t/demo/settings')
    await page.getByText('Administrators can change this').waitFor()
    await page.getByRole('link', { name: 'Desk' }).click()
    await page.getByRole('heading', { name: 'Desk' }).waitFor()
    await context.close()
  })

  it('calls the tenant of whoever is of one as it is called, as it does for an administrator', async () => {
    const user = { email: 'nina@demo.example', role: 'viewer', password: LOGIN.password }
    await dashboard.ask('POST', '/admin/tenants/demo/users', user)
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' }, user.email)
    const { page, faults } = await dashboard.visit(context, '/app/t/demo/calls')
    await page.getByRole('banner').getByText('Demo Company', { exact: true }).waitFor({ timeout: 20_000 })
    expect(faults).toEqual([])
    await context.close()
  })

  it('has the name of the tenant beside its buttons or beneath them, however large letters are in a narrow window', async () => {
    const context = await dashboard.loggedIn({ ...NARROW, width: 360 })
    const { page } = await dashboard.visit(context, callPath())
    const tenant = page.getByRole('banner').getByRole('button', { name: 'Tenant: Demo Company' })
    await tenant.waitFor()
    const buttons = page.getByRole('banner').locator('button, a').filter({ visible: true })
    for (const percent of [100, 200]) {
      await page.evaluate(`document.documentElement.style.fontSize = '${percent}%'`)
      const boxes = await Promise.all((await buttons.all()).map((button) => button.boundingBox()))
      const own = await tenant.boundingBox()
      const beneath = boxes.filter((box) => box && own && isOver(box, own))
      expect([percent, boxes.length > 3, beneath]).toEqual([percent, true, [own]])
    }
    await context.close()
  })

  it('follows a call that nobody has answered yet until it is scored', async () => {
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const { page } = await dashboard.visit(context, '/app/login')
    await page.clock.install()
    let known: 'rings' | 'is answered' | 'is over' | 'is scored' = 'rings'
    await page.route(`**/api/v1/call-logs/${callSid}`, async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as { call_log: object }
      const ringing = { status: 'ringing', ended_at: null, stream_sid: null, voice_session_id: null }
      const answered = { status: 'in-progress', ended_at: null, stream_sid: null }
      const over = { ended_at: new Date().toISOString(), summary: null }
      const states = { rings: ringing, 'is answered': answered, 'is over': over, 'is scored': {} }
      await route.fulfill({ response, json: { ...answer, call_log: { ...answer.call_log, ...states[known] } } })
    })
    await page.route('**/api/v1/voice-sessions/*', async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as { voice_session: object }
      const qa = { score: 0.75, high_quality: false, summary: 'It went well.', criteria: [] }
      const scored = known === 'is scored' ? { qa, qa_status: 'scored' } : { qa: null, qa_status: 'pending' }
      const silent = known === 'is answered' && { transcript: [] }
      const voice_session = { ...answer.voice_session, ...scored, ...silent }
      await route.fulfill({ response, json: { ...answer, voice_session } })
    })
    await page.goto(dashboard.address + callPath())
    await page.getByText('Ringing').waitFor()
    known = 'is answered'
    await page.clock.fastForward(2_000)
    await page.getByText('Nothing was said yet').waitFor()
    known = 'is over'
    await page.clock.fastForward(2_000)
    await page.getByText('What do you sell?', { exact: true }).waitFor()
    expect(await page.getByText('It went well.').count()).toBe(0)
    known = 'is scored'
    await page.clock.fastForward(5_000)
    await page.getByText('It went well.').waitFor()
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })

  it('says when a page cannot be loaded, and loads it when it is asked again', async () => {
    const context = await dashboard.context({ width: 1280, colorScheme: 'light' })
    const { page } = await dashboard.visit(context, '/app/t/demo/calls')
    await logIn(page)
    await page.getByRole('row').nth(1).waitFor()
    await page.route('**/app/assets/*.css', (route) => route.abort())
    await page.getByRole('link', { name: 'Talk', exact: true }).click()
    await page.getByRole('alert').getByText('This page could not be loaded.').waitFor()
    await page.unrouteAll({ behavior: 'wait' })
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'Talk', exact: true }).waitFor()
    await context.close()
  })

  it('asks for no more than 200 KB of compressed script before it shows a list', async () => {
    const context = await dashboard.context({ width: 1280, colorScheme: 'light' })
    const page = await context.newPage()
    const sizes: Promise<number>[] = []
    page.on('response', (response) => {
      const isScript = response.request().resourceType() === 'script'
      if (isScript) sizes.push(response.body().then((body) => gzipSync(body).length))
    })
    await page.goto(`${dashboard.address}/app/t/demo/calls`)
    await logIn(page)
    await page.getByRole('row').nth(1).waitFor()
    const bytes = (await Promise.all(sizes)).reduce((sum, each) => sum + each, 0)
    expect(bytes).toBeGreaterThan(50_000)
    expect(bytes).toBeLessThan(FIRST_LOAD_BYTES)
    await context.close()
  })

  it.each(IS_FULL ? LOOKS : [NARROW])(
    'has nothing that keeps somebody out at $width px in $colorScheme colours',
    async (look) => {
      const context = await dashboard.context(look)
      const { page, faults } = await dashboard.visit(context, '/app/t/demo/calls')
      const found: Record<string, string[]> = {}
      const examine = async (name: string) => {
        const wrong = [...faults.splice(0), ...(await faultsAsShown(page))]
        if (wrong.length > 0) found[name] = wrong
      }
      await page.getByRole('heading', { name: 'Log in' }).waitFor()
      await examine('login')
      await logIn(page)
      await page.getByRole('row').nth(1).waitFor()
      await examine('calls')
      if (look.width < 800) {
        await page.getByRole('button', { name: 'Pages' }).click()
        await page.getByRole('dialog').getByRole('link', { name: 'Calls', exact: true }).click()
        await page.getByRole('dialog').waitFor({ state: 'hidden' })
      }
      await page.goto(dashboard.address + callPath())
      await page.getByRole('heading', { name: 'Conversation' }).waitFor()
      await examine('call')
      expect(found).toEqual({})
      await context.close()
    },
  )
})

/** The same with every free text made hostile; what the page is steered by stays. */
function hostile(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hostile)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, member]) => [
    name,
    FREE.has(name) ? `${HOSTILE}\u0000` : hostile(member),
  ])
  return Object.fromEntries(entries)
}

const FREE = new Set(
  [
    'summary',
    'agent_name',
    'from',
    'to',
    'text',
    'unheard',
    'error_code',
    'error_message',
    'outcome',
    'name',
    'result',
  ].concat(['arguments', 'metadata', 'escalation_target', 'answered_by', 'model', 'voice', 'end_reason']),
)
