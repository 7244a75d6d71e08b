import type { BrowserContext } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { useDashboard } from './harness/dashboard.ts'
import { HOSTILE } from './harness/hostile.ts'
import { WIDE } from './harness/looks.ts'
import { faultsAsShown } from './harness/page-faults.ts'

const LISTED = '+12025550177'
/** In a rehearsal. */
const RINGS_IN_VAIN = '+12025550181'
/** As long as a machine that is busy may take no call. */
const ROOM_MS = 120_000

vi.setConfig({ testTimeout: 400_000, hookTimeout: 120_000 })

const dashboard = useDashboard()

/** The form for a call, where the answer to the first one that is placed is lost. */
async function placing(context: BrowserContext) {
  const { page } = await dashboard.visit(context, '/app/t/demo/calls')
  let lost = 0
  await page.route('**/api/v1/make-call', async (route) => {
    // A machine that is too busy for a call says that first.
    const fetched = async () => {
      const response = await route.fetch()
      expect(response.status()).not.toBe(503)
      return response
    }
    const response = await vi.waitFor(fetched, { timeout: ROOM_MS, interval: 1_000 })
    if (!response.ok() || lost > 0) return route.fulfill({ response })
    lost += 1
    return route.abort()
  })
  const open = () => page.getByRole('button', { name: 'Place a call' }).click()
  await open()
  const form = page.getByRole('dialog', { name: 'Place a call' })
  const place = () => form.getByRole('button', { name: 'Place the call' }).click()
  const isTold = async (text: string) => {
    await place()
    await form.getByText(text).waitFor({ timeout: ROOM_MS })
  }
  await form.getByLabel('Number to call').waitFor()
  // It hears keys when it has the focus, and where that begins nothing is written by accident.
  await form.locator('*:focus').waitFor()
  return { page, form, open, place, isTold }
}

async function callsTo(phone: string): Promise<object[]> {
  const path = `/call-logs?to=${encodeURIComponent(phone)}`
  return (await dashboard.ask<{ call_logs: object[] }>('GET', path)).call_logs
}

