import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { startChromium } from './harness/chromium.ts'
import { HOSTILE } from './harness/hostile.ts'
import { levelOf } from './harness/level.ts'
import {
  openFirstCall,
  somebodySpeaks,
  TAKEN_WITHIN_MS,
  useLiveDashboard,
  waitForFocusAround,
  withoutTheEnd,
} from './harness/live-dashboard.ts'
import { until } from './harness/wait.ts'

const { dashboard, visit, ringUntilTaken } = useLiveDashboard()

const REFUSING = `
  navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('Permission denied', 'NotAllowedError'))
`

/** As Firefox is where there is nothing to play a sound on: it waits, and says nothing. */
const SOUNDLESS = `
  AudioContext.prototype.resume = () => new Promise(() => {})
`

/** Runs in a page before all else: its sound can be stopped, as a telephone does that rings. */
const STOPPABLE = `
  const Given = AudioContext
  window.AudioContext = class extends Given {
    constructor() {
      super()
      window.sound = this
    }
  }
`

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

/** What is asked for every 2 s is asked for no more by itself. */
const SELDOM = `
  const every = window.setInterval.bind(window)
  window.setInterval = (work, ms, ...given) => every(work, ms === 2_000 ? 3_600_000 : ms, ...given)
`

/** A machine that is busy takes no call, and the page says so: then somebody presses once more. */
async function callUntilTaken(page: Page): Promise<void> {
  const connected = page.getByText('Connected')
  const taken = async () => {
    await page.getByRole('button', { name: 'Call', exact: true, disabled: false }).press('Enter')
    await connected.or(page.getByRole('alert')).first().waitFor()
    return connected.isVisible()
  }
  await until(taken, { timeoutMs: TAKEN_WITHIN_MS, what: 'the call to be taken' })
}

