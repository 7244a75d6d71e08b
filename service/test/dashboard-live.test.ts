import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { LOGIN } from './harness/dashboard.ts'
import {
  AWAY_MS,
  faultsInAllLooks,
  HIDEABLE,
  openFirstCall,
  putBehind,
  saidIn,
  useLiveDashboard,
  withoutTheEnd,
} from './harness/live-dashboard.ts'

const { dashboard, visit, ringUntilTaken } = useLiveDashboard()

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

/** Marks what is read out when something comes into it: what comes itself is not, in most browsers. */
const MARK_READ_OUT = `for (const told of document.querySelectorAll('output')) told.setAttribute('data-there', '')`
const markedAsReadOut = (page: Page) => page.locator('output[data-there]')

/** As many as a browser opens to one service. */
const CONNECTIONS = 6

describe('the pages of live calls', () => {
  it('show a call as it is spoken, and let somebody step in', async () => {
    const { page, faults } = await visit('/app/t/demo/live')
    await page.getByText('No call is going on').waitFor()
    await ringUntilTaken(page)
    await page.getByRole('listitem').filter({ hasText: 'Robin:' }).first().waitFor()
    expect(await faultsInAllLooks(page)).toEqual([])
    await openFirstCall(page)

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
    const streamSid = await openFirstCall(page)
    const note = { action: 'note', note: 'Wants a chair.', supervisor: 'ada' }
    await dashboard.ask('POST', `/sessions/${streamSid}/actions`, note)

    await page.goto(`${dashboard.address}/app/audit-log`)
    await page.getByRole('link', { name: 'What supervisors did to live calls' }).click()
    await page.getByLabel('Id of the stream').fill(streamSid)
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
    const streamSid = await openFirstCall(page)
    const readOut = saidIn(page).locator('[aria-live=polite]')
    await readOut.getByText(/this is Robin at the Demo Company/).waitFor()
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

  it('have it read out when a call has come, and when it is over', async () => {
    const { page } = await visit('/app/t/demo/live')
    const count = page.getByRole('status').getByText(/call/)
    await count.waitFor({ state: 'attached' })
    await page.evaluate(MARK_READ_OUT)
    await ringUntilTaken(page)
    await markedAsReadOut(page)
      .getByText(/^(One call|\d+ calls)$/)
      .waitFor()
    const streamSid = await openFirstCall(page)
    await page.evaluate(MARK_READ_OUT)
    await dashboard.ask('POST', `/sessions/${streamSid}/actions`, { action: 'end_call', supervisor: 'grace' })
    await markedAsReadOut(page).getByText('Read and hear it again').waitFor()
    await markedAsReadOut(page)
      .getByText(/^The call is over\./)
      .waitFor()
    await page.context().close()
  })

  it('leave somebody who reads further up where they are, and follow what is said at its end', async () => {
    const { page } = await visit('/app/t/demo/live', { prepare: LOSABLE_EVENTS })
    await ringUntilTaken(page)
    const streamSid = await openFirstCall(page)
    const said = saidIn(page)
    // Of what was said a line or two is to be seen.
    await page.setViewportSize({ width: 1280, height: 160 })
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
    const streamSid = await openFirstCall(page)
    await page.getByRole('button', { name: 'Note' }).click()
    const note = page.getByRole('dialog', { name: 'Note' })
    await note.getByRole('textbox').fill('Wants the green chair.')
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
    const streamSid = await openFirstCall(page)
    const act = (asked: object) =>
      dashboard.ask('POST', `/sessions/${streamSid}/actions`, { supervisor: 'grace', ...asked })
    const headers = { origin: dashboard.address }
    await page.context().request.post(`${dashboard.address}/api/v1/admin/auth/logout`, { headers })
    const login = page.getByRole('dialog', { name: 'Log in again' })
    // It begins in its first field: what is written into the other before that goes into this one.
    await login.locator('*:focus').waitFor()
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
    const streamSid = await openFirstCall(page)
    const greeting = /this is Robin at the Demo Company/
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
    const streamSid = await openFirstCall(page)
    const greeting = /this is Robin at the Demo Company/
    const windows = [page]
    while (windows.length <= CONNECTIONS) {
      const window = await page.context().newPage()
      await window.goto(page.url())
      await window.getByText(greeting).waitFor()
      windows.push(window)
    }
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
})
