import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What is wrong with a page as it is shown now: what is wider than the window, and what breaks a rule of accessibility. */
export async function faultsAsShown(page: Page): Promise<string[]> {
  const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
  return [...(overflow > 0 ? [`${overflow} px too wide`] : []), ...(await accessibilityFaults(page))]
}

type Violation = { id: string; impact: string; nodes: { html?: string; failureSummary?: string }[] }

/** All rules are gone through; of what keeps them, which is nearly everything, no list is written. */
const VIOLATIONS_ONLY = `axe.run({ resultTypes: ['violations'] })`

/** Two parts of a page of one name: by the list of them nobody knows where they go. The rest of a page is hidden behind a window, which may have a head, too. */
const isPartTwice = ({ id, nodes }: Violation) =>
  id === 'landmark-unique' && nodes.some(({ html = '' }) => html.startsWith('<section'))

/** Those that keep somebody from using it. */
async function accessibilityFaults(page: Page): Promise<string[]> {
  // By the debugger: the policy of the pages lets no foreign script in.
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe.source)
  const { violations } = await page.evaluate<{ violations: Violation[] }>(VIOLATIONS_ONLY)
  const isGrave = (found: Violation) => ['serious', 'critical'].includes(found.impact) || isPartTwice(found)
  const grave = violations.filter(isGrave)
  return grave.map(({ id, impact, nodes }) => {
    const [{ html = '', failureSummary = '' } = {}] = nodes
    return `${impact} ${id} (${nodes.length}): ${html.slice(0, 200)} ${failureSummary}`
  })
}
