import { expect, it, vi } from 'vitest'
import { useDashboard } from './harness/dashboard.ts'
import { WIDE } from './harness/looks.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const dashboard = useDashboard({ settings: { SIMULATOR: 'off', STANDBY: 'true' }, tenant: 'acme' })

it('says above every page that this service stands by', async () => {
  await dashboard.ask('PUT', '/admin/tenants/acme', { tenant_id: 'acme', name: 'Acme' })
  const context = await dashboard.loggedIn(WIDE)
  const { page } = await dashboard.visit(context, '/app/t/acme/live')
  await page.getByRole('status').filter({ hasText: 'This service stands by' }).waitFor()
  await page.getByRole('link', { name: 'Campaigns' }).click()
  await page.getByRole('heading', { name: 'Campaigns' }).waitFor()
  expect(await page.getByText('This service stands by').count()).toBe(1)
  await context.close()
})
