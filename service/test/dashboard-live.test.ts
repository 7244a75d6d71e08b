import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { stereoWav } from '../../simulator/src/audio/wav.ts'
import { makePhraseBook } from '../../simulator/src/speech/phrase-book.ts'
import { makeSpeech } from '../../simulator/src/speech/speech.ts'
import { startChromium, type TestChromium } from './harness/chromium.ts'
import { LOGIN, useDashboard } from './harness/dashboard.ts'
import { HOSTILE } from './harness/hostile.ts'
import { levelOf } from './harness/level.ts'
import { faultsAsShown } from './harness/page-faults.ts'
import { until } from './harness/wait.ts'
import type { WatchedPage } from './harness/watched-page.ts'

/** Turns all that follows it. */
const RTL = '\u202E'
/** A browser without a graphics card, on a machine that does something else. */
const WAIT_MS = 30_000
const TAKEN_WITHIN_MS = 60_000
/** As long as a call takes to be shown. */
const RINGS_MS = 8_000

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

/** Runs in a page before all else: its connection for what a call tells can be lost, and be had again. */
const LOSABLE_EVENTS = `
  const fetched = window.fetch
  let lost = new AbortController()
  window.loseEvents = () => lost.abort()
  window.allowEvents = () => { lost = new AbortController() }
  window.fetch = (address, options) => String(address).endsWith('/events')
    ? fetched(address, { ...options, signal: AbortSignal.any([options.signal, lost.signal]) })
    : fetched(address, options)
`

/** Runs in a page before all else: it can be put behind others, which it never is in a browser without windows. */
const HIDEABLE = `
  let isBehind = false
  Object.defineProperty(document, 'hidden', { get: () => isBehind })
  Object.defineProperty(document, 'visibilityState', { get: () => (isBehind ? 'hidden' : 'visible') })
  window.putBehind = (is) => {
    isBehind = is
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
  }
`
/** Runs in a page before all else: what is read out of what was said again as it grows, and how often words have come at all. */
const LISTENING = `
  window.grown = []
  window.seen = 0
  new MutationObserver((changes) => {
    for (const { type, target } of changes) {
      if (type !== 'characterData' || !target.parentElement?.closest('[aria-label="What was said"]')) continue
      seen += 1
      if (target.parentElement.closest('[aria-live=polite]')) grown.push(target.data)
    }
  }).observe(document, { subtree: true, characterData: true })
`
const putBehind = (page: Page, is: boolean) => page.evaluate(`putBehind(${is})`)
/** After which a page that nobody looks at is left. */
const AWAY_MS = 10_000
/** As many as a browser opens to one service. */
const CONNECTIONS = 6
/** More than a page has at the live calls for one that has moved. */
const LOOKS_BEFORE = 12

