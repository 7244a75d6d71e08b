import { rm } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startChromium, type TestChromium } from './harness/chromium.ts'
import { IS_FULL, LOOKS, WIDE } from './harness/looks.ts'
import { faultsAsShown } from './harness/page-faults.ts'
import { killPrograms, startProgram } from './harness/program.ts'
import { scratchFolder } from './harness/scratch.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 120_000 })

let folder: string
let address: string
let chromium: TestChromium

beforeAll(async () => {
  folder = await scratchFolder()
  const settings = {
    DATABASE_URL: 'none',
    DATA_DIR: folder,
    ADMIN_API_KEY: 'ak_key_of_the_pages_tests',
    RATE_LIMIT_IP_PER_MINUTE: '1000000',
  }
  const program = startProgram(settings)
  // On a machine that is busy with other tests it may take twice its time.
  address = await program.listening().catch(() => program.listening())
  chromium = await startChromium()
})
afterAll(async () => {
  await chromium?.close()
  await killPrograms()
  await rm(folder, { recursive: true })
})

/** The pages of the hub, as it lists them. */
async function guides(): Promise<string[]> {
  const html = await (await fetch(`${address}/docs`)).text()
  const [hub = ''] = /<nav class="hub"[\s\S]*?<\/nav>/.exec(html) ?? []
  return ['/docs', ...[...hub.matchAll(/href="([^"]+)"/g)].map(([, path = '']) => path)]
}

/** Everything that is wrong with a page as it is shown. */
async function faultsOf(page: Page, path: string): Promise<string[]> {
  const faults: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`))
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`)
    if (!response.url().startsWith(address)) faults.push(`from elsewhere: ${response.url()}`)
  })
  await page.goto(address + path, { waitUntil: 'networkidle' })
  if (path === '/swagger-ui') await page.locator('.opblock').first().waitFor()
  return [...faults, ...(await faultsAsShown(page))]
}

/** How many operations a description has, webhooks among them. */
async function describedOperations(name: string): Promise<number> {
  const answer = await fetch(`${address}/api-docs/${name}.json`)
  const { paths, webhooks = {} } = (await answer.json()) as { paths: object; webhooks?: object }
  return [...Object.values(paths), ...Object.values(webhooks)].flatMap((each) => Object.keys(each)).length
}

/**
 * How many there are on the page from its top to its end: of a long one only what is near the window is drawn. What was drawn too late
 * for one look, where the machine is busy, is seen by the next: all of the same description are counted together.
 */
const DRAWN_OPERATIONS = `(async () => {
  window.drawnOf ??= {}
  const drawn = (window.drawnOf[document.querySelector('.info .title')?.textContent] ??= new Set())
  scrollTo(0, 0)
  for (let isEnd = false; !isEnd; ) {
    // Two frames: one to hear of the scrolling, one to draw.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    for (const { id } of document.querySelectorAll('.opblock')) drawn.add(id)
    isEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 1
    scrollBy(0, innerHeight / 2)
  }
  return drawn.size
})()`

describe.each(LOOKS)('the pages at $width px, in $colorScheme colours', (look) => {
  it('have no fault that a browser, or a rule of accessibility, could find', async () => {
    const context = await chromium.context(look)
    const found: Record<string, string[]> = {}
    // All of them where there is time, else some in each look: a page takes three seconds.
    const shown = (await guides()).filter((_path, at) => IS_FULL || at % 8 === LOOKS.indexOf(look))
    for (const path of shown) {
      const page = await context.newPage()
      const faults = await faultsOf(page, path)
      if (faults.length > 0) found[path] = faults
      await page.close()
    }
    await context.close()
    expect(found).toEqual({})
  })

  it.runIf(IS_FULL || look === WIDE)('show the three descriptions of the API, each whole', async () => {
    const context = await chromium.context(look)
    const page = await context.newPage()
    expect(await faultsOf(page, '/swagger-ui')).toEqual([])
    const names = await page.locator('#select option').allTextContents()
    expect(names).toEqual(['Tenants, intake, carriers', 'Administration', 'Everything'])
    await page
      .getByRole('button', { name: /Place a call/ })
      .first()
      .click()
    await page.locator('.body-param textarea').waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    for (const [at, name] of (['public', 'admin', 'openapi'] as const).entries()) {
      if (at > 0 && !IS_FULL) break
      await page.locator('#select').selectOption({ index: at })
      await expect
        .poll(() => page.evaluate(DRAWN_OPERATIONS), { timeout: 240_000 })
        .toBe(await describedOperations(name))
    }
    await context.close()
  })
})

describe('the search of the guides', () => {
  it('finds a heading by its words, and goes there with Enter', async () => {
    const context = await chromium.context({ width: 1280, colorScheme: 'light' })
    const page = await context.newPage()
    await page.goto(`${address}/docs`)
    await page.keyboard.press('/')
    await page.keyboard.type('rate limits')
    // What the first of the keys have found stands there until the last one is looked for.
    const first = page.locator('.found a').first()
    await expect.poll(() => first.getAttribute('href')).toBe('/docs/errors#rate-limits')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/errors#rate-limits')
    await context.close()
  })

  it('keeps the colours that somebody has chosen', async () => {
    const context = await chromium.context({ width: 1280, colorScheme: 'light' })
    const page = await context.newPage()
    await page.goto(`${address}/docs`)
    await page.getByRole('button', { name: 'Use dark colours' }).click()
    await page.goto(`${address}/docs/errors`)
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    await context.close()
  })
})
