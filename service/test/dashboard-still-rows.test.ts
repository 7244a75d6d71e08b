import { beforeAll, describe, expect, it, vi } from 'vitest'
import { useDashboard } from './harness/dashboard.ts'
import { WIDE } from './harness/looks.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const dashboard = useDashboard({ settings: { SIMULATOR: 'off', SWEEP_INTERVAL_SECONDS: '0' }, tenant: 'acme' })

const ask = (method: string, path: string, body?: unknown) => dashboard.ask(method, path, body)

beforeAll(async () => {
  await ask('PUT', '/admin/tenants/acme', { tenant_id: 'acme', name: 'Acme' })
})

async function visit(path: string) {
  const context = await dashboard.loggedIn(WIDE)
  const { page } = await dashboard.visit(context, `/app/${path}`)
  return { context, page }
}

/** After which whoever does not move their pointer is taken to aim at nothing. */
const AIMS_FOR_MS = 2_000
/** After which the wall is read again. */
const WALL_READ_MS = 2_000

describe('the wall of live calls', () => {
  const call = (name: string) => ({
    ...{ stream_sid: name, call_sid: `CA${name}`, voice_session_id: '0190b2a4-6c1e-7f00-8a3b-5d9e1c2f4a60' },
    ...{ tenant: 'acme', org_id: null, agent_name: name, call_type: 'browser', customer_phone: null, greeting: '' },
    ...{ started_at: new Date().toISOString(), state: 'talking', muted: false, taken_over: false, escalated: false },
    escalation_target: null,
  })

  /** The wall with these calls, whose time stands still but for the test, and the pointer in the middle of the first of them. */
  async function pointingAtTheFirst(...names: string[]) {
    const { context, page } = await visit('t/acme/agents')
    let now = names
    await page.route('**/api/v1/sessions/active', (route) =>
      route.fulfill({ json: { ok: true, count: now.length, sessions: now.map(call) } }),
    )
    await page.clock.install()
    await page.goto(`${dashboard.address}/app/t/acme/live`)
    const wall = page.getByRole('list', { name: 'Calls that go on' })
    const first = wall.getByRole('listitem').first()
    await first.waitFor()
    // It is read again as time leaps: what comes of that late would put off the next look.
    const read = page.waitForResponse('**/api/v1/sessions/active')
    await page.clock.pauseAt(new Date(Date.now() + 60_000))
    await (await read).finished()
    const box = await first.boundingBox()
    const middle = { x: (box?.x ?? 0) + (box?.width ?? 0) / 2, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 }
    await page.mouse.move(middle.x, middle.y)
    const shown = async () => (await wall.getByRole('listitem').allInnerTexts()).map(asTold)
    /** Once the service has told of these calls, and the pointer was moved just before. */
    const tell = async (...told: string[]) => {
      now = told
      const read = page.waitForResponse('**/api/v1/sessions/active')
      await page.clock.runFor(WALL_READ_MS - 1)
      await page.mouse.move(middle.x + 1, middle.y)
      await page.clock.runFor(1)
      await read
    }
    return { context, page, shown, tell }
  }

  /** A call by its agent, and whether it is shown as one that is over. */
  const asTold = (text: string) => `${/Red|Green|Blue/.exec(text)?.[0]}${/\bOver\b/.test(text) ? ', over' : ''}`

  it('stays as it is while somebody aims at one of them, and says which are over', async () => {
    const { context, page, shown, tell } = await pointingAtTheFirst('Red', 'Green')
    await tell('Blue', 'Green')
    // What is drawn of an answer waits for the clock as well.
    const drawn = () => page.clock.runFor(1).then(shown)
    await expect.poll(drawn).toEqual(['Red, over', 'Green'])
    await page.mouse.move(0, 0)
    await expect.poll(drawn).toEqual(['Blue', 'Green'])
    await context.close()
  })

  it('has a new call follow where the only one that was there is over', async () => {
    const { context, shown, page, tell } = await pointingAtTheFirst('Red')
    await tell('Blue')
    await expect.poll(() => page.clock.runFor(1).then(shown)).toEqual(['Red, over', 'Blue'])
    await context.close()
  })

  it('opens none that nobody has seen coming where they press', async () => {
    const { context, page, shown, tell } = await pointingAtTheFirst('Red', 'Green')
    await tell('Blue', 'Red', 'Green')
    // The pointer rests, and what is new comes to where it is.
    await page.clock.runFor(AIMS_FOR_MS)
    await expect.poll(() => page.clock.runFor(1).then(shown)).toEqual(['Blue', 'Red', 'Green'])
    const press = async () => {
      await page.mouse.down()
      await page.mouse.up()
    }
    await press()
    expect(new URL(page.url()).pathname).toBe('/app/t/acme/live')
    await page.clock.runFor(500)
    await press()
    await page.waitForURL('**/t/acme/live/Blue')
    await context.close()
  })

  it('opens one by a key, however short ago another has moved it', async () => {
    const { context, page, shown, tell } = await pointingAtTheFirst('Red', 'Green')
    await tell('Blue', 'Red', 'Green')
    await page.mouse.move(0, 0)
    await expect.poll(() => page.clock.runFor(1).then(shown)).toEqual(['Blue', 'Red', 'Green'])
    // As Firefox tells of it: a click by no pointer, counted as one.
    const byKey = "new PointerEvent('click', { detail: 1, bubbles: true, cancelable: true })"
    await page.evaluate(`document.querySelector('a[href$="/live/Red"]').dispatchEvent(${byKey})`)
    await page.waitForURL('**/t/acme/live/Red')
    await context.close()
  })
})

/** After which what was typed of a filter is asked for. */
const ASKED_AFTER_MS = 400

it('a list of which another part is asked for shows that at once, also to whoever moves their pointer over it', async () => {
  const phones = ['+12025550181', '+12025550182', '+12025550183']
  for (const phone of phones) await ask('POST', '/dnc', { phone })
  const { context, page } = await visit('t/acme/do-not-call')
  const rows = page.getByRole('group', { name: 'Do not call', exact: true }).getByRole('row')
  const shown = async () =>
    (await rows.allInnerTexts()).flatMap((text) => /\+1[\d ()-]+/.exec(text)?.[0].replace(/[^+\d]/g, '') ?? [])
  const asked = page.getByLabel('Find a number')
  // Until they are read others stand in their place.
  await expect.poll(async () => (await shown()).toSorted()).toEqual(phones)
  const all = await shown()
  await asked.fill('+12025550181')
  await expect.poll(shown).toEqual(['+12025550181'])
  await page.clock.install()
  await page.clock.pauseAt(new Date(Date.now() + 60_000))
  await asked.fill('')
  await rows.nth(1).hover()
  await page.clock.runFor(ASKED_AFTER_MS)
  await expect.poll(() => page.clock.runFor(1).then(shown)).toEqual(all)
  await context.close()
})