/** Somebody rings the demo number and stays on the line. */
async function ring(): Promise<void> {
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

/** A page of whoever has logged in, in a browser of its own or the usual one. `prepare` runs in it before all else. */
async function visit(
  path: string,
  { prepare, browser }: { prepare?: string; browser?: TestChromium } = {},
): Promise<WatchedPage> {
  const context = await (browser ?? dashboard).context({ width: 1280, colorScheme: 'light' })
  context.setDefaultTimeout(WAIT_MS)
  if (prepare !== undefined) await context.addInitScript(prepare)
  const { page, faults } = await dashboard.visit(context, path)
  await page.getByLabel('User name or e-mail').fill(LOGIN.username)
  await page.locator('input[type=password]').fill(LOGIN.password)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByRole('heading', { level: 1 }).waitFor()
  return { page, faults }
}

/** Of a call that is just over something may still be asked, and is not there: the page knows that. */
function withoutTheEnd(faults: string[]): string[] {
  return faults.filter((fault) => !(fault.includes('404') && fault.includes('/api/v1/sessions/')))
}

/** In the colours of both, and on a telephone. */
async function faultsInAllLooks(page: Page): Promise<string[]> {
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

const REFUSING = `
  navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('Permission denied', 'NotAllowedError'))
`

/** As long as nobody's call is shown, somebody rings again. */
async function ringUntilTaken(page: Page): Promise<void> {
  const taken = async () => {
    await ring()
    const shown = page.getByRole('link', { name: '+1 202 555 0147' }).first()
    return shown.waitFor({ timeout: RINGS_MS }).then(
      () => true,
      () => false,
    )
  }
  await until(taken, { timeoutMs: TAKEN_WITHIN_MS, what: 'a call to be taken' })
}

/** Until the focus is somewhere, and what says this is in there. */
async function waitForFocusAround(page: Page, text: string): Promise<void> {
  await page.locator('body *:focus').filter({ hasText: text }).waitFor({ state: 'attached' })
}

/** Runs in a page before all else: its microphone can be unplugged. */
const UNPLUGGABLE = `
  const asked = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices)
  navigator.mediaDevices.getUserMedia = async (wanted) => {
    const stream = await asked(wanted)
    window.unplug = () => {
      for (const track of stream.getTracks()) {
        track.stop()
        track.dispatchEvent(new Event('ended'))
      }
    }
    return stream
  }
`

const GONE = { status: 404, json: { ok: false, error: 'There is no such live session.', code: 'not_found' } }

/** A live call, as the service tells of it. */
const liveSession = (stream_sid: string) => ({
  ...{ stream_sid, call_sid: 'CA1', voice_session_id: '0190b2a4-6c1e-7f00-8a3b-5d9e1c2f4a60', tenant: 'demo' },
  ...{ org_id: null, agent_name: `Robin ${RTL}`, call_type: 'inbound', customer_phone: '+12025550147', greeting: '' },
  ...{ started_at: new Date().toISOString(), state: 'talking', muted: false, taken_over: false, escalated: false },
  escalation_target: null,
})

const BYTES_PER_S = 8_000
/** Nothing for 20 ms, as the line of who listens brings it. */
const QUIET_FRAME = JSON.stringify({
  ...{ event: 'media', streamSid: 'MZ1' },
  media: { track: 'inbound', payload: Buffer.alloc(160, 0xff).toString('base64') },
})
/** For longer than a line may bring nothing. */
const STALLED_MS = 5_000

/** A microphone's file: silence while the agent greets, then words, then silence. */
async function somebodySpeaks(): Promise<string> {
  const speech = makeSpeech({ phraseBook: makePhraseBook() })
  const said = await speech.say('Good morning, I would like to order the green chair, please.', 'rms')
  await speech.close()
  const quiet = (seconds: number) => Buffer.alloc(seconds * BYTES_PER_S, 0xff)
  const heard = Buffer.concat([quiet(7), said, quiet(8)])
  const path = join(dashboard.folder, 'microphone.wav')
  await writeFile(path, stereoWav(heard, heard))
  return path
}

describe('the page to talk to an agent', () => {
  it('carries the voices of both, and shows what they say', async () => {
    const browser = await startChromium({ microphone: await somebodySpeaks() })
    try {
      const { page, faults } = await visit('/app/t/demo/talk', { browser })
      await page.getByRole('button', { name: 'Call', exact: true, disabled: false }).press('Enter')
      await page.getByText('Connected').waitFor()
      // What was pressed is gone, and what there is to do instead stands where the focus is.
      await waitForFocusAround(page, 'Mute')
      // As it calls itself, and everything else the call.
      const agent = 'Robin'
      const heard = { you: 0, agent: 0 }
      const listen = async () => {
        heard.you = Math.max(heard.you, await levelOf(page, 'You'))
        heard.agent = Math.max(heard.agent, await levelOf(page, agent))
        const turns = await page.getByRole('region', { name: 'What was said' }).getByRole('listitem').allInnerTexts()
        const said = turns.filter((text) => !text.includes('this is Robin'))
        // What a browser has made of the words is nothing that a simulated model recognises; that they were said it does.
        const isAnswered = said.some((text) => text.includes('inaudible')) && said.length > 1
        return isAnswered && heard.you > 0.05 && heard.agent > 0.05
      }
      await until(listen, { timeoutMs: TAKEN_WITHIN_MS, what: 'both to be heard, and an answer' })
      const greeting = page.getByRole('listitem').filter({ hasText: 'this is Robin at the Demo Company' })
      expect(await greeting.getByText(agent, { exact: true }).count()).toBe(1)
      await page.getByRole('button', { name: 'Hang up', disabled: false }).press('Enter')
      await page.getByRole('button', { name: 'Call', exact: true }).waitFor()
      await waitForFocusAround(page, 'Call')
      await page.getByRole('link', { name: 'Read and hear this call again' }).click()
      await page.getByText('The caller hung up').first().waitFor()
      expect(withoutTheEnd(faults)).toEqual([])
    } finally {
      await browser.close()
    }
  })

  it('says what to do when the browser keeps the microphone', async () => {
    const { page, faults } = await visit('/app/t/demo/talk', { prepare: REFUSING })
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByRole('alert').getByText('Allow it with the sign beside the address').waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    expect(faults).toEqual([])
    await page.context().close()
  })
})

describe('the pages of live calls', () => {
  it('show a call as it is spoken, and let somebody step in', async () => {
    const { page, faults } = await visit('/app/t/demo/live')
    await page.getByText('No call is going on').waitFor()
    await ringUntilTaken(page)
    await page.getByRole('listitem').filter({ hasText: 'Robin:' }).first().waitFor()
    expect(await faultsInAllLooks(page)).toEqual([])
    await page.getByRole('link', { name: '+1 202 555 0147' }).first().click()
    await page.getByText(/this is Robin at the Demo Company/).waitFor()

    await page.getByRole('button', { name: 'Listen' }).click()
    await page.getByText('You hear both sides').waitFor()
    await page.getByText(/^Connected · \d+:\d\d$/).waitFor()
    // What is read out by itself would be so each second, over what is heard on the line.
    expect(await page.getByRole('status').filter({ hasText: /\d:\d/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Stop listening' }).click()
    await page.getByRole('button', { name: 'Whisper' }).click()
    const whisper = page.getByRole('dialog', { name: 'Whisper' })
    await whisper.getByLabel('Words').fill('Offer the green chair.')
    await whisper.getByRole('button', { name: 'Whisper' }).click()
    await page.getByText('The agent was told.').waitFor()
    await whisper.waitFor({ state: 'hidden' })
    const whispered = page.getByRole('listitem').filter({ hasText: 'Offer the green chair.' })
    await whispered.getByText('Supervisor, whispered').waitFor()
    await page.getByRole('button', { name: 'Mute the agent' }).focus()
    await page.keyboard.down('Enter')
    await page.getByText('Agent muted').waitFor()
    // Neither a key that is held nor the second click of a double one takes that back.
    const unmute = page.getByRole('button', { name: 'Unmute the agent' })
    await unmute.waitFor()
    await page.keyboard.down('Enter')
    await page.keyboard.up('Enter')
    await unmute.dispatchEvent('click', { detail: 2 })
    // Who holds the key that goes on from button to button gets past it.
    await page.getByRole('button', { name: 'Note', exact: true }).focus()
    for (const _time of [1, 2]) await page.keyboard.down('Tab')
    await page.keyboard.up('Tab')
    expect(await page.locator('button:focus').textContent()).toBe('Escalate')
    expect(await faultsInAllLooks(page)).toEqual([])
    expect(await dashboard.ask('GET', '/admin/supervisor-actions?tenant_id=demo')).toMatchObject({
      actions: [
        { action: 'mute', supervisor: 'ada' },
        { action: 'whisper', supervisor: 'ada' },
      ],
    })

    const actions = '**/api/v1/sessions/*/actions'
    await page.route(actions, (route) => route.fulfill({ json: { ok: true } }))
    await page.getByRole('button', { name: 'Transfer' }).click()
    const transfer = page.getByRole('dialog', { name: 'Transfer' })
    // As the page itself writes it.
    await transfer.getByLabel('Number').fill('+1 202 555 0103')
    const asked = page.waitForRequest(actions)
    await transfer.getByRole('button', { name: 'Transfer' }).click()
    expect((await asked).postDataJSON()).toMatchObject({ action: 'transfer', target: '+12025550103' })
    await transfer.waitFor({ state: 'hidden' })
    await page.unroute(actions)

    await page.getByRole('button', { name: 'End the call' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End the call' }).click()
    await page.getByRole('link', { name: 'Read and hear it again' }).waitFor()
    await page.getByText(/^The call is over\. .+\.$/).waitFor()
    expect(await page.getByText('The call is over.').count()).toBe(1)
    expect(withoutTheEnd(faults)).toEqual([])
    await page.context().close()
  })

  it('are found by an administrator among those of all tenants, and what was done to them afterwards', async () => {
    const { page, faults } = await visit('/app/')
    await page.getByRole('link', { name: 'Live calls of all tenants' }).click()
    await page.getByRole('heading', { name: 'Live calls of all tenants' }).waitFor()
    await ringUntilTaken(page)
    const row = page.getByRole('row').filter({ hasText: '+1 202 555 0147' }).first()
    await row.getByRole('link', { name: 'Demo Company' }).waitFor()
    expect(await faultsInAllLooks(page)).toEqual([])
    await row.getByRole('link', { name: '+1 202 555 0147' }).click()
    await page.getByText(/this is Robin at the Demo Company/).waitFor()
    const streamSid = new URL(page.url()).pathname.split('/').at(-1)
    const note = { action: 'note', note: 'Wants a chair.', supervisor: 'ada' }
    await dashboard.ask('POST', `/sessions/${streamSid}/actions`, note)

    await page.goto(`${dashboard.address}/app/audit-log`)
    await page.getByRole('link', { name: 'What supervisors did to live calls' }).click()
    await page.getByLabel('Id of the stream').fill(streamSid ?? '')
    await page.getByText('One in all').waitFor()
    const action = page.getByRole('row').filter({ hasText: 'Wants a chair.' })
    await action.getByRole('link', { name: 'Demo Company' }).waitFor()
    expect(await faultsInAllLooks(page)).toEqual([])
    await action.getByRole('button', { name: 'Look' }).click()
    await page.getByRole('dialog').getByRole('link', { name: /^CA/ }).click()
    await page.getByText(/this is Robin at the Demo Company/).waitFor()
    expect(withoutTheEnd(faults)).toEqual([])
    await page.context().close()
  })

  it('have what was said read out once, at its end, and not with each of its words', async () => {
    const { page } = await visit('/app/t/demo/live', { prepare: LISTENING })
    await ringUntilTaken(page)
    await page.getByRole('link', { name: '+1 202 555 0147' }).first().click()
    const readOut = page.getByRole('region', { name: 'What was said' }).locator('[aria-live=polite]')
    await readOut.getByText(/this is Robin at the Demo Company/).waitFor()
    const streamSid = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '')
    const text = 'The green chair is yours, and it comes on Thursday in the morning.'
    await dashboard.ask('POST', `/sessions/${streamSid}/actions`, { action: 'say', text, supervisor: 'grace' })
    await readOut.getByText(text).waitFor()
    const { grown, seen } = await page.evaluate<{ grown: string[]; seen: number }>('({ grown, seen })')
    expect(grown).toEqual([])
    expect(seen).toBeGreaterThan(1)
    await dashboard.ask('POST', `/sessions/${streamSid}/actions`, { action: 'end_call', supervisor: 'grace' })
    await page.getByText('Read and hear it again').waitFor()
    await page.context().close()
  })

  it('leave somebody who reads further up where they are, and follow what is said at its end', async () => {
    const { page } = await visit('/app/t/demo/live', { prepare: LOSABLE_EVENTS })
    await ringUntilTaken(page)
    await page.getByRole('link', { name: '+1 202 555 0147' }).first().click()
    const said = page.getByRole('region', { name: 'What was said' })
    await said.getByText(/this is Robin at the Demo Company/).waitFor()
    // Of what was said a line or two is to be seen.
    await page.setViewportSize({ width: 1280, height: 160 })
    const streamSid = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '')
    const say = (text: string) =>
      dashboard.ask('POST', `/sessions/${streamSid}/actions`, { action: 'say', text, supervisor: 'grace' })
    const frame = `document.querySelector('[aria-label="What was said"]')`
    const leftPx = () => page.evaluate<number>(`${frame}.scrollHeight - ${frame}.clientHeight - ${frame}.scrollTop`)
    await say('The green chair is yours.')
    await said.getByText('The green chair is yours.').waitFor()
    await expect.poll(leftPx).toBeLessThan(2)

    const moveTo = (top: string) =>
      page.evaluate(`new Promise((seen) => { ${frame}.onscroll = () => seen(); ${frame}.scrollTo({ top: ${top} }) })`)
    const topPx = () => page.evaluate(`${frame}.scrollTop`)
    await moveTo('5')
    await say('It comes on Thursday.')
    await said.getByText('It comes on Thursday.').waitFor()
    expect(await topPx()).toBe(5)
    await moveTo(`${frame}.scrollHeight`)
    await say('In the morning.')
    await said.getByText('In the morning.').waitFor()
    await expect.poll(leftPx).toBeLessThan(2)
    // Words may come before the page is told that somebody has moved.
    await page.evaluate(`
      untold = (event) => event.stopImmediatePropagation()
      addEventListener('scroll', untold, { capture: true })
      ${frame}.scrollTo({ top: 5 })`)
    await say('By eleven.')
    await said.getByText('By eleven.').waitFor()
    expect(await topPx()).toBe(5)
    await page.evaluate(`${frame}.scrollTo({ top: ${frame}.scrollHeight })`)
    await say('At the latest.')
    await said.getByText('At the latest.').waitFor()
    await expect.poll(leftPx).toBeLessThan(2)
    await page.evaluate("removeEventListener('scroll', untold, { capture: true })")
    await moveTo('5')
    // Nor does a connection that is lost for a moment, or the end, lead them away.
    const live = page.getByText('Live', { exact: true })
    await page.evaluate('loseEvents()')
    await live.waitFor({ state: 'detached' })
    await page.evaluate('allowEvents()')
    await live.waitFor()
    expect(await topPx()).toBe(5)
    await dashboard.ask('POST', `/sessions/${streamSid}/actions`, { action: 'end_call', supervisor: 'grace' })
    await page.getByText('Read and hear it again').waitFor()
    expect(await topPx()).toBe(5)
    await page.context().close()
  })

  it('keep the words that somebody writes when the call ends', async () => {
    const { page } = await visit('/app/t/demo/live')
    await ringUntilTaken(page)
    await page.getByRole('link', { name: '+1 202 555 0147' }).first().click()
    await page.getByRole('button', { name: 'Note' }).click()
    const note = page.getByRole('dialog', { name: 'Note' })
    await note.getByRole('textbox').fill('Wants the green chair.')
    const streamSid = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '')
    await dashboard.ask('POST', `/sessions/${streamSid}/actions`, { action: 'end_call', supervisor: 'grace' })
    await page.getByText('Read and hear it again').waitFor()
    expect(await note.getByRole('textbox').inputValue()).toBe('Wants the green chair.')
    await note.getByRole('button', { name: 'Note' }).click()
    await note.getByRole('alert').waitFor()
    await note.getByRole('button', { name: 'Cancel' }).click()
    await note.waitFor({ state: 'hidden' })
    expect(await page.getByRole('button', { name: 'Whisper' }).count()).toBe(0)
    await page.context().close()
  })

  it('go on with what is said when the session has ended and somebody has logged in again', async () => {
    const { page } = await visit('/app/t/demo/live')
    await ringUntilTaken(page)
    await page.getByRole('link', { name: '+1 202 555 0147' }).first().click()
    await page.getByText(/this is Robin at the Demo Company/).waitFor()
    const streamSid = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '')
    const act = (asked: object) =>
      dashboard.ask('POST', `/sessions/${streamSid}/actions`, { supervisor: 'grace', ...asked })
    const headers = { origin: dashboard.address }
    await page.context().request.post(`${dashboard.address}/api/v1/admin/auth/logout`, { headers })
    const login = page.getByRole('dialog', { name: 'Log in again' })
    await login.getByLabel('User name or e-mail').fill(LOGIN.username)
    await login.locator('input[type=password]').fill(LOGIN.password)
    await login.getByRole('button', { name: 'Log in', exact: true }).click()
    await login.waitFor({ state: 'hidden' })
    await act({ action: 'say', text: 'The green chair is yours.' })
    await page.getByText('The green chair is yours.').first().waitFor()
    await act({ action: 'end_call' })
    await page.getByText('Read and hear it again').waitFor()
    await page.context().close()
  })

  it('leave the connections of tabs that nobody looks at to others, and show what was said meanwhile to whoever is back', async () => {
    const { page } = await visit('/app/t/demo/live', { prepare: HIDEABLE })
    await ringUntilTaken(page)
    await page.getByRole('link', { name: '+1 202 555 0147' }).first().click()
    const greeting = /this is Robin at the Demo Company/
    await page.getByText(greeting).waitFor()
    const [address, context] = [page.url(), page.context()]
    await context.clock.install()
    const tabs = [page]
    while (tabs.length < CONNECTIONS) {
      const tab = await context.newPage()
      await tab.goto(address)
      await tab.getByText(greeting).waitFor()
      tabs.push(tab)
    }
    for (const tab of tabs) await putBehind(tab, true)
    await context.clock.fastForward(AWAY_MS)
    const looked = await context.newPage()
    await looked.goto(address)
    await looked.getByText(greeting).waitFor()
    const streamSid = decodeURIComponent(new URL(address).pathname.split('/').at(-1) ?? '')
    const act = (asked: object) =>
      dashboard.ask('POST', `/sessions/${streamSid}/actions`, { supervisor: 'grace', ...asked })
    await act({ action: 'say', text: 'The green chair is yours.' })
    await looked.getByText('The green chair is yours.').first().waitFor()
    const again = page.waitForRequest((request) => request.url().endsWith('/events'))
    await putBehind(page, false)
    expect(Number((await again).headers()['last-event-id'])).toBeGreaterThan(0)
    await page.getByText('The green chair is yours.').first().waitFor()
    await act({ action: 'end_call' })
    await context.close()
  })

  it('leave the connections of the browser to all else, in however many windows somebody looks at calls, and all of them show what is said', async () => {
    const { page } = await visit('/app/t/demo/live')
    await ringUntilTaken(page)
    await page.getByRole('link', { name: '+1 202 555 0147' }).first().click()
    const greeting = /this is Robin at the Demo Company/
    await page.getByText(greeting).waitFor()
    const windows = [page]
    while (windows.length <= CONNECTIONS) {
      const window = await page.context().newPage()
      await window.goto(page.url())
      await window.getByText(greeting).waitFor()
      windows.push(window)
    }
    const streamSid = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '')
    const act = (asked: object) =>
      dashboard.ask('POST', `/sessions/${streamSid}/actions`, { supervisor: 'grace', ...asked })
    await act({ action: 'say', text: 'The green chair is yours.' })
    for (const window of windows) await window.getByText('The green chair is yours.').first().waitFor()
    // Those that are closed leave their places to the others.
    for (const window of windows.splice(0, 4)) await window.close()
    await act({ action: 'say', text: 'The blue one as well.' })
    for (const window of windows) await window.getByText('The blue one as well.').first().waitFor()
    await act({ action: 'end_call' })
    for (const window of windows) await window.getByText('Read and hear it again').waitFor()
    await windows[0]?.context().close()
  })

  it('tell whoever is back what was said, and that the call is over, where its events are not kept any more', async () => {
    const { page } = await visit('/app/t/demo/live', { prepare: HIDEABLE })
    const session = liveSession('MZ1')
    const turn = (seq: number, text: string) => ({
      ...{ seq, role: 'caller', text, unheard: '', start_ms: seq * 1_000, end_ms: seq * 1_000 + 500 },
      ...{ interrupted: false, agent_name: null, cost_usd: null, timeline: null },
    })
    const told = { ...turn(1, 'Good morning.'), item_id: 'i1' }
    const begun = { item_id: 'i2', role: 'caller', text: 'I would' }
    const events = `id: 1\nevent: turn\ndata: ${JSON.stringify(told)}\n\nid: 2\nevent: turn_delta\ndata: ${JSON.stringify(begun)}\n\n`
    const stream = { contentType: 'text/event-stream', body: events }
    let isOver = false
    await page.route('**/api/v1/sessions/active', (route) =>
      route.fulfill({ json: { ok: true, count: 0, sessions: [] } }),
    )
    await page.route('**/api/v1/sessions/MZ1', (route) =>
      route.fulfill(isOver ? GONE : { json: { ok: true, session } }),
    )
    await page.route('**/api/v1/sessions/MZ1/events', (route) => route.fulfill(isOver ? GONE : stream))
    const transcript = [turn(1, 'Good morning.'), turn(2, 'I would like the green chair.'), turn(3, 'Goodbye.')]
    await page.route(`**/api/v1/voice-sessions/${session.voice_session_id}`, (route) =>
      route.fulfill({ json: { ok: true, voice_session: { id: session.voice_session_id, transcript } } }),
    )
    await page.clock.install()
    await page.goto(`${dashboard.address}/app/t/demo/live/MZ1`)
    // The stream that was answered at once is asked for again and again, and tells the same.
    await page.getByText(/^I would/).waitFor()
    await putBehind(page, true)
    await page.clock.fastForward(AWAY_MS)
    isOver = true
    await putBehind(page, false)
    await page.getByText('The call is over.').waitFor()
    await page.getByText('Goodbye.').waitFor()
    const said = page.getByRole('region', { name: 'What was said' }).getByRole('paragraph')
    expect(await said.allInnerTexts()).toEqual(transcript.map(({ text }) => text))
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.context().close()
  })

  it('let somebody take a call over, speak with the caller, and hand it back', async () => {
    const browser = await startChromium({ microphone: await somebodySpeaks() })
    try {
      const { page, faults } = await visit('/app/t/demo/live', { browser })
      await ringUntilTaken(page)
      await page.getByRole('link', { name: '+1 202 555 0147' }).first().click()
      await page.getByText(/this is Robin at the Demo Company/).waitFor()
      await page.getByRole('button', { name: 'Take over' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Take over' }).click()
      await page.getByText('You speak with the caller.').waitFor()
      await page.getByText('Connected').waitFor()
      await page.getByText('A person speaks').waitFor()
      await page.getByRole('main').getByText('ada', { exact: true }).waitFor()
      const isHeard = async () => (await levelOf(page, 'You')) > 0.05
      await until(isHeard, { timeoutMs: TAKEN_WITHIN_MS, what: 'whoever took over to be heard' })
      await page.getByRole('button', { name: 'Hand back to the agent' }).click()
      await page.getByText('A person speaks').waitFor({ state: 'hidden' })
      await page.getByRole('button', { name: 'Take over' }).waitFor()

      for (const [name, field] of [
        ['Whisper', 'Words'],
        ['Note', 'Note'],
        ['Escalate', 'To whom'],
      ] as const) {
        await page.getByRole('button', { name, exact: true }).click()
        const asked = page.getByRole('dialog', { name })
        await asked.getByLabel(field).fill(HOSTILE)
        await asked.getByRole('button', { name, exact: true }).click()
        await asked.waitFor({ state: 'hidden' })
      }
      expect(await page.locator('main img, main script').count()).toBe(0)
      await page.getByRole('button', { name: 'End the call' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'End the call' }).click()
      await page.getByRole('link', { name: 'Read and hear it again' }).waitFor()
      type Taken = { actions: { action: string }[] }
      const { actions } = await dashboard.ask<Taken>('GET', '/admin/supervisor-actions?tenant_id=demo')
      expect(actions.map(({ action }) => action)).toEqual(
        expect.arrayContaining(['takeover', 'release', 'whisper', 'note', 'escalate']),
      )
      expect(withoutTheEnd(faults)).toEqual([])
    } finally {
      await browser.close()
    }
  })

  it('tell who listens that nothing comes any more over a line whose end nobody tells', async () => {
    const { page } = await visit('/app/t/demo/live')
    const session = liveSession('MZ1')
    await page.route('**/api/v1/sessions/MZ1', (route) => route.fulfill({ json: { ok: true, session } }))
    await page.route('**/api/v1/sessions/MZ1/events', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: '' }),
    )
    const granted = { ok: true, stream_url: 'wss://parley.example/media-stream', stream_token: 'a-token' }
    await page.route('**/api/v1/sessions/MZ1/listen', (route) => route.fulfill({ json: granted }))
    const lines: { send(text: string): void }[] = []
    await page.routeWebSocket('**/media-stream*', (line) => {
      lines.push(line)
      line.send(QUIET_FRAME)
    })
    await page.clock.install()
    await page.goto(`${dashboard.address}/app/t/demo/live/MZ1`)
    await page.getByRole('button', { name: 'Listen' }).click()
    await page.getByText('Connected').waitFor()
    await page.clock.fastForward(STALLED_MS)
    const stalled = page.getByRole('status').getByText('Nothing comes over the line now')
    await stalled.waitFor()
    // It is as it was as soon as something comes again.
    lines[0]?.send(QUIET_FRAME)
    await page.getByText('Connected').waitFor()
    expect(await stalled.count()).toBe(0)
    await page.context().close()
  })

  it('ask before somebody is cut off who speaks with the caller, and tell them when their microphone is gone', async () => {
    const browser = await startChromium({ microphone: await somebodySpeaks() })
    try {
      const { page } = await visit('/app/t/demo/live', { browser, prepare: UNPLUGGABLE })
      await ringUntilTaken(page)
      await page.getByRole('link', { name: '+1 202 555 0147' }).first().click()
      await page.getByRole('button', { name: 'Take over' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Take over' }).click()
      await page.getByText('Connected').waitFor()
      // Not by a link of the page,
      await page.getByRole('link', { name: 'Desk', exact: true }).click()
      const leaving = page.getByRole('dialog', { name: 'Leave while you are on the line?' })
      await leaving.getByRole('button', { name: 'Stay on the line' }).click()
      await leaving.waitFor({ state: 'hidden' })
      // nor by one click of somebody else.
      const other = await page.context().newPage()
      await other.goto(page.url())
      const handBack = other.getByRole('button', { name: 'Hand back to the agent' })
      await handBack.click()
      const asked = other.getByRole('dialog', { name: 'Hand back to the agent?' })
      await asked.getByRole('button', { name: 'Cancel' }).click()
      await asked.waitFor({ state: 'hidden' })
      await page.getByText('You speak with the caller.').waitFor()
      await page.evaluate('unplug()')
      await page.getByRole('alert').getByText('The microphone is gone').waitFor()
      const takeOver = page.getByRole('button', { name: 'Take over' })
      await takeOver.waitFor()
      const [told, below] = await Promise.all([page.getByRole('alert').boundingBox(), takeOver.boundingBox()])
      expect((below?.y ?? 0) - (told?.y ?? 0) - (told?.height ?? 0)).toBeGreaterThan(0)
      await handBack.waitFor({ state: 'hidden' })
      const streamSid = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '')
      await dashboard.ask('POST', `/sessions/${streamSid}/actions`, { action: 'end_call', supervisor: 'grace' })
    } finally {
      await browser.close()
    }
  })

  it.each([
    ['moved to another node', 'id: 1\nevent: moved\ndata: {"call_sid":"CA1"}\n\n'],
    ['goes on at another node than the one that was lost', ''],
  ])('lead to where a call has gone that %s', async (_how, told) => {
    const { page, faults } = await visit('/app/t/demo/live')
    await page.getByRole('heading', { name: 'Live calls' }).waitFor()
    let at = 'MZ1'
    await page.route('**/api/v1/sessions/active', (route) =>
      route.fulfill({ json: { ok: true, count: 1, sessions: [liveSession(at)] } }),
    )
    for (const sid of ['MZ1', 'MZ2'])
      await page.route(`**/api/v1/sessions/${sid}`, (route) =>
        route.fulfill(sid === at ? { json: { ok: true, session: liveSession(sid) } } : GONE),
      )
    await page.route('**/api/v1/sessions/*/events', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: route.request().url().includes('MZ1') ? told : '' }),
    )
    await page.clock.install()
    await page.goto(`${dashboard.address}/app/t/demo/live`)
    // Whoever has looked at all of them for a while is led there as well.
    for (let looks = 0; looks < LOOKS_BEFORE; looks += 1) {
      const look = page.waitForResponse('**/api/v1/sessions/active')
      await page.clock.fastForward(2_000)
      await look
    }
    await page.getByRole('link', { name: '+1 202 555 0147' }).click()
    const heading = page.getByRole('heading', { level: 1 })
    await heading.getByText('+1 202 555 0147').waitFor()
    expect(await heading.locator('bdi').textContent()).toBe(`Robin ${RTL}`)
    await expect.poll(() => page.title()).toBe('+1 202 555 0147 · Robin · Parley')
    if (told !== '') await page.getByText('The call moves to another node.').waitFor()
    at = 'MZ2'
    await page.getByRole('link', { name: 'Go there' }).click()
    await page.getByRole('button', { name: 'Take over' }).waitFor()
    await page.waitForURL('**/app/t/demo/live/MZ2')
    expect(faults.filter((fault) => !fault.includes('404'))).toEqual([])
    await page.context().close()
  })

  it('show a text as it is, whatever it would do as HTML', async () => {
    const { page, faults } = await visit('/app/t/demo/live')
    const session = {
      ...{
        stream_sid: 'MZ1',
        call_sid: 'CA1',
        voice_session_id: '0190b2a4-6c1e-7f00-8a3b-5d9e1c2f4a60',
        tenant: 'demo',
      },
      ...{ org_id: null, agent_name: HOSTILE, call_type: 'inbound', customer_phone: HOSTILE, greeting: HOSTILE },
      ...{ started_at: new Date().toISOString(), state: 'talking', muted: false, taken_over: false, escalated: false },
      ...{ escalation_target: null, last_words: { role: 'caller', text: HOSTILE } },
    }
    const turn = {
      item_id: 'i1',
      seq: 1,
      role: 'caller',
      text: HOSTILE,
      unheard: HOSTILE,
      start_ms: 0,
      interrupted: false,
    }
    const events = [
      ['turn', turn],
      ['tool', { call_id: 'c1', name: HOSTILE, status: HOSTILE }],
      ['ended', { end_reason: HOSTILE }],
    ].map(([event, data], index) => `id: ${index + 1}\nevent: ${String(event)}\ndata: ${JSON.stringify(data)}\n\n`)
    await page.route('**/api/v1/sessions/active', (route) =>
      route.fulfill({ json: { ok: true, count: 1, sessions: [session] } }),
    )
    await page.route('**/api/v1/sessions/MZ1', (route) => route.fulfill({ json: { ok: true, session } }))
    const stream = { contentType: 'text/event-stream', body: events.join('') }
    await page.route('**/api/v1/sessions/MZ1/events', (route) => route.fulfill(stream))
    await page.getByRole('listitem').getByText(HOSTILE.slice(0, 28)).first().waitFor()
    await page.goto(`${dashboard.address}/app/t/demo/live/MZ1`)
    await page.getByRole('list', { name: 'Tools' }).getByText(HOSTILE.slice(0, 28)).first().waitFor()
    // What is over goes on no longer.
    const head = page.locator('main header')
    await head.getByText('Ended', { exact: true }).waitFor()
    expect(await head.getByText(/\d:\d\d$/).count()).toBe(0)
    expect(await page.locator('main img, main script').count()).toBe(0)
    expect(faults).toEqual([])
    await page.context().close()
  })
})