describe('the page to talk to an agent', () => {
  it('carries the voices of both, and shows what they say', async () => {
    const browser = await startChromium({ microphone: await somebodySpeaks(dashboard) })
    try {
      const { page, faults } = await visit('/app/t/demo/talk', { browser })
      await callUntilTaken(page)
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
      await page.getByText('Placed byada').waitFor()
      // Of a call that was not taken a browser tells, too.
      expect(withoutTheEnd(faults).filter((fault) => !fault.includes('503'))).toEqual([])
    } finally {
      await browser.close()
    }
  })

  it('goes on when the browser has stopped its sound, as a telephone does that rings', async () => {
    const browser = await startChromium({ microphone: await somebodySpeaks(dashboard) })
    try {
      const { page, faults } = await visit('/app/t/demo/talk', { browser, prepare: STOPPABLE })
      await callUntilTaken(page)
      await page.evaluate('sound.suspend()')
      const isSounding = () => page.evaluate(`sound.state === 'running'`)
      await until(isSounding, { timeoutMs: TAKEN_WITHIN_MS, what: 'the sound to go on' })
      await page.getByText('Connected').waitFor()
      await page.getByRole('button', { name: 'Hang up', disabled: false }).press('Enter')
      await page.getByRole('link', { name: 'Read and hear this call again' }).waitFor()
      expect(withoutTheEnd(faults).filter((fault) => !fault.includes('503'))).toEqual([])
    } finally {
      await browser.close()
    }
  })

  it('leaves no call behind when somebody hangs up before it is there', async () => {
    const browser = await startChromium({ microphone: await somebodySpeaks(dashboard) })
    try {
      const { page } = await visit('/app/t/demo/talk', { browser })
      let [callSid, isLeft] = ['', false]
      page.on('websocket', (socket) => {
        if (socket.url().includes('/media-stream')) socket.on('close', () => (isLeft = true))
      })
      await page.route('**/browser-calls', async (route) => {
        const response = await route.fetch()
        if (response.ok()) callSid = ((await response.json()) as { call_sid: string }).call_sid
        await page.getByRole('button', { name: 'Hang up' }).press('Enter')
        await route.fulfill({ response })
      })
      const isOpened = async () => {
        await page.getByRole('button', { name: 'Call', exact: true, disabled: false }).press('Enter')
        await page.waitForResponse('**/browser-calls')
        return callSid !== ''
      }
      await until(isOpened, { timeoutMs: TAKEN_WITHIN_MS, what: 'a call to be opened' })
      await until(() => isLeft, { timeoutMs: TAKEN_WITHIN_MS, what: 'the page to leave it' })
      await page.goto(new URL(`/app/t/demo/calls/${callSid}`, page.url()).href)
      await page.getByText('Canceled').first().waitFor()
    } finally {
      await browser.close()
    }
  })

  it('hangs up when its page is loaded anew', async () => {
    const browser = await startChromium({ microphone: await somebodySpeaks(dashboard) })
    try {
      const { page } = await visit('/app/t/demo/talk', { browser })
      let callSid = ''
      page.on('response', async (response) => {
        const isOpened = response.url().endsWith('/browser-calls') && response.ok()
        if (isOpened) callSid = ((await response.json()) as { call_sid: string }).call_sid
      })
      await callUntilTaken(page)
      await page.reload()
      await page.goto(new URL(`/app/t/demo/calls/${callSid}`, page.url()).href)
      await page.getByText('The caller hung up').first().waitFor()
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

  it('offers an agent of which nothing is among the newest versions of its tenant', async () => {
    const { page, faults } = await visit('/app/t/demo/live')
    // As many of another agent as are read at once.
    const version = (n: number) => ({ id: `${n}`, agent_id: 'another', version_number: n, status: 'draft', config: {} })
    const json = { ok: true, count: 500, versions: Array.from({ length: 500 }, (_, n) => version(n)), next_cursor: 'x' }
    await page.route('**/agent-versions?limit=500', (route) => route.fulfill({ json }))
    await page.getByRole('link', { name: 'Talk', exact: true }).click()
    await page
      .getByLabel('Version')
      .locator('option', { hasText: 'Version 1, published' })
      .waitFor({ state: 'attached' })
    expect(await page.getByLabel('Version').locator('option:checked').textContent()).toBe('What callers get')
    await page.getByRole('button', { name: 'Call', exact: true, disabled: false }).waitFor()
    expect(faults).toEqual([])
    await page.context().close()
  })

  it('says what to do when the browser plays no sound', async () => {
    const { page, faults } = await visit('/app/t/demo/talk', { prepare: SOUNDLESS })
    const call = page.getByRole('button', { name: 'Call', exact: true })
    await call.waitFor()
    await page.clock.install()
    await call.click()
    await page.getByText('Connecting…').waitFor()
    await page.clock.fastForward(10_000)
    await page.getByRole('alert').getByText('Connect a loudspeaker or headphones').waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    expect(faults).toEqual([])
    await page.context().close()
  })
})

describe('the page of a live call', () => {
  it('lets somebody take a call over, speak with the caller, and hand it back', async () => {
    const browser = await startChromium({ microphone: await somebodySpeaks(dashboard) })
    try {
      const { page, faults } = await visit('/app/t/demo/live', { browser })
      await ringUntilTaken(page)
      // That somebody has the call, and has it no more, is told by the call itself.
      await page.evaluate(SELDOM)
      await openFirstCall(page)
      await page.getByRole('button', { name: 'Take over' }).press('Enter')
      await page.getByRole('dialog').getByRole('button', { name: 'Take over' }).press('Enter')
      await page.getByText('You speak with the caller.').waitFor()
      // What was pressed is gone, with the window that it opened.
      await page.locator('div:focus').getByRole('button', { name: 'Hand back to the agent' }).waitFor()
      await page.getByText('Connected').waitFor()
      await page.getByText('A person speaks').waitFor()
      // A button that says what it does now, and that it is pressed, would say both of itself.
      await page.getByRole('button', { name: 'Mute', exact: true }).press('Enter')
      const unmute = page.getByRole('button', { name: 'Unmute', exact: true })
      expect(await unmute.getAttribute('aria-pressed')).toBeNull()
      await unmute.press('Enter')
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

  it('asks before somebody is cut off who speaks with the caller, and tells them so, and when their microphone is gone', async () => {
    const browser = await startChromium({ microphone: await somebodySpeaks(dashboard) })
    try {
      const { page } = await visit('/app/t/demo/live', { browser, prepare: UNPLUGGABLE })
      await ringUntilTaken(page)
      const streamSid = await openFirstCall(page)
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
      await handBack.click()
      await asked.getByRole('button', { name: 'Hand back to the agent' }).click()
      await page.getByRole('alert').getByText('The caller does not hear you any more').waitFor()
      await page.getByRole('button', { name: 'Take over' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Take over' }).click()
      await page.getByText('Connected').waitFor()
      await page.evaluate('unplug()')
      await page.getByRole('alert').getByText('The microphone is gone').waitFor()
      const takeOver = page.getByRole('button', { name: 'Take over' })
      await takeOver.waitFor()
      const [told, below] = await Promise.all([page.getByRole('alert').boundingBox(), takeOver.boundingBox()])
      expect((below?.y ?? 0) - (told?.y ?? 0) - (told?.height ?? 0)).toBeGreaterThan(0)
      await handBack.waitFor({ state: 'hidden' })
      await dashboard.ask('POST', `/sessions/${streamSid}/actions`, { action: 'end_call', supervisor: 'grace' })
    } finally {
      await browser.close()
    }
  })
})
