import { gzipSync } from 'node:zlib'
import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../src/kernel/clock.ts'
import type { Db } from '../src/platform/db/schema.ts'
import { addCall } from '../src/records/analytics/analytics.fixture.ts'
import type { Look } from './harness/chromium.ts'
import { LOGIN, useDashboard } from './harness/dashboard.ts'
import { IS_FULL, LOOKS, NARROW, WIDE } from './harness/looks.ts'
import { faultsAsShown } from './harness/page-faults.ts'
import { makeTenant } from './harness/tenants.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const FIRST_LOAD_BYTES = 200 * 1_024

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const dashboard = useDashboard({ settings: { SIMULATOR: 'off' }, furnish: addCalls, tenant: 'acme' })
/** The hour in which Acme's calls were. */
let busyHour: Date
/** When the carrier refused a call of Globex. */
let refusedAt: Date

beforeAll(async () => {
  await dashboard.ask('POST', '/admin/analytics/sweep')
  const late = new Date(systemClock.now() - HOUR_MS).toISOString()
  await dashboard.ask('POST', '/callback-tasks', {
    customer_phone: '+12025550123',
    queue_key: 'billing',
    sla_due_at: late,
  })
  await dashboard.ask('POST', '/admin/tenants/acme/users', {
    email: 'vera@acme.example',
    role: 'viewer',
    password: LOGIN.password,
  })
})

/** Twelve calls of Acme, three of which nobody answered, in one hour, five by another agent; of Globex two two hours before, and one days ago that nobody answered. */
async function addCalls(db: Db): Promise<void> {
  const [acme, globex] = [await makeTenant(db, 'acme'), await makeTenant(db, 'globex')]
  const hourMs = Math.floor(systemClock.now() / HOUR_MS) * HOUR_MS
  busyHour = new Date(hourMs - 3 * HOUR_MS)
  for (let n = 0; n < 12; n += 1) {
    await addCall(db, acme, {
      at: new Date(busyHour.getTime() + n * 60_000),
      ...(n < 9 ? { talkSeconds: 120, timesMs: [500, 800], score: 0.75 } : { talkSeconds: null, status: 'no-answer' }),
      agentKey: n < 7 ? 'desk' : 'sales',
    })
  }
  for (let n = 0; n < 2; n += 1) await addCall(db, globex, { at: new Date(hourMs - 5 * HOUR_MS + n), talkSeconds: 600 })
  refusedAt = new Date(hourMs - 80 * HOUR_MS)
  const { id } = await addCall(db, globex, { at: refusedAt, talkSeconds: null, status: 'failed' })
  await addCall(db, globex, { at: refusedAt, agentKey: null })
  const unanswered = { at: new Date(hourMs - 130 * HOUR_MS), talkSeconds: null, status: 'no-answer' } as const
  await addCall(db, globex, unanswered)
  const fault = { error_code: 'carrier_rejected', error_message: 'No such number.' }
  await db
    .updateTable('call_logs')
    .set({ ...UNPLACED, ...fault })
    .where('id', '=', id)
    .execute()
}

const UNPLACED = { call_sid: null, voice_session_id: null, started_at: null }

const loggedIn = (look: Look, username?: string) => dashboard.loggedIn(look, username)
const visit = (context: BrowserContext, path: string) => dashboard.visit(context, `/app/${path}`)

/** What a page writes into its charts. */
const NOTE_WRITING = `{
  window.written = []
  const { prototype } = CanvasRenderingContext2D
  const { fillText } = prototype
  prototype.fillText = function (text, ...at) {
    window.written.push(text)
    return fillText.call(this, text, ...at)
  }
}`

const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
/** Of all that stands whole in the first chart, as red, green and blue, at once when this was done before. */
const coloursOf = (page: Page, before = '') =>
  page.evaluate<string[]>(`(() => {
    ${before}
    const canvas = document.querySelector('figure canvas')
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    const colours = new Set()
    for (let at = 0; at < data.length; at += 4)
      if (data[at + 3] === 255) colours.add(data.slice(at, at + 3).join())
    return [...colours]
  })()`)
const drawn = (page: Page) => page.locator('figure canvas').nth(4).waitFor()
const searchOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)