describe('a call that somebody places', () => {
  it('is placed once, though its answer is lost and they press again, and leads to its page', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page, form, place, isTold } = await placing(context)
    await form.getByLabel('Number to call').fill('+1 202 555 0144')
    await form.getByLabel('Agent').selectOption('front-desk')
    await form.getByLabel('Said first').fill(HOSTILE)
    expect(await faultsAsShown(page)).toEqual([])
    await isTold('The service cannot be reached.')
    await place()
    await page.getByRole('heading', { name: '+1 202 555 0144' }).waitFor({ timeout: ROOM_MS })
    await page.getByText('Placed byada').waitFor()
    expect(page.url()).toMatch(/\/calls\/CA\w+$/)
    expect(await callsTo('+12025550144')).toHaveLength(1)
    expect(await page.locator('main img, main script, main svg[onload]').count()).toBe(0)
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })

  it('is refused in the words of the service, and mended; after one that is in doubt another is not placed unasked', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page, form, place, isTold } = await placing(context)
    await page.keyboard.press('Escape')
    const button = page.getByRole('button', { name: 'Place a call' })
    await page.locator('*:focus').and(button).press('Enter')
    await dashboard.ask('POST', '/dnc', { phone: LISTED })
    await form.getByLabel('Number to call').fill(LISTED)
    await isTold('dnc_listed')
    await form.getByLabel('Number to call').fill('no number')
    await place()
    await form.locator('[aria-invalid=true]').and(form.getByLabel('Number to call')).waitFor()
    await form.getByLabel('Number to call').fill('+12025550145')
    await isTold('The service cannot be reached.')
    await form.getByLabel('They agreed to be called').check()
    await isTold('The call may have been placed as it was asked for')
    expect(await callsTo('+12025550145')).toHaveLength(1)
    await place()
    await page.getByRole('heading', { name: '+1 202 555 0145' }).waitFor({ timeout: ROOM_MS })
    expect(await callsTo('+12025550145')).toHaveLength(2)
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })

  it('is not placed unasked by a form that is opened again, nor by the page that it is opened from anew', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page, form, open, place, isTold } = await placing(context)
    await form.getByLabel('Number to call').fill('+12025550146')
    await isTold('The service cannot be reached.')
    await form.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('link', { name: 'Agents', exact: true }).click()
    await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Calls', exact: true }).click()
    await open()
    await form.getByLabel('Number to call').fill('+12025550147')
    await isTold('The call may have been placed as it was asked for')
    expect(await callsTo('+12025550147')).toEqual([])
    await place()
    await page.getByRole('heading', { name: '+1 202 555 0147' }).waitFor({ timeout: ROOM_MS })
    expect(await callsTo('+12025550146')).toHaveLength(1)
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })

  it('is asked for with the same key until it is known what became of it, and told to be none if it is', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, '/app/t/demo/calls')
    const keys: (string | undefined)[] = []
    const refusal = (code: string) => ({ ok: false, error: 'In words for programs.', code, request_id: 'r' })
    const answers = [
      { status: 503, json: refusal('submission_unknown') },
      { status: 409, json: refusal('request_in_flight') },
      { status: 200, json: { ok: true, call_sid: null, status: 'failed', to: LISTED, from: LISTED } },
      { status: 409, json: refusal('tenant_busy') },
    ]
    await page.route('**/api/v1/make-call', async (route) => {
      const answer = answers[keys.length]
      keys.push(route.request().headers()['idempotency-key'])
      await route.fulfill(answer)
    })
    await page.getByRole('button', { name: 'Place a call' }).click()
    const form = page.getByRole('dialog', { name: 'Place a call' })
    await form.getByLabel('Number to call').fill(LISTED)
    for (const words of ['It is not known yet', 'It is not known yet', 'most likely nobody was called', 'In words']) {
      const sent = keys.length
      await form.getByRole('button', { name: 'Place the call' }).click()
      await expect.poll(() => keys.length).toBe(sent + 1)
      await form.getByText(words).waitFor()
    }
    const [first, second, third, fourth] = keys
    expect([second, third, first === fourth]).toEqual([first, first, false])
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })

  it('is cancelled on its page before anybody answers, after a question', async () => {
    const place = () => dashboard.ask<{ call_sid: string }>('POST', '/make-call', { to: RINGS_IN_VAIN })
    const { call_sid: sid } = await vi.waitFor(place, { timeout: ROOM_MS, interval: 1_000 })
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, `/app/t/demo/calls/${sid}`)
    await page.getByRole('button', { name: 'Stop calling' }).click()
    const question = page.getByRole('dialog', { name: 'Stop calling?' })
    await question.getByText('The phone stops ringing.').waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    await question.getByRole('button', { name: 'Stop calling' }).click()
    await question.waitFor({ state: 'hidden' })
    await page.getByRole('main').getByText('Canceled', { exact: true }).first().waitFor()
    await page.getByText('It was cancelled before anybody answered').waitFor()
    await page.getByText('Cancelled byada').waitFor()
    expect(await page.getByRole('button', { name: 'Stop calling' }).count()).toBe(0)
    expect(await callsTo(RINGS_IN_VAIN)).toMatchObject([{ call_sid: sid, status: 'canceled' }])
    await context.close()
  })

  it('leads nobody away who has closed its form meanwhile', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, '/app/t/demo/calls')
    const held = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    await page.route('**/api/v1/make-call', async (route) => {
      asked.resolve()
      await held.promise
      await route.fulfill({ json: { ok: true, call_sid: 'CA1', status: 'queued', to: LISTED, from: LISTED } })
    })
    await page.getByRole('button', { name: 'Place a call' }).click()
    const form = page.getByRole('dialog', { name: 'Place a call' })
    await form.getByLabel('Number to call').fill(LISTED)
    await form.getByRole('button', { name: 'Place the call' }).click()
    await asked.promise
    // In its corner a window has another button that is called so.
    await form.getByRole('button', { name: 'Close' }).filter({ hasText: 'Close' }).click()
    await form.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Place a call' }).click()
    await form.getByLabel('Number to call').fill('+12025550148')
    const listed = page.waitForResponse((response) => response.url().includes('/call-logs'))
    held.resolve()
    await listed
    expect(await form.getByLabel('Number to call').inputValue()).toBe('+12025550148')
    expect(new URL(page.url()).pathname).toBe('/app/t/demo/calls')
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })
})
