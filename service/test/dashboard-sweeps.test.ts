import type { Page } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { useDashboard } from './harness/dashboard.ts'
import { IS_FULL, LOOKS, NARROW, WIDE } from './harness/looks.ts'
import { faultsAsShown } from './harness/page-faults.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const dashboard = useDashboard({ settings: { SIMULATOR: 'off' }, tenant: 'acme' })

const SWEEPS = '/app/t/acme/desk/sweeps'

/** As each sweep would answer that has one task, which is its own. */
const SWEPT = { tenant_id: 'acme', task_id: '0190b2a4-6c1e-7f00-8a3b-5d9e1c2f4a60', queue_key: 'sales' }
const ANSWERS: [button: string, path: string, result: object, shown: string[]][] = [
  [
    ...(['Show what would be dispatched', 'dispatch'] as const),
    { eligible_tasks: 7, items: [{ ...SWEPT, outcome: 'refused', attempt: 2, code: 'dnc_listed', reason: 'Listed.' }] },
    ['Eligible tasks7', 'Refused', 'Attempt 2', 'Listed.', 'dnc_listed'],
  ],
  [
    ...(['Wake, remind, escalate', 'follow-up-notifications/sweep'] as const),
    { notifications_sent: 3, items: [{ ...SWEPT, outcome: 'reminded', assigned_to: 'ann' }] },
    ['Notifications sent3', 'Reminded', 'Claimed by ann'],
  ],
  [
    ...(['Follow the tickets', 'external-reconciliation/sweep'] as const),
    { webhooks_enqueued: 1, items: [{ ...SWEPT, outcome: 'reconciled', ticket_id: '4711', ticket_status: 'closed' }] },
    ['Webhooks enqueued1', 'Reconciled', 'Ticket 4711', 'Status of the ticket closed'],
  ],
]

describe('the sweeps', () => {
  const sweep = async (page: Page, name: string) => {
    await page.getByRole('button', { name, exact: true, disabled: false }).click()
    await page.getByRole('dialog').getByRole('button', { name, exact: true, disabled: false }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    return page.getByRole('region', { name, exact: true })
  }

  it('tell what they have counted, and of each task when it was to be done', async () => {
    const late = { customer_phone: '+12025550122', queue_key: 'slow', sla_due_at: '2026-01-01T12:00:00Z' }
    await dashboard.ask('PUT', '/admin/tenants/acme', { tenant_id: 'acme', name: 'Acme' })
    const { id } = (await dashboard.ask<{ task: { id: string } }>('POST', '/callback-tasks', late)).task
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await dashboard.visit(context, SWEEPS)
    const swept = await sweep(page, 'Tell what is late')
    await swept.getByText('Evaluated tenants').waitFor()
    const row = swept.getByRole('row').filter({ has: page.locator(`a[href$="/desk/tasks/${id}"]`) })
    await row.getByText(/alerted/i).waitFor()
    await row.getByRole('cell', { name: 'Acme', exact: true }).waitFor()
    await row
      .getByText(/Was to be done by/)
      .filter({ visible: true })
      .waitFor()
    await context.close()
  })

  it.each(IS_FULL ? LOOKS : [NARROW])(
    'show each field of what they have done at $width px in $colorScheme colours',
    async (look) => {
      const context = await dashboard.loggedIn(look)
      const { page } = await dashboard.visit(context, SWEEPS)
      for (const [button, path, result, shown] of ANSWERS) {
        const json = { ok: true, result: { attempted_tenants: 2, evaluated_tenants: 1, failures: [], ...result } }
        await page.route(`**/operator-queues/${path}?*`, (route) => route.fulfill({ json }))
        const swept = await sweep(page, button)
        await swept.getByText('Attempted tenants2').waitFor()
        for (const text of shown)
          await swept.getByText(text, { exact: true }).filter({ visible: true }).first().waitFor()
        expect(await faultsAsShown(page)).toEqual([])
      }
      await page.unrouteAll({ behavior: 'wait' })
      await context.close()
    },
  )

  it('are called in whole words where there is hardly room for them', async () => {
    const context = await dashboard.loggedIn({ ...NARROW, width: 320 })
    const { page } = await dashboard.visit(context, SWEEPS)
    for (const [name] of ANSWERS) {
      const words = page.getByRole('button', { name, exact: true }).getByText(name)
      const beyondPx = await words.evaluate((text) => [
        text.scrollWidth - text.clientWidth,
        text.scrollHeight - text.clientHeight,
      ])
      expect([name, ...beyondPx]).toEqual([name, 0, 0])
    }
    await context.close()
  })
})
