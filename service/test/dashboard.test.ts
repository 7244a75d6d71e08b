import { rm } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Look, startChromium, type TestChromium } from './harness/chromium.ts'
import { HOSTILE } from './harness/hostile.ts'
import { faultsAsShown } from './harness/page-faults.ts'
import { killPrograms, startProgram } from './harness/program.ts'
import { rehearsedCall } from './harness/rehearsed-call.ts'
import { scratchFolder } from './harness/scratch.ts'

const ADMIN_API_KEY = 'ak_key_of_the_dashboard_tests'
const PASSWORD = 'a password of the dashboard tests'
const LOOKS: Look[] = [
  { width: 1280, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
]
const FIRST_LOAD_BYTES = 200 * 1_024
/** A browser without a graphics card, on a machine that does something else. */
const WAIT_MS = 15_000
/** A machine that is busy takes no call, and says so. */
const CALL_TRIES = 10

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let folder: string
let address: string
let chromium: TestChromium
let callSid: string

beforeAll(async () => {
  folder = await scratchFolder()
  const settings = {
    ...{ DATA_DIR: folder, SIMULATOR: 'on', ADMIN_API_KEY, ADMIN_USERNAME: 'ada', ADMIN_PASSWORD: PASSWORD },
    RATE_LIMIT_IP_PER_MINUTE: '1000000',
  }
  const program = startProgram(settings)
  address = await program.listening().catch(() => program.listening())
  const document = { tenant_id: 'demo', name: 'Demo Company', compliance: { record_calls: true } }
  await administer('PUT', '/tenants/demo', document)
  // Not beside the call, which a busy machine would not take.
  let rung = await rehearsedCall(settings, ['--say', 'What do you sell?'])
  for (let tries = 1; rung.stderr.includes('overloaded') && tries < CALL_TRIES; tries++) {
    rung = await rehearsedCall(settings, ['--say', 'What do you sell?'])
  }
  if (rung.code !== 0) throw new Error(`the call failed: ${rung.stderr} ${program.stdout()}`)
  chromium = await startChromium()
  callSid = /CA\w+/.exec(rung.stdout)?.[0] ?? ''
})
afterAll(async () => {
  await chromium?.close()
  await killPrograms()
  await rm(folder, { recursive: true })
})

async function administer(method: string, path: string, body: unknown): Promise<void> {
  const headers = { 'x-admin-key': ADMIN_API_KEY, 'content-type': 'application/json' }
  const response = await fetch(`${address}/api/v1/admin${path}`, { method, headers, body: JSON.stringify(body) })
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
}

/** A page, with everything that a browser has to complain of from now on. */
async function visit(context: BrowserContext): Promise<{ page: Page; faults: string[] }> {
  context.setDefaultTimeout(WAIT_MS)
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`))
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const isOurs = request.url().startsWith(address) || request.url().startsWith('blob:')
    if (!isOurs) faults.push(`to elsewhere: ${request.url()}`)
  })
  return { page, faults }
}

async function logIn(page: Page, password = PASSWORD): Promise<void> {
  await page.getByLabel('User name or e-mail').fill('ada')
  await page.locator('input[type=password]').fill(password)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
}

const callPath = () => `/app/t/demo/calls/${callSid}`

describe('the dashboard', () => {
  it('leads whoever logs in to where they were going, through the list to a call, and out again', async () => {
    const context = await chromium.context({ width: 1280, colorScheme: 'light' })
    const { page, faults } = await visit(context)
    await page.goto(`${address}/app/t/demo/calls?direction=inbound`)
    await logIn(page, 'not the password')
    await page.getByRole('alert').getByText('The user name or the password is wrong.').waitFor()
    await logIn(page)
    await page.getByRole('heading', { name: 'Calls' }).waitFor()
    expect(new URL(page.url()).search).toBe('?direction=inbound')
    const row = page.getByRole('row').filter({ hasText: '+1 202 555 0147' })
    await row.getByText('Completed').waitFor()

    await page.getByLabel('Status', { exact: true }).selectOption('failed')
    await page.getByText('No call is like that').waitFor()
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
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    await context.close()
  })

  it('shows a text as it is, whatever it would do as HTML', async () => {
    const context = await chromium.context({ width: 1280, colorScheme: 'light' })
    const { page, faults } = await visit(context)
    await page.goto(`${address}/app/login`)
    await logIn(page)
    await page.getByRole('heading', { name: 'All tenants', exact: true }).waitFor()
    for (const part of ['call-logs', 'voice-sessions', 'tenants'])
      await page.route(`**/api/v1/**/${part}**`, async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, json: hostile(await response.json()) })
      })
    for (const path of ['/app/t/demo/calls', callPath()]) {
      await page.goto(address + path)
      await page.getByText(HOSTILE.slice(0, 28)).first().waitFor()
    }
    expect(await page.locator('main img, main script, main svg[onload], main style').count()).toBe(0)
    expect(faults).toEqual([])
    // What the page still asks for is answered first: an answer for a page that is gone fails in nobody's hands.
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })

  it('asks for no more than 200 KB of compressed script before it shows a list', async () => {
    const context = await chromium.context({ width: 1280, colorScheme: 'light' })
    const { page } = await visit(context)
    const sizes: Promise<number>[] = []
    page.on('response', (response) => {
      const isScript = response.request().resourceType() === 'script'
      if (isScript) sizes.push(response.body().then((body) => gzipSync(body).length))
    })
    await page.goto(`${address}/app/t/demo/calls`)
    await logIn(page)
    await page.getByRole('row').nth(1).waitFor()
    const bytes = (await Promise.all(sizes)).reduce((sum, each) => sum + each, 0)
    expect(bytes).toBeGreaterThan(50_000)
    expect(bytes).toBeLessThan(FIRST_LOAD_BYTES)
    await context.close()
  })

  it.each(LOOKS)('has nothing that keeps somebody out at $width px in $colorScheme colours', async (look) => {
    const context = await chromium.context(look)
    const { page, faults } = await visit(context)
    const found: Record<string, string[]> = {}
    const examine = async (name: string) => {
      const wrong = [...faults.splice(0), ...(await faultsAsShown(page))]
      if (wrong.length > 0) found[name] = wrong
    }
    await page.goto(`${address}/app/t/demo/calls`)
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
    await page.goto(address + callPath())
    await page.getByRole('heading', { name: 'Conversation' }).waitFor()
    await examine('call')
    expect(found).toEqual({})
    await context.close()
  })
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
