import { describe, expect, it } from 'vitest'
import { HOSTILE } from './harness/hostile.ts'
import { AWAY_MS, GONE, HIDEABLE, liveSession, putBehind, RTL, useLiveDashboard } from './harness/live-dashboard.ts'

const { dashboard, visit } = useLiveDashboard()

/** More than a page has at the live calls for one that has moved. */
const LOOKS_BEFORE = 12
/** Nothing for 20 ms, as the line of who listens brings it. */
const QUIET_FRAME = JSON.stringify({
  ...{ event: 'media', streamSid: 'MZ1' },
  media: { track: 'inbound', payload: Buffer.alloc(160, 0xff).toString('base64') },
})
/** For longer than a line may bring nothing. */
const STALLED_MS = 5_000
/** After which it is looked again whether it does. */
const LOOKS_MS = 500
const A_MINUTE_MS = 60_000

/** What these pages are told is made up: nobody calls. */
describe('the pages of live calls', () => {
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

  it('say of a call that is over neither that somebody speaks in it nor that its agent is muted', async () => {
    const { page } = await visit('/app/t/demo/live')
    const session = { ...liveSession('MZ1'), muted: true, taken_over: true, taken_over_by: 'grace' }
    const event = (id: number, name: string, data: object) =>
      `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`
    let told = event(1, 'state', { state: 'talking', muted: true, taken_over: true })
    await page.route('**/api/v1/sessions/active', (route) =>
      route.fulfill({ json: { ok: true, count: 0, sessions: [] } }),
    )
    await page.route('**/api/v1/sessions/MZ1', (route) => route.fulfill({ json: { ok: true, session } }))
    await page.route('**/api/v1/sessions/MZ1/events', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: told }),
    )
    await page.goto(`${dashboard.address}/app/t/demo/live/MZ1`)
    const badges = page.getByText(/^(A person speaks|Agent muted)$/)
    await expect.poll(() => badges.count()).toBe(2)
    told = event(2, 'ended', { end_reason: 'caller_hangup', duration_ms: 1_000 })
    await page.getByText('Ended', { exact: true }).waitFor()
    expect(await badges.count()).toBe(0)
    await page.context().close()
  })

  /** A page on which a line is open, whose time stands but for the test: a busy machine would find the line stalled while it looks. */
  async function listening() {
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
    await page.getByRole('button', { name: 'Listen' }).waitFor()
    await page.clock.pauseAt(Date.now() + A_MINUTE_MS)
    await page.getByRole('button', { name: 'Listen' }).click()
    await page.getByText('Connected').waitFor()
    return { page, lines }
  }

  it('tell who listens that the browser has stopped the sound, while the line itself goes on', async () => {
    const { page, lines } = await listening()
    const stopped = page.getByRole('status').getByText('The browser has stopped the sound')
    const goesOn = async (state: string) => {
      const prototype = 'BaseAudioContext.prototype'
      await page.evaluate(`Object.defineProperty(${prototype}, 'state', { get: () => '${state}', configurable: true })`)
      lines[0]?.send(QUIET_FRAME)
      await page.clock.runFor(LOOKS_MS)
      return [await page.getByText('Connected').count(), await stopped.count()]
    }
    await expect.poll(() => goesOn('suspended')).toEqual([0, 1])
    await expect.poll(() => goesOn('running')).toEqual([1, 0])
    await page.context().close()
  })

  it('tell who listens that nothing comes any more over a line whose end nobody tells', async () => {
    const { page, lines } = await listening()
    await page.clock.runFor(STALLED_MS)
    const stalled = page.getByRole('status').getByText('Nothing comes over the line now')
    await stalled.waitFor()
    // It is as it was as soon as something comes again.
    const comesAgain = async () => {
      lines[0]?.send(QUIET_FRAME)
      await page.clock.runFor(LOOKS_MS)
      return [await page.getByText('Connected').count(), await stalled.count()]
    }
    await expect.poll(comesAgain).toEqual([1, 0])
    await page.context().close()
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
