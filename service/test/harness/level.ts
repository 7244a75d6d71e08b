import type { Page } from 'playwright-core'

/** How loud a page of the dashboard draws somebody who is on the line, from 0 to 1. */
export async function levelOf(page: Page, whose: string): Promise<number> {
  const style = await page.locator(`[data-meter="${whose}"] div div`).getAttribute('style')
  return Number(/scaleX\(([\d.]+)\)/.exec(style ?? '')?.[1] ?? 0)
}
