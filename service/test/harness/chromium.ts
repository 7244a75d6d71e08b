import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium } from 'playwright-core'

/** As root there is no sandbox to be had; the others keep it from asking the network for anything of its own. */
const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-dev-shm-usage'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

/** How wide a window is, and which colours its user likes. */
export type Look = {
  width: number
  colorScheme: 'light' | 'dark'
  /** Where its user is; UTC if not given. */
  timezoneId?: string
}

/** A Chromium without a window. */
export type TestChromium = {
  /** A fresh profile that looks so, wherever the tests run. Its user wants nothing to move: what fades is judged by no colour. */
  context(look: Look): Promise<BrowserContext>
  close(): Promise<void>
}

/** What has its microphone hear a WAV file, over and over, and lends that to every page. */
const hearing = (wavPath: string) => [
  ...['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
  `--use-file-for-fake-audio-capture=${wavPath}`,
]

/** Starts the program that the run of the tests has found, without a microphone if none is given. Whoever starts it closes it. */
export async function startChromium({ microphone }: { microphone?: string } = {}): Promise<TestChromium> {
  const executablePath = process.env['PARLEY_TEST_CHROMIUM']
  if (!executablePath) throw new Error('PARLEY_TEST_CHROMIUM is not set: run the tests with npm test')
  const home = await mkdtemp(join(tmpdir(), 'chromium-'))
  const browser = await chromium.launch({
    ...{ executablePath, timeout: 60_000 },
    args: [...ARGUMENTS, ...(microphone === undefined ? [] : hearing(microphone))],
    env: { PATH: process.env['PATH'], HOME: home },
  })
  return {
    context: ({ width, colorScheme, timezoneId = 'UTC' }) =>
      browser.newContext({
        viewport: { width, height: 900 },
        colorScheme,
        ...{ reducedMotion: 'reduce', timezoneId },
      }),
    async close() {
      await browser.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}
