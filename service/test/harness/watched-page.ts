import type { BrowserContext, Page } from 'playwright-core'

/** The page, and whatever the browser has to complain of from now on, which grows. */
export type WatchedPage = { page: Page; faults: string[] }

/** So that a breach of the policy is told even where a browser writes none to its console. */
const TELL_BREACHES = `
  addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
    console.error('policy: ' + violatedDirective + ' ' + blockedURI + ' ' + sample))
`

/** Opens a page of which warnings and errors, breaches of the content policy, dialogs and requests to elsewhere are told. */
export async function watchedPage(context: BrowserContext, address: string): Promise<WatchedPage> {
  const page = await context.newPage()
  const faults: string[] = []
  await page.addInitScript(TELL_BREACHES)
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      faults.push(`console: ${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`))
  page.on('dialog', (dialog) => {
    // A test leaves pages on which it has typed something.
    if (dialog.type() === 'beforeunload') return void dialog.accept()
    faults.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const isOurs = request.url().startsWith(address) || request.url().startsWith('blob:')
    if (!isOurs) faults.push(`to elsewhere: ${request.url()}`)
  })
  return { page, faults }
}
