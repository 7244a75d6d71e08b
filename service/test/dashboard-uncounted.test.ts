import { expect, it, vi } from 'vitest'
import { systemClock } from '../src/kernel/clock.ts'
import type { Db } from '../src/platform/db/schema.ts'
import { addCall } from '../src/records/analytics/analytics.fixture.ts'
import { useDashboard } from './harness/dashboard.ts'
import { makeTenant } from './harness/tenants.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

// Nothing is counted but when a test says so.
const settings = { SIMULATOR: 'off', SWEEP_INTERVAL_SECONDS: '0' }
const dashboard = useDashboard({ settings, furnish: addFirstCall, tenant: 'acme' })

async function addFirstCall(db: Db): Promise<void> {
  await addCall(db, await makeTenant(db, 'acme'), { at: new Date(systemClock.now()) })
}

it('the first call is not denied before it is counted, and is there by itself once it is', async () => {
  const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
  const all = (await dashboard.visit(context, '/app/')).page
  const own = (await dashboard.visit(context, '/app/t/acme/overview')).page
  await all.getByText(/^No tenant had calls in this time until \d/).waitFor()
  await own.getByText(/^No agent had calls in this time until \d/).waitFor()
  const { counted_until: until } = await analytics()
  for (const page of [all, own]) {
    const none = page.getByText(/^No calls in this time until \d/)
    await none.waitFor()
    expect(await none.locator('time').getAttribute('datetime')).toBe(until)
  }
  await dashboard.ask('POST', '/admin/analytics/sweep')
  for (const page of [all, own]) {
    await page.getByText('Calls11 answered').waitFor()
    await page.getByText(/^Counted until \d/).waitFor()
  }
  await context.close()
})

it('what was counted until yesterday says which day that was, on a page that was left open over night', async () => {
  const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
  const { page } = await dashboard.visit(context, '/app/')
  const aDayMs = 24 * 60 * 60 * 1_000
  await page.clock.install()
  await page.goto(`${dashboard.address}/app/t/acme/overview`)
  const counted = page.getByText(/^(Counted|No calls in this time) until/).locator('time')
  await expect.poll(() => counted.textContent()).toMatch(/^\d+:\d\d:\d\d/)
  // Nothing is read again that night.
  await page.route('**/api/v1/analytics/**', () => undefined)
  await page.clock.fastForward(aDayMs)
  await expect.poll(() => counted.textContent()).toMatch(/^\w+ \d+, \d{4}, \d+:\d\d/)
  await context.close()
})

it('a page on which no call is to be seen leads to one', async () => {
  const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
  await dashboard.ask('PUT', '/admin/tenants/globex', { tenant_id: 'globex', name: 'Globex' })
  for (const path of ['overview', 'live', 'calls']) {
    const { page } = await dashboard.visit(context, `/app/t/globex/${path}`)
    await page.getByRole('link', { name: 'talk to an agent from this browser' }).click()
    await page.waitForURL('**/app/t/globex/talk')
    await page.close()
  }
  await context.close()
})

async function analytics(): Promise<{ counted_until: string }> {
  return (await dashboard.ask<{ analytics: { counted_until: string } }>('GET', '/analytics/calls')).analytics
}