describe('the overview', () => {
  it('is where the address of a tenant leads that stops at its name', async () => {
    const context = await loggedIn(WIDE)
    for (const address of ['t/acme', 't/acme/']) {
      const { page } = await visit(context, address)
      await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
      expect(new URL(page.url()).pathname).toBe('/app/t/acme/overview')
    }
  })

  it('shows a person of a tenant what their calls came to, and leads from an hour and an agent to the calls', async () => {
    const context = await loggedIn(WIDE, 'vera@acme.example')
    const { page } = await visit(context, '')
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/app/t/acme/overview')
    const tiles = page.locator('dl').first()
    for (const text of ['Calls129 answered', 'Answer rate75%', 'Average score75%', 'Minutes18', 'Late tasks1'])
      await tiles.getByText(text).waitFor()
    await panel(page, 'Late tasks by queue').getByRole('link', { name: 'billing' }).waitFor()

    const calls = panel(page, 'Calls per hour')
    await calls.getByText('12 calls, 9 of them answered.').waitFor()
    await calls.getByText('As a table').click()
    const row = calls.getByRole('row').nth(1)
    await row.waitFor()
    expect(await row.getByRole('cell').allTextContents()).toEqual(['12', '9'])
    await row.getByRole('link').click()
    await page.getByText('12 in all').waitFor()
    expect(searchOf(page)).toEqual({
      since: busyHour.toISOString(),
      until: new Date(busyHour.getTime() + HOUR_MS).toISOString(),
    })
    await page.getByRole('button', { name: 'At any time' }).click()
    await page.getByText('Begun from').waitFor({ state: 'hidden' })
    // An address that was cut off takes nothing with it.
    await page.goto(`${dashboard.address}/app/t/acme/calls?since=2026-01-01T0`)
    await page.getByText('Begun from 2026-01-01T0').waitFor()
    await page.getByRole('alert').getByText('created_after').first().waitFor()
    await page.getByRole('button', { name: 'At any time' }).click()
    await page.getByText('12 in all').waitFor()

    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    await page.getByRole('link', { name: '5 calls of sales' }).waitFor()
    // What of the day is read again, as it stands for a while, may be answered now as well.
    const isOfMore = (url: URL) => Date.parse(url.searchParams.get('since') ?? '') < busyHour.getTime() - DAY_MS
    const sinceOf = async (part: string) => {
      const answer = await page.waitForResponse(
        (one) => one.url().includes(part) && one.url().includes('/analytics/calls') && isOfMore(new URL(one.url())),
      )
      return (await answer.json()).analytics.since
    }
    const told = Promise.all([sinceOf('interval=day'), sinceOf('group_by=agent')])
    await page.getByLabel('How far back').selectOption('30d')
    const [since, sinceOfAgents] = await told
    expect(sinceOfAgents).toBe(since)
    await page.getByRole('link', { name: '5 calls of sales' }).click()
    await page.getByText('5 in all').waitFor()
    expect(searchOf(page)).toMatchObject({ agent_key: 'sales' })
    await context.close()
  })

  it('leads to the calls of the agent in the document of a tenant, which has no key, and to no others', async () => {
    const context = await loggedIn(WIDE)
    const { page } = await visit(context, 't/globex/overview?range=30d')
    await page.getByRole('link', { name: "1 call of the tenant document's agent" }).click()
    await page.getByText('One in all').waitFor()
    await page.getByText("Of the agent in the tenant's document").waitFor()
    await page.getByRole('button', { name: 'Of any agent' }).click()
    await page.getByText('5 in all').waitFor()
    await context.close()
  })

  it('is there in a browser that does not know its zone, too', async () => {
    const context = await dashboard.loggedIn({ ...WIDE, timezoneId: 'UTC' })
    await context.addInitScript(`{
      const known = Intl.DateTimeFormat.prototype.resolvedOptions
      // As Chromium has it where TZ is set to nothing.
      Intl.DateTimeFormat.prototype.resolvedOptions = function () { return { ...known.call(this), timeZone: 'Etc/Unknown' } }
    }`)
    const { page } = await visit(context, 't/acme/overview')
    await page.getByText('12 calls, 9 of them answered.').waitFor()
    await context.close()
  })

  it.each(['C', 'en-US@posix'])('draws its charts in a browser whose language is %s, too', async (language) => {
    const context = await loggedIn(WIDE)
    await context.addInitScript(`Object.defineProperty(Navigator.prototype, 'language', { get: () => '${language}' })`)
    const { page, faults } = await visit(context, 't/acme/overview')
    await drawn(page)
    expect(faults).toEqual([])
    await context.close()
  })

  it('draws charts, says what is pointed at, and leads from it to its calls', async () => {
    const context = await loggedIn(WIDE)
    // The hours that the page shows: by now it may be one later.
    const read = context.waitForEvent('response', (response) => response.url().includes('interval=hour'))
    const { page } = await visit(context, 't/acme/overview')
    const { analytics } = (await (await read).json()) as { analytics: { since: string; until: string } }
    const [firstMs, lastMs] = [Date.parse(analytics.since), Date.parse(analytics.until)]
    await drawn(page)
    const plot = panel(page, 'Calls per hour').locator('.u-over')
    const { width, height } = (await plot.boundingBox()) ?? { width: 0, height: 0 }
    const share = (busyHour.getTime() + HOUR_MS / 2 - firstMs) / (lastMs - firstMs)
    const position = { x: width * share, y: height / 2 }
    await plot.hover({ position })
    await page.getByText(/All calls: 12 · Answered: 9$/).waitFor()
    await plot.click({ position })
    await page.getByText('12 in all').waitFor()
    expect(searchOf(page)['since']).toBe(busyHour.toISOString())
    await context.close()
  })

  it('shows an administrator all tenants by their names, and whose calls those of an hour were', async () => {
    await dashboard.ask('PUT', '/admin/tenants/acme', { tenant_id: 'acme', name: 'Acme Phones' })
    const context = await loggedIn(WIDE)
    const { page } = await visit(context, '')
    await page.getByRole('heading', { name: 'All tenants', exact: true }).waitFor()
    const tenants = panel(page, 'By tenant').getByRole('row')
    const minutes = async () => {
      const rows = (await tenants.all()).slice(1)
      return Promise.all(rows.map(async (row) => (await row.getByRole('cell').allTextContents()).slice(0, 3)))
    }
    await expect.poll(minutes).toEqual([
      ['globex', '2', '20'],
      ['Acme Phones', '12', '18'],
    ])
    await panel(page, 'Late tasks by queue').getByRole('link', { name: 'Acme Phones · billing' }).waitFor()
    await panel(page, 'Minutes per hour').getByText('As a table').click()
    await panel(page, 'Minutes per hour').getByRole('row').nth(1).getByRole('link').click()
    await tenants.nth(2).waitFor({ state: 'hidden' })
    expect(await minutes()).toEqual([['Acme Phones', '12', '18']])
    await page.getByRole('link', { name: '12 calls of Acme Phones' }).click()
    await page.getByText('12 in all').waitFor()
    await context.close()
  })

  it('tells in the table of a chart of a day on which nobody answered', async () => {
    const context = await loggedIn(WIDE)
    const { page } = await visit(context, 't/globex/overview?range=7d')
    await panel(page, 'Answer rate').getByText('As a table').click()
    await panel(page, 'Answer rate').getByRole('cell', { name: '0%', exact: true }).waitFor()
    await context.close()
  })

  it('writes beside the lines of a chart where they stand, of little as of much', async () => {
    const context = await loggedIn(WIDE)
    await context.addInitScript(NOTE_WRITING)
    const { page } = await visit(context, 't/acme/calls')
    await page.route('**/analytics/calls?*', async (route) => {
      const answer = (await (await route.fetch()).json()) as { analytics: { rows: { minutes: number }[] } }
      for (const row of answer.analytics.rows) row.minutes = Math.min(row.minutes, 0.4)
      await route.fulfill({ json: answer })
    })
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    await drawn(page)
    const written = () => page.evaluate<string[]>('written')
    await expect.poll(written).toContain('0.5')
    expect(await written()).not.toContain('0.3')
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })

  it('has room for the figures of each agent, at any width', async () => {
    const context = await loggedIn(WIDE)
    const { page } = await visit(context, 't/acme/calls')
    await page.route('**/api/v1/analytics/calls?*', async (route) => {
      const response = await route.fetch()
      const { analytics } = (await response.json()) as { analytics: { rows: object[] } }
      const much = { calls: 12_345, minutes: 23_456.7, cost_usd: 1_234.56, answer_rate: 0.912, avg_score: 0.79 }
      const rows = analytics.rows.map((row) => ({ ...row, ...much, response_p50_ms: 565, response_p95_ms: 1_500 }))
      await route.fulfill({ response, json: { ok: true, analytics: { ...analytics, rows } } })
    })
    await page.goto(`${dashboard.address}/app/t/acme/overview`)
    const figures = page.getByRole('group', { name: 'By agent' })
    await figures.getByText('12,345').first().waitFor()
    for (const width of [390, 768, 900, 1024, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      const beyondPx = await figures.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
      expect([width, beyondPx]).toEqual([width, 0])
    }
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })

  it('tells what calls cost to the last digit, at any width', async () => {
    const context = await loggedIn(WIDE)
    const { page } = await visit(context, 't/acme/calls')
    await page.route('**/api/v1/analytics/calls?*', async (route) => {
      const response = await route.fetch()
      const { analytics } = (await response.json()) as { analytics: { totals: object } }
      const totals = { ...analytics.totals, cost_usd: 1_234_567.89 }
      await route.fulfill({ response, json: { ok: true, analytics: { ...analytics, totals } } })
    })
    await page.goto(`${dashboard.address}/app/t/acme/overview`)
    const cost = page.getByText('$1,234,567.89')
    for (const width of [320, 390, 640, 768, 1024, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      const beyondPx = await cost.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
      expect([width, beyondPx]).toEqual([width, 0])
    }
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })

  it('is printed with its charts in the colours of paper, also out of the dark', async () => {
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'dark' })
    const { page } = await dashboard.visit(context, '/app/t/acme/overview')
    await drawn(page)
    // Of calls that were answered.
    const bars = (colour: string) => async () => (await coloursOf(page)).includes(colour)
    await expect.poll(bars('95,208,176')).toBe(true)
    // What is drawn later is not on the paper of every browser.
    const printed = await coloursOf(page, "dispatchEvent(new Event('beforeprint'))")
    expect(printed).toContain('11,107,87')
    expect(printed).not.toContain('95,208,176')
    expect(await coloursOf(page, "dispatchEvent(new Event('afterprint'))")).toContain('95,208,176')
    await context.close()
  })

  it('tells the bars of a chart apart where somebody has colours of their own', async () => {
    const context = await loggedIn(WIDE)
    const { page } = await visit(context, 't/acme/overview')
    await drawn(page)
    // Somebody may turn to them while they look at it: it is drawn by then.
    await page.emulateMedia({ forcedColors: 'active' })
    const [all, answered] = await page.evaluate<string[]>(`(() => {
      const keys = [...document.querySelector('figure + ul').querySelectorAll('li > span')]
      return keys.map((key) => getComputedStyle(key).borderTopColor.match(/\\d+/g).join())
    })()`)
    expect(answered).not.toBe(all)
    await expect.poll(async () => (await coloursOf(page)).includes(`${answered}`)).toBe(true)
    expect(await coloursOf(page)).toContain(all)
    await context.close()
  })

  it('shows which of its fields has the focus where somebody has colours of their own', async () => {
    const context = await loggedIn(WIDE)
    const { page } = await visit(context, 't/acme/calls')
    await page.emulateMedia({ forcedColors: 'active' })
    for (const field of ['Status', 'From']) {
      await page.getByLabel(field, { exact: true }).focus()
      const edge = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle')
      expect([field, edge]).toEqual([field, 'solid'])
    }
    await context.close()
  })

  it('asks for the last 24 hours of the service, also where the clock of the machine is wrong', async () => {
    const context = await loggedIn(WIDE)
    const aheadMs = 40 * 60 * 60_000
    await context.clock.install({ time: Date.now() + aheadMs })
    const asked = context.waitForEvent('request', (request) => request.url().includes('/analytics/calls'))
    const { page } = await visit(context, 't/acme/overview')
    const since = Date.parse(new URL((await asked).url()).searchParams.get('since') ?? '')
    const hours = Math.round((Date.now() - since) / (60 * 60_000))
    expect(hours).toBe(24)
    await page.locator('dl').first().getByText('Calls129 answered').waitFor()
    await context.close()
  })

  it('is printed with its charts whole, though paper is narrower than what they were drawn for', async () => {
    const context = await loggedIn(WIDE)
    const { page } = await visit(context, 't/acme/overview')
    await page.locator('figure canvas').first().waitFor()
    await page.emulateMedia({ media: 'print' })
    const widths = await page.evaluate(`(() => {
      const chart = document.querySelector('figure')
      // At once: on paper nothing is drawn anew.
      chart.style.width = '300px'
      return [chart, chart.querySelector('canvas')].map((one) => one.getBoundingClientRect().width)
    })()`)
    expect(widths).toEqual([300, 300])
    await context.close()
  })

  it("shows none of one tenant's figures as those of another", async () => {
    const context = await loggedIn(WIDE)
    const { page } = await visit(context, 't/acme/overview')
    await page.locator('dl').first().getByText('Calls129 answered').waitFor()
    await panel(page, 'Late tasks by queue').getByRole('link', { name: 'billing' }).waitFor()
    const held = Promise.withResolvers<void>()
    for (const asked of ['analytics/calls', 'operator-queues'])
      await page.route(`**/api/v1/${asked}?*`, async (route) => {
        await held.promise
        await route.continue()
      })
    await page.getByRole('button', { name: 'Tenant: ' }).click()
    await page.getByRole('option', { name: 'globex' }).click()
    await page.waitForURL('**/t/globex/overview')
    await page.locator('main > div > [aria-busy=true]').waitFor()
    expect(
      await page
        .locator('main')
        .getByText(/129 answered|billing/)
        .count(),
    ).toBe(0)
    held.resolve()
    await page.locator('dl').first().getByText('Calls22 answered').waitFor()
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })

  it('finds a call that was never placed by its day, and says why, whatever the width', async () => {
    const context = await loggedIn(WIDE)
    const { page } = await visit(context, 't/globex/calls?status=failed')
    const day = refusedAt.toISOString().slice(0, 10)
    await page.getByLabel('First day').fill(day)
    await page.getByLabel('Last day').fill(day)
    // As the page itself writes it.
    await page.getByLabel('From').fill('+1 202 555 0101')
    await page.waitForURL(/from=/)
    await page.getByText('One in all').waitFor()
    const why = page.getByText('carrier_rejected: No such number.').filter({ visible: true })
    const list = page.getByRole('group', { name: 'Calls', exact: true })
    for (const width of [390, 768, 1024, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      await why.waitFor()
      await list.getByText('Failed').filter({ visible: true }).waitFor()
      expect(await list.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
    }
    await context.close()
  })

  it('finds calls by a day that is typed digit by digit, and asks for no year that is half written', async () => {
    const context = await loggedIn(WIDE)
    const { page } = await visit(context, 't/globex/calls')
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    const [year, month, date] = refusedAt.toISOString().slice(0, 10).split('-')
    for (const name of ['First day', 'Last day']) {
      const day = page.getByLabel(name)
      await day.focus()
      // As somebody does who looks for each key.
      await page.keyboard.type(`${month}${date}${year}`, { delay: 600 })
      await expect.poll(() => day.inputValue()).toBe(`${year}-${month}-${date}`)
    }
    await page.getByText('2 in all').waitFor()
    expect(searchOf(page)).toEqual({ first_day: `${year}-${month}-${date}`, last_day: `${year}-${month}-${date}` })
    expect(asked.filter((url) => /created_\w+=(?!2)/.test(url))).toEqual([])
    await context.close()
  })

  it('asks for no more than 200 KB of compressed script, charts and all', async () => {
    const context = await loggedIn(WIDE)
    const page = await context.newPage()
    const sizes: Promise<number>[] = []
    page.on('response', (response) => {
      const isScript = response.request().resourceType() === 'script'
      if (isScript) sizes.push(response.body().then((body) => gzipSync(body).length))
    })
    await page.goto(`${dashboard.address}/app/`)
    await drawn(page)
    const bytes = (await Promise.all(sizes)).reduce((sum, each) => sum + each, 0)
    expect(bytes).toBeGreaterThan(50_000)
    expect(bytes).toBeLessThan(FIRST_LOAD_BYTES)
    await context.close()
  })

  it.each(IS_FULL ? LOOKS : [NARROW])(
    'has nothing that keeps somebody out at $width px in $colorScheme colours',
    async (look) => {
      const context = await loggedIn(look)
      const found: Record<string, string[]> = {}
      for (const path of [
        '',
        't/acme/overview?range=7d',
        't/acme/overview?range=30d',
        't/acme/calls?since=2026-01-01T00:00:00Z',
      ]) {
        const { page, faults } = await visit(context, path)
        await (path.includes('calls') ? page.getByText('Begun from').waitFor() : drawn(page))
        if (path.includes('7d')) await page.getByText('As a table').first().click()
        const wrong = [...(await faultsAsShown(page)), ...faults]
        if (wrong.length > 0) found[path] = wrong
        await page.close()
      }
      expect(found).toEqual({})
      await context.close()
    },
  )
})
