// How long somebody new needs from `npm start` to the first word of an agent; `USAGE` says more.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs, parseEnv } from 'node:util'
import type { Page } from 'playwright-core'
import { findChromium } from '../../../scripts/needs/chromium.ts'
import { makeRunFolder } from '../../../scripts/needs/run-folder.ts'
import { stereoWav } from '../../../simulator/src/audio/wav.ts'
import { startChromium, type TestChromium } from '../harness/chromium.ts'
import { readCommand } from '../harness/command-line.ts'
import { levelOf } from '../harness/level.ts'
import { until } from '../harness/wait.ts'
import { scratchCopy } from './scratch-copy.ts'
import { npmStart, type Started } from './started.ts'

const USAGE = `npm run first-minutes

Starts \`npm start\` in a copy of this folder that has no settings and no data, and does in Chromium what it and the pages
say, as somebody does who has never seen them: log in, open Talk, choose the demo agent, press Call, hear it. Prints when
each step was done, and ends with 1 when it took longer than a minute from the answering service to the first word.
`

const CHECKOUT = join(import.meta.dirname, '..', '..', '..')
const MOST_MS = 60_000
/** Longer than it may take, so that what took too long is seen. */
const WAIT_MS = 90_000
/** As loud as a voice is drawn at least, of 1. */
const HEARD = 0.05
const SILENCE_BYTES = 80_000

/** Prints what was done, and when. */
class Steps {
  readonly #startMs = performance.now()

  get afterMs(): number {
    return performance.now() - this.#startMs
  }

  async do<T>(name: string, act: () => Promise<T>): Promise<T> {
    const result = await act()
    process.stdout.write(`${(this.afterMs / 1_000).toFixed(1).padStart(6)} s  ${name}\n`)
    return result
  }
}

/** What stands in the lines that `npm start` prints, and in the file that they name. */
async function told(
  root: string,
  started: Started,
): Promise<{ dashboard: string; username: string; password: string }> {
  const shown = started.shown()
  const dashboard = /Dashboard +(\S+)/.exec(shown)?.[1]
  const username = /Log in +as (\S+); the password is ADMIN_PASSWORD in the file \.env/.exec(shown)?.[1]
  const password = parseEnv(await readFile(join(root, '.env'), 'utf8'))['ADMIN_PASSWORD']
  if (!dashboard || !username || !password) throw new Error(`npm start does not say how to log in:\n${shown}`)
  return { dashboard, username, password }
}

async function firstMinutes(chromium: TestChromium, root: string, started: Started): Promise<number> {
  const steps = new Steps()
  const { dashboard, username, password } = await told(root, started)
  const context = await chromium.context({ width: 1280, colorScheme: 'light' })
  context.setDefaultTimeout(WAIT_MS)
  const page = await context.newPage()
  await steps.do('the dashboard asks who it is', async () => {
    await page.goto(dashboard)
    await page.getByLabel('User name or e-mail').fill(username)
    await page.locator('input[type=password]').fill(password)
  })
  await steps.do('logged in', async () => {
    await page.getByRole('button', { name: 'Log in', exact: true }).click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Talk', exact: true }).waitFor()
  })
  await steps.do('Talk is open', async () => {
    await page.getByRole('link', { name: 'Talk', exact: true }).click()
    await page.getByRole('heading', { name: 'Talk', exact: true }).waitFor()
  })
  const agent = await steps.do('the demo agent is chosen', () => chooseAgent(page))
  await steps.do('Call is pressed, and the line is open', async () => {
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByText('Connected').waitFor()
  })
  await steps.do('the agent is heard', () =>
    until(async () => (await levelOf(page, agent)) > HEARD, { what: 'the agent', timeoutMs: WAIT_MS, everyMs: 20 }),
  )
  const { afterMs } = steps
  await steps.do('what it says is read', () => page.getByText(/this is Robin/).waitFor())
  return afterMs
}

async function chooseAgent(page: Page): Promise<string> {
  const choice = page.getByLabel('Agent', { exact: true })
  await choice.selectOption({ index: 0 })
  return (await choice.locator('option:checked').textContent()) ?? ''
}

const HELP = { help: { type: 'boolean', default: false } } as const

async function main(): Promise<void> {
  if (!readCommand(USAGE, (args) => parseArgs({ args, options: HELP }).values)) return
  const run = makeRunFolder()
  const { env } = await findChromium({ folder: run, signal: new AbortController().signal })
  Object.assign(process.env, env)
  const microphone = join(run.path, 'microphone.wav')
  const silence = Buffer.alloc(SILENCE_BYTES, 0xff)
  await writeFile(microphone, stereoWav(silence, silence))
  const copy = scratchCopy(CHECKOUT)
  const closing: (() => Promise<void> | void)[] = [run.remove, copy.remove]
  try {
    const chromium = await startChromium({ microphone })
    closing.push(() => chromium.close())
    const started = await npmStart(copy.root)
    closing.push(() => started.stop())
    const afterMs = await firstMinutes(chromium, copy.root, started)
    const isSoon = afterMs <= MOST_MS
    process.stdout.write(
      `${isSoon ? 'Within' : 'NOT within'} a minute: ${(afterMs / 1_000).toFixed(1)} s to the first word\n`,
    )
    process.exitCode = isSoon ? 0 : 1
  } finally {
    for (const close of closing.reverse()) await close()
  }
}

await main()
