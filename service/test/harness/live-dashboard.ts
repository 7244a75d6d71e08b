import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, expect, vi } from 'vitest'
import { stereoWav } from '../../../simulator/src/audio/wav.ts'
import { makePhraseBook } from '../../../simulator/src/speech/phrase-book.ts'
import { makeSpeech } from '../../../simulator/src/speech/speech.ts'
import type { TestChromium } from './chromium.ts'
import { type Dashboard, LOGIN, useDashboard } from './dashboard.ts'
import { faultsAsShown } from './page-faults.ts'
import { until } from './wait.ts'
import type { WatchedPage } from './watched-page.ts'

/** A browser without a graphics card, on a machine that does something else. */
const WAIT_MS = 30_000
/** Until a busy machine has taken a call, or has it heard. */
export const TAKEN_WITHIN_MS = 60_000
/** As long as a call takes to be shown. */
const RINGS_MS = 8_000
/** After which a page that nobody looks at is left. */
export const AWAY_MS = 10_000

/** Runs in a page before all else: it can be put behind others, which it never is in a browser without windows. */
export const HIDEABLE = `
  let isBehind = false
  Object.defineProperty(document, 'hidden', { get: () => isBehind })
  Object.defineProperty(document, 'visibilityState', { get: () => (isBehind ? 'hidden' : 'visible') })
  window.putBehind = (is) => {
    isBehind = is
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
  }
`

/** Puts such a page behind others, or before them. */
export const putBehind = (page: Page, is: boolean) => page.evaluate(`putBehind(${is})`)

/** A dashboard of a demo company whose calls are followed, and who looks at it. */
export type LiveDashboard = {
  readonly dashboard: Dashboard
  /** A page of whoever has logged in, in a browser of its own or the usual one. `prepare` runs in it before all else. */
  visit(path: string, by?: { prepare?: string; browser?: TestChromium }): Promise<WatchedPage>
  /** As long as nobody's call is shown, somebody rings the demo number again, and stays on the line. */
  ringUntilTaken(page: Page): Promise<void>
}

/** What is said on the page of a live call. */
export const saidIn = (page: Page) => page.getByRole('region', { name: 'What was said' })

/** Opens the first call of those that are shown, and waits until its agent has greeted; returns the id of its stream. */
export async function openFirstCall(page: Page): Promise<string> {
  await page.getByRole('link', { name: '+1 202 555 0147' }).first().click()
  // On the wall, which stands until the page is loaded, calls tell what was said last: the same greeting, of several.
  await saidIn(page)
    .getByText(/this is Robin at the Demo Company/)
    .waitFor()
  return streamOf(page)
}

/** The call whose page is shown. */
const streamOf = (page: Page) => decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '')

/** Gives a test file such a dashboard, and the time that calls need. */
export function useLiveDashboard(): LiveDashboard {
  vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 })
  const dashboard = useDashboard({ waitMs: WAIT_MS })
  beforeAll(async () => {
    const document = {
      tenant_id: 'demo',
      name: 'Demo Company',
      compliance: { record_calls: true },
      limits: { idle_seconds: 600 },
    }
    await dashboard.ask('PUT', '/admin/tenants/demo', document)
  })
  return {
    dashboard,
    async visit(path, { prepare, browser } = {}) {
      const context = await (browser ?? dashboard).context({ width: 1280, colorScheme: 'light' })
      context.setDefaultTimeout(WAIT_MS)
      if (prepare !== undefined) await context.addInitScript(prepare)
      const { page, faults } = await dashboard.visit(context, path)
      await page.getByLabel('User name or e-mail').fill(LOGIN.username)
      await page.locator('input[type=password]').fill(LOGIN.password)
      const logIn = page.getByRole('button', { name: 'Log in', exact: true })
      await logIn.click()
      // Until then the heading is that of the login.
      await logIn.waitFor({ state: 'hidden' })
      await page.getByRole('heading', { level: 1 }).waitFor()
      return { page, faults }
    },
    async ringUntilTaken(page) {
      const taken = async () => {
        await ring(dashboard)
        const shown = page.getByRole('link', { name: '+1 202 555 0147' }).first()
        return shown.waitFor({ timeout: RINGS_MS }).then(
          () => true,
          () => false,
        )
      }
      await until(taken, { timeoutMs: TAKEN_WITHIN_MS, what: 'a call to be taken' })
    },
  }
}

/** Somebody rings the demo number and stays on the line. */
async function ring(dashboard: Dashboard): Promise<void> {
  const rehearsal = JSON.parse(await readFile(join(dashboard.folder, 'rehearsal.json'), 'utf8')) as {
    public_url: string
    carrier: { base_url: string; account_sid: string; auth_token: string }
  }
  const { base_url, account_sid, auth_token } = rehearsal.carrier
  const response = await fetch(`${base_url}/control/ring`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${account_sid}:${auth_token}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      ...{ to: '+12025550100', from: '+12025550147' },
      voice_url: `${rehearsal.public_url}/api/v1/incoming-call`,
      status_callback: `${rehearsal.public_url}/api/v1/call-status`,
    }),
  })
  expect([response.status, await response.text()]).toEqual([201, expect.any(String)])
}

/** Of a call that is just over something may still be asked, and is not there: the page knows that. */
export function withoutTheEnd(faults: string[]): string[] {
  return faults.filter((fault) => !(fault.includes('404') && fault.includes('/api/v1/sessions/')))
}

/** In the colours of both, and on a telephone. */
export async function faultsInAllLooks(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    found.push(...(await faultsAsShown(page)))
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1280, height: 900 })
  return found
}

/** Until the focus is somewhere, and what says this is in there. */
export async function waitForFocusAround(page: Page, text: string): Promise<void> {
  await page.locator('body *:focus').filter({ hasText: text }).waitFor({ state: 'attached' })
}

const BYTES_PER_S = 8_000

/** A microphone's file: silence while the agent greets, then words, then silence. */
export async function somebodySpeaks({ folder }: Dashboard): Promise<string> {
  const speech = makeSpeech({ phraseBook: makePhraseBook() })
  const said = await speech.say('Good morning, I would like to order the green chair, please.', 'rms')
  await speech.close()
  const quiet = (seconds: number) => Buffer.alloc(seconds * BYTES_PER_S, 0xff)
  const heard = Buffer.concat([quiet(7), said, quiet(8)])
  const path = join(folder, 'microphone.wav')
  await writeFile(path, stereoWav(heard, heard))
  return path
}

/** Turns all that follows it. */
export const RTL = '\u202E'
/** Where a session is asked for that is over. */
export const GONE = { status: 404, json: { ok: false, error: 'There is no such live session.', code: 'not_found' } }

/** A live call, as the service tells of it. */
export const liveSession = (stream_sid: string) => ({
  ...{ stream_sid, call_sid: 'CA1', voice_session_id: '0190b2a4-6c1e-7f00-8a3b-5d9e1c2f4a60', tenant: 'demo' },
  ...{ org_id: null, agent_name: `Robin ${RTL}`, call_type: 'inbound', customer_phone: '+12025550147', greeting: '' },
  ...{ started_at: new Date().toISOString(), state: 'talking', muted: false, taken_over: false, escalated: false },
  escalation_target: null,
})
