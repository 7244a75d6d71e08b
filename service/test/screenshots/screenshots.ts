// Takes the pictures of the README, or of every page in light, dark and on a telephone; `USAGE` says more.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { BrowserContext, Page } from 'playwright-core'
import { findChromium } from '../../../scripts/needs/chromium.ts'
import { makeRunFolder } from '../../../scripts/needs/run-folder.ts'
import { type Look, startChromium, type TestChromium } from '../harness/chromium.ts'
import { readCommand } from '../harness/command-line.ts'
import { type DemoService, LOGIN, startDemoService } from './demo-service.ts'
import { otherPictures, type Picture, readmePictures } from './pictures.ts'

const USAGE = `npm run screenshots [-- --all FOLDER]

Starts a rehearsal with a week of calls behind it, and takes the pictures of the README in Chromium into docs/images.
With --all every page is taken, in light, in dark and at the width of a telephone, into FOLDER: to be looked at.
`

const README_FOLDER = join(import.meta.dirname, '..', '..', '..', 'docs', 'images')
const MOST_BYTES = 150 * 1_024
const WAIT_MS = 60_000
const QUALITY = 82
const SAID = ['Good morning. Do you have the green chair in stock?', 'Great. Can you send me two of them?']

/** Everything that moves or blinks stands still. */
const STILL =
  '*, *::before, *::after { transition: none !important; animation: none !important; caret-color: transparent !important }'

async function loggedIn(chromium: TestChromium, look: Look, address: string): Promise<BrowserContext> {
  const context = await chromium.context(look)
  context.setDefaultTimeout(WAIT_MS)
  const answer = await context.request.post(`${address}/api/v1/admin/auth/login`, {
    ...{ data: LOGIN, headers: { origin: address } },
  })
  if (!answer.ok()) throw new Error(`nobody is logged in: ${answer.status()} ${await answer.text()}`)
  return context
}

async function show(page: Page, address: string, { at, sign, press, leadsTo }: Picture): Promise<void> {
  await page.goto(`${address}/app/${at}`)
  await page.locator('main').getByText(sign).first().waitFor()
  if (press !== undefined) await page.getByRole('button', { name: press }).click()
  if (leadsTo !== undefined) await page.getByText(leadsTo).first().waitFor()
  await page.locator('[aria-busy=true], .mantine-Skeleton-root').first().waitFor({ state: 'detached' })
  await page.evaluate('document.fonts.ready')
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
}

/** As WebP, which is a third of PNG. */
async function picture(page: Page): Promise<Buffer> {
  await page.addStyleTag({ content: STILL }).catch(() => undefined)
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY })
  return Buffer.from(data, 'base64')
}

async function takeReadme(chromium: TestChromium, demo: DemoService): Promise<void> {
  await mkdir(README_FOLDER, { recursive: true })
  const streamSid = await demo.ringAndStay(SAID)
  for (const each of readmePictures(demo, streamSid)) {
    const context = await loggedIn(chromium, { width: 1280, colorScheme: each.look ?? 'light' }, demo.address)
    const page = await context.newPage()
    await show(page, demo.address, each)
    const taken = await picture(page)
    if (taken.length > MOST_BYTES)
      throw new Error(`${each.name}.webp has ${taken.length} bytes, more than ${MOST_BYTES}`)
    await writeFile(join(README_FOLDER, `${each.name}.webp`), taken)
    process.stdout.write(`docs/images/${each.name}.webp: ${taken.length} bytes\n`)
    await context.close()
  }
}

const LOOKS: Record<string, Look> = {
  light: { width: 1280, colorScheme: 'light' },
  dark: { width: 1280, colorScheme: 'dark' },
  phone: { width: 390, colorScheme: 'light' },
}

async function takeAll(chromium: TestChromium, demo: DemoService, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const [name, look] of Object.entries(LOOKS)) {
    const streamSid = await demo.ringAndStay(SAID)
    const context = await loggedIn(chromium, look, demo.address)
    for (const each of [...readmePictures(demo, streamSid), ...otherPictures(demo)]) {
      const page = await context.newPage()
      await show(page, demo.address, each).catch((error: unknown) =>
        process.stderr.write(`${each.name}: ${String(error)}\n`),
      )
      await page.screenshot({ path: join(folder, `${each.name}-${name}.png`), fullPage: true, animations: 'disabled' })
      await page.close()
    }
    await context.close()
  }
  process.stdout.write(`${folder}\n`)
}

const OPTIONS = { all: { type: 'string' }, help: { type: 'boolean', default: false, short: 'h' } } as const

async function main(): Promise<void> {
  const values = readCommand(USAGE, (args) => parseArgs({ args, options: OPTIONS }).values)
  if (!values) return
  const folder = makeRunFolder()
  const { env } = await findChromium({ folder, signal: new AbortController().signal })
  Object.assign(process.env, env)
  const demo = await startDemoService()
  const chromium = await startChromium()
  try {
    await (values.all === undefined ? takeReadme(chromium, demo) : takeAll(chromium, demo, values.all))
  } finally {
    await chromium.close()
    await demo.close()
    folder.remove()
  }
}

await main()
