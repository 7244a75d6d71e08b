import type { Page } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { useDashboard } from './harness/dashboard.ts'
import { IS_FULL, LOOKS, NARROW, WIDE } from './harness/looks.ts'
import { makeTenant } from './harness/tenants.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const dashboard = useDashboard({
  settings: { SIMULATOR: 'off' },
  tenant: 'acme',
  furnish: async (db) => void (await makeTenant(db, 'acme')),
})

/** What a page asks for, of which one answer comes last; and what tells that it is drawn. */
type Loaded = { at: string; last: RegExp; others: RegExp[]; sign: string }

const PAGES: Record<string, Loaded> = {
  diagnostics: {
    at: 'diagnostics',
    last: /alerts\/auth-transport/,
    others: [/outboxes\/depth/, /cache-metrics$/, /tenants\/cached/, /by-token/, /audio-providers/],
    sign: 'Secrets that verify',
  },
  'the tenants in memory': {
    at: 'diagnostics',
    last: /tenants\/cached/,
    others: [/alerts\/auth-transport/, /outboxes\/depth/, /cache-metrics$/, /by-token/, /audio-providers/],
    sign: 'Voices',
  },
  'the desk': { at: 't/acme/desk', last: /\/operator-queues/, others: [/\/callback-tasks/], sign: 'Set up a queue' },
  'the overview': {
    at: 't/acme/overview',
    last: /analytics\/calls\?interval=hour/,
    others: [/operator-queues/],
    sign: 'No calls',
  },
  'the overview by agent': {
    at: 't/acme/overview',
    last: /analytics\/calls\?.*group_by=agent/,
    others: [/analytics\/calls\?interval=hour/, /operator-queues/],
    sign: 'No agent had calls',
  },
  'all tenants': {
    at: '',
    last: /admin\/analytics\/calls\?.*group_by=tenant/,
    others: [/admin\/analytics\/calls\?interval=hour/, /breaches/],
    sign: 'No tenant had calls',
  },
  'users and keys': { at: 't/acme/people', last: /\/users/, others: [/\/api-keys/], sign: 'New key' },
  'the navigation': { at: 'prompts', last: /admin\/tenants\?/, others: [/admin\/prompts/], sign: 'No prompts yet' },
}

/** Keeps in the page where each of its headings, fields and places is that can be seen. */
const KEEP = `
  window.kept = [...document.querySelectorAll('h1, h2, th, label, nav li')]
    .map((element) => ({ element, box: element.getBoundingClientRect() }))
    .filter(({ element, box }) => box.height > 0 && element.checkVisibility({ visibilityProperty: true }))
  window.kept.length
`
/** What of it is elsewhere now. */
const MOVED = `
  window.kept
    .filter(({ element, box }) => element.isConnected && Math.abs(element.getBoundingClientRect().y - box.y) > 1)
    .map(({ element, box }) => element.textContent + ': ' + box.y + ' → ' + element.getBoundingClientRect().y)
`
const DRAWN = 'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))'

/** Everything is answered but the last; then where things are is kept, and the last is answered. */
async function moved(page: Page, { at, last, others, sign }: Loaded): Promise<unknown> {
  const held = Promise.withResolvers<void>()
  await page.route(last, async (route) => {
    await held.promise
    await route.continue()
  })
  const answered = others.map((path) => page.waitForResponse(path).then((response) => response.finished()))
  const asked = page.waitForRequest(last)
  await page.goto(`${dashboard.address}/app/${at}`)
  await Promise.all([...answered, asked])
  await page.evaluate(DRAWN)
  expect(await page.evaluate(KEEP)).toBeGreaterThan(0)
  const whole = page.waitForResponse(last).then((response) => response.finished())
  held.resolve()
  await whole
  await page.getByText(sign).locator('visible=true').first().waitFor()
  await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0)
  await page.evaluate(DRAWN)
  return page.evaluate(MOVED)
}

describe.each(IS_FULL ? LOOKS : [WIDE])('what is seen while a page is read, at $width px', (look) => {
  it.each(Object.entries(PAGES))('stays where it is: %s', async (_name, loaded) => {
    const context = await dashboard.loggedIn(look)
    const { page } = await dashboard.visit(context, '/app/login')
    expect(await moved(page, loaded)).toEqual([])
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })
})

describe('what is seen of a task while its queue is read', () => {
  it('stays where it is, on a telephone too', async () => {
    const { task } = await dashboard.ask<{ task: { id: string } }>('POST', '/callback-tasks', {
      customer_phone: '+12025550123',
    })
    const context = await dashboard.loggedIn(NARROW)
    const { page } = await dashboard.visit(context, '/app/login')
    const read = {
      ...{ at: `t/acme/desk/tasks/${task.id}`, last: /\/operator-queues\/default/, sign: 'Claim next of' },
      others: [/\/callback-tasks\/[^/]+$/, /\/callback-tasks\/[^/]+\/history/],
    }
    expect(await moved(page, read)).toEqual([])
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })
})

describe('a page of which the service has another release by now', () => {
  it('says that it could not be loaded, and is there once it is loaded again', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const page = await context.newPage()
    const entry = '**/app/assets/index-*.js'
    await page.route(entry, (route) => route.fulfill({ status: 404 }))
    await page.goto(`${dashboard.address}/app/t/acme/do-not-call`)
    await page.getByRole('alert').getByText('The page could not be loaded.').waitFor()
    await page.unroute(entry)
    await page.getByRole('link', { name: 'Load it again' }).click()
    await page.getByRole('heading', { name: 'Do not call' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await context.close()
  })
})

/** As a browser that was busy tells of what comes into sight: together with how it was before. */
const TOLD_LATE = `
  const Observer = IntersectionObserver
  window.IntersectionObserver = class extends Observer {
    constructor(tell, options) {
      super((seen, observer) => tell([{ isIntersecting: false }, ...seen], observer), options)
    }
  }
`

describe('a list that is scrolled to its end', () => {
  it('asks for more of itself though the browser is busy', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const numbers = Array.from({ length: 160 }, (_, at) => `+1202${5_550_100 + at},asked`)
    const headers = { origin: dashboard.address, 'x-tenant-id': 'acme', 'content-type': 'text/csv' }
    const data = ['phone,reason', ...numbers].join('\n')
    const sent = await context.request.post(`${dashboard.address}/api/v1/dnc/import`, { headers, data })
    expect(sent.ok()).toBe(true)
    await context.addInitScript(TOLD_LATE)
    const { page } = await dashboard.visit(context, '/app/t/acme/do-not-call')
    await page.getByText(/^The first/).waitFor()
    const atEnd = async () => {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
      return page.getByText('160 in all').count()
    }
    await expect.poll(atEnd).toBe(1)
    await context.close()
  })
})
