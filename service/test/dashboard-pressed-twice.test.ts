import type { BrowserContext, Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { useDashboard } from './harness/dashboard.ts'
import { WIDE } from './harness/looks.ts'

const ANN = '+12025550155'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const dashboard = useDashboard({ settings: { SIMULATOR: 'off', SWEEP_INTERVAL_SECONDS: '0' }, tenant: 'acme' })

type Asked = { task: { id: string }; tasks: object[] }

const ask = (method: string, path: string, body?: unknown) => dashboard.ask<Asked>(method, path, body)

beforeAll(() => ask('PUT', '/admin/tenants/acme', { tenant_id: 'acme', name: 'Acme' }))

async function visit(path: string): Promise<{ context: BrowserContext; page: Page }> {
  const context = await dashboard.loggedIn(WIDE)
  const { page } = await dashboard.visit(context, `/app/${path}`)
  return { context, page }
}

/** A window, once it has begun in its first field. */
async function opened(page: Page, button: string): Promise<Locator> {
  await page.getByRole('button', { name: button, exact: true, disabled: false }).click()
  const form = page.getByRole('dialog', { name: button })
  await form.locator('*:focus').waitFor()
  return form
}

describe('a double click', () => {
  const claimed = async (queue: string) =>
    (await ask('GET', `/callback-tasks?queue_key=${queue}&status=claimed`)).tasks.length
  const claimNext = (page: Page) => page.getByRole('button', { name: /^Claim next/ })
  const claiming = async (queue: string) => {
    for (const minute of [1, 2, 3])
      await ask('POST', '/callback-tasks', { customer_phone: `+1202555018${minute}`, queue_key: queue })
    const { context, page } = await visit(`t/acme/desk?queue_key=${queue}`)
    await claimNext(page).hover()
    return { context, page }
  }
  const press = async (page: Page, clickCount: number) => {
    await page.mouse.down({ clickCount })
    await page.mouse.up({ clickCount })
  }
  /** What a click has begun is sent before what this asks for. */
  const readAgain = async (page: Page) => {
    await page.reload()
    await page.getByRole('button', { name: 'Release', exact: true }).waitFor()
  }

  it('claims one task where both come at once', async () => {
    const { context, page } = await claiming('doubly')
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.evaluate("for (const _ of 'ab') [...document.querySelectorAll('[data-key=n] button')][0].click()")
    await page.getByRole('button', { name: 'Release', exact: true }).waitFor()
    await readAgain(page)
    expect(asked.filter((url) => url.endsWith('/claim-next')).length).toBe(1)
    expect(await claimed('doubly')).toBe(1)
    await context.close()
  })

  it('claims one task where the second comes on its page already', async () => {
    const { context, page } = await claiming('doubly-late')
    await press(page, 1)
    await page.getByRole('button', { name: 'Release', exact: true }).waitFor()
    await claimNext(page).hover()
    await press(page, 2)
    await readAgain(page)
    expect(await claimed('doubly-late')).toBe(1)
    await context.close()
  })

  it('opens no window that has moved to where the first has claimed a task', async () => {
    const { id } = (await ask('POST', '/callback-tasks', { customer_phone: ANN })).task
    const { context, page } = await visit(`t/acme/desk/tasks/${id}`)
    await page.getByRole('button', { name: 'Claim', exact: true }).hover()
    await press(page, 1)
    await page.getByRole('button', { name: 'Release', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Complete', exact: true }).hover()
    await press(page, 2)
    await opened(page, 'Edit')
    await context.close()
  })

  it('takes away one of what comes up in the place of what is gone', async () => {
    const { context, page } = await visit('t/acme/desk/queues/doubly')
    const spans = page.getByRole('button', { name: /^Remove span/ })
    for (const count of [1, 2, 3]) {
      await page.getByRole('button', { name: 'Add hours' }).click()
      await expect.poll(() => spans.count()).toBe(count)
    }
    await spans.first().dblclick()
    await expect.poll(() => spans.count()).toBe(2)
    await context.close()
  })

  it('does once what is done by the time of the second', async () => {
    const { context, page } = await visit('diagnostics')
    const asked: string[] = []
    page.on('request', (request) => request.method() === 'POST' && asked.push(request.url()))
    const forget = page.getByRole('button', { name: 'Forget those unused for 5 minutes', disabled: false })
    await forget.hover()
    await press(page, 1)
    await expect.poll(() => asked.length).toBe(1)
    await forget.hover()
    await press(page, 2)
    // What a click has begun is sent before what this asks for.
    await page.reload()
    await forget.waitFor()
    expect(asked.length).toBe(1)
    await context.close()
  })
})

describe('a double click on what opens a window', () => {
  /** The second click of two, wherever that comes to lie. */
  const again = async (page: Page, on: Locator) => {
    await on.hover({ position: { x: 5, y: 5 } })
    await page.mouse.down({ clickCount: 2 })
    await page.mouse.up({ clickCount: 2 })
  }

  it('leaves it open, and answers nothing in it', async () => {
    const { id } = (await ask('POST', '/callback-tasks', { customer_phone: ANN })).task
    const { context, page } = await visit(`t/acme/desk/tasks/${id}`)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.method()))
    const form = await opened(page, 'Complete')
    await again(page, form.getByRole('button', { name: 'Complete the task' }))
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'hidden' })
    const question = await opened(page, 'Call back now')
    const beside = page.locator('.mantine-Modal-overlay')
    await again(page, beside)
    for (const name of ['Call back now', 'Cancel']) await again(page, question.getByRole('button', { name }))
    await beside.click({ position: { x: 5, y: 5 } })
    await question.waitFor({ state: 'hidden' })
    expect(asked).not.toContain('POST')
    await context.close()
  })
})

describe('a key that is held', () => {
  it('claims one task, and goes on along the rows', async () => {
    for (const minute of [1, 2, 3])
      await ask('POST', '/callback-tasks', { customer_phone: `+1202555019${minute}`, queue_key: 'held' })
    const { context, page } = await visit('t/acme/desk?queue_key=held')
    const rows = page.getByRole('group', { name: 'Desk', exact: true }).getByRole('link')
    await expect.poll(() => rows.count()).toBe(3)
    for (const _time of [1, 2, 3]) await page.keyboard.down('j')
    await page.keyboard.up('j')
    const last = await rows.nth(2).getAttribute('href')
    await expect.poll(() => page.locator('a:focus').getAttribute('href')).toBe(last)
    const isClaimed = async () => (await ask('GET', '/callback-tasks?queue_key=held&status=claimed')).tasks.length
    while (!page.url().includes('/desk/tasks/')) await page.keyboard.down('n')
    await page.keyboard.up('n')
    await page.getByRole('button', { name: 'Release', exact: true }).waitFor()
    // What a key has begun is sent before what this asks for.
    await page.reload()
    await page.getByRole('button', { name: 'Release', exact: true }).waitFor()
    expect(await isClaimed()).toBe(1)
    await context.close()
  })
})
