import type { BrowserContext } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { useDashboard } from './harness/dashboard.ts'
import { HOSTILE } from './harness/hostile.ts'
import { WIDE } from './harness/looks.ts'
import { faultsAsShown } from './harness/page-faults.ts'

const LISTED = '+12025550177'
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
  await page.getByRole('button', { name: 'Place a call' }).click()
  const form = page.getByRole('dialog', { name: 'Place a call' })
  const place = () => form.getByRole('button', { name: 'Place the call' }).click()
  const isTold = async (text: string) => {
    await place()
    await form.getByText(text).waitFor({ timeout: ROOM_MS })
  }
  await form.getByLabel('Number to call').waitFor()
  return { page, form, place, isTold }
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
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })
})
