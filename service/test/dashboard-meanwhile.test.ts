import type { BrowserContext, Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { LOGIN, useDashboard } from './harness/dashboard.ts'
import { WIDE } from './harness/looks.ts'
import { faultsAsShown } from './harness/page-faults.ts'

const ANN = '+12025550155'
/** After which a task that is shown is looked at again. */
const LOOKS_MS = 10_000
const DESK_NUMBER = '+12025550160'
const SALES_NUMBER = '+12025550162'
/** As many as a page of them has at most. */
const PAGE_NUMBERS = 500

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const dashboard = useDashboard({ settings: { SIMULATOR: 'off', SWEEP_INTERVAL_SECONDS: '0' }, tenant: 'acme' })
let agentId: string

type Row = Record<string, unknown> & { id: string }
type Asked = {
  task: Row
  tasks: Row[]
  agent: Row
  phone_route: Row
  phone_routes: Row[]
  queue: Row
  policy: Row
  version: Row
  user: Row
  requests: Row[]
  rollouts: Row[]
}

const ask = (method: string, path: string, body?: unknown) => dashboard.ask<Asked>(method, path, body)
const ofAcme = (method: string, path: string, body?: unknown) => ask(method, `/admin/tenants/acme/${path}`, body)

beforeAll(async () => {
  await ask('PUT', '/admin/tenants/acme', { tenant_id: 'acme', name: 'Acme' })
  for (const key of ['desk', 'sales']) {
    const { agent } = await ofAcme('POST', 'agents', { agent_key: key, name: key })
    agentId = agent.id
  }
  await ofAcme('POST', 'agent-versions', { agent_id: agentId, config: { greeting: 'Hello.' } })
})

const NO_ROOM = {
  status: 503,
  json: { ok: false, error: 'There is no room now.', code: 'unavailable', request_id: 'r' },
}

/** A page of the tenant, and what it has sent of that method. */
async function visit(path: string, method = 'PUT'): Promise<{ context: BrowserContext; page: Page; sent: object[] }> {
  const context = await dashboard.loggedIn(WIDE)
  const { page } = await dashboard.visit(context, `/app/${path}`)
  const sent: object[] = []
  page.on('request', (request) => {
    if (request.method() === method && request.postData() !== null) sent.push(request.postDataJSON() as object)
  })
  return { context, page, sent }
}

/** A window, once it has begun in its first field. */
async function opened(page: Page, button: string, at: Locator | Page = page): Promise<Locator> {
  await at.getByRole('button', { name: button, exact: true, disabled: false }).click()
  const form = page.getByRole('dialog', { name: button })
  await form.locator('*:focus').waitFor()
  return form
}

async function sentBy(form: Locator, button: string): Promise<void> {
  await form.getByRole('button', { name: button, exact: true, disabled: false }).click()
  await form.waitFor({ state: 'hidden' })
}

const both = (place: Locator | Page) => place.getByRole('region', { name: 'Stored now and Yours' })
const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

describe('a task that is completed', () => {
  const made = async (notes: string) => (await ask('POST', '/callback-tasks', { customer_phone: ANN, notes })).task.id
  const read = async (id: string) => (await ask('GET', `/callback-tasks/${id}`)).task
  const note = (id: string, notes: string) => ask('PATCH', `/callback-tasks/${id}`, { notes })

  it('keeps notes that a colleague has written meanwhile where nobody has touched them', async () => {
    const id = await made('Red.')
    const { context, page, sent } = await visit(`t/acme/desk/tasks/${id}`, 'POST')
    const form = await opened(page, 'Complete')
    await note(id, 'Agreed to five chairs.')
    await sentBy(form, 'Complete the task')
    expect(sent).toMatchObject([{ disposition: 'resolved' }])
    expect(await read(id)).toMatchObject({ status: 'completed', notes: 'Agreed to five chairs.' })
    await context.close()
  })

  it('shows what a colleague has written beside what is typed, and is completed with what is chosen', async () => {
    const id = await made('Red.')
    const { context, page } = await visit(`t/acme/desk/tasks/${id}`)
    const form = await opened(page, 'Complete')
    await form.getByLabel('Notes').fill('Blue.')
    await note(id, 'Green.')
    await form.getByRole('button', { name: 'Complete the task' }).click()
    await both(form).getByText('Green.').waitFor()
    await both(form).getByText('Blue.').waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    expect(await read(id)).toMatchObject({ status: 'open', notes: 'Green.' })
    await sentBy(form, 'Save mine over it')
    expect(await read(id)).toMatchObject({ status: 'completed', notes: 'Blue.' })
    await context.close()
  })

  it('is completed with what is chosen where the notes of a colleague are taken', async () => {
    const id = await made('Red.')
    const { context, page } = await visit(`t/acme/desk/tasks/${id}`)
    const form = await opened(page, 'Complete')
    await form.getByLabel('How it went').selectOption('do_not_call')
    await form.getByLabel('Notes').fill('Blue.')
    await note(id, 'Green.')
    await form.getByRole('button', { name: 'Complete the task' }).click()
    await form.getByRole('button', { name: 'Take the stored one' }).press('Enter')
    await form.locator('button:focus').getByText('Complete the task').press('Enter')
    await form.waitFor({ state: 'hidden' })
    expect(await read(id)).toMatchObject({ status: 'completed', disposition: 'do_not_call', notes: 'Green.' })
    await context.close()
  })

  it('has no notes any more when they are emptied', async () => {
    const id = await made('Red.')
    const { context, page } = await visit(`t/acme/desk/tasks/${id}`)
    const form = await opened(page, 'Complete')
    await form.getByLabel('Notes').fill('')
    await sentBy(form, 'Complete the task')
    expect(await read(id)).toMatchObject({ status: 'completed', notes: null })
    await context.close()
  })
})

describe('a task that somebody else was quicker with', () => {
  it('says so until it is theirs whom that was said to', async () => {
    const { id } = (await ask('POST', '/callback-tasks', { customer_phone: ANN })).task
    const { context, page } = await visit(`t/acme/desk/tasks/${id}`)
    const claim = page.getByRole('button', { name: 'Claim', exact: true })
    await claim.waitFor()
    await ask('POST', `/callback-tasks/${id}/claim`, { operator: 'ben' })
    await claim.click()
    const quicker = page.getByText('Somebody was quicker.')
    await quicker.waitFor()
    // It stays while the task is shown as it is now.
    await page.getByRole('button', { name: 'Release', exact: true }).waitFor()
    expect(await quicker.count()).toBe(1)
    const form = await opened(page, 'Assign')
    await form.getByRole('textbox', { name: /^To whom/ }).fill(LOGIN.username)
    await sentBy(form, 'Assign the task')
    await quicker.waitFor({ state: 'hidden' })
    await context.close()
  })

  /** A task that is open, on a page that looks at it again when it is told to; `press` asks for it, and is answered once it is released. */
  const claiming = async () => {
    const { id } = (await ask('POST', '/callback-tasks', { customer_phone: ANN })).task
    const by = (move: string) => ask('POST', `/callback-tasks/${id}/${move}`, { operator: 'ben' })
    const { context, page } = await visit(`t/acme/desk/tasks/${id}`)
    await page.clock.install()
    await page.reload()
    const press = async () => {
      const held = Promise.withResolvers<void>()
      const path = `**/callback-tasks/${id}/claim`
      await page.route(path, async (route) => {
        await held.promise
        await route.fallback()
      })
      const asked = page.waitForRequest(path)
      await page.getByRole('button', { name: 'Claim', exact: true, disabled: false }).click()
      await asked
      return held.resolve
    }
    const lookAgain = () => page.clock.fastForward(LOOKS_MS)
    const moves = (name: string) => page.getByRole('button', { name, exact: true })
    return { context, page, by, press, lookAgain, moves, quicker: page.getByText('Somebody was quicker.') }
  }

  it('says so no longer once somebody has done more with it', async () => {
    const { context, by, press, lookAgain, moves, quicker } = await claiming()
    await moves('Claim').waitFor()
    await by('claim')
    const release = await press()
    release()
    await quicker.waitFor()
    await moves('Release').waitFor()
    expect(await quicker.count()).toBe(1)
    await by('release')
    await lookAgain()
    await moves('Claim').waitFor()
    await quicker.waitFor({ state: 'hidden' })
    await context.close()
  })

  it('says so no longer either where it was shown as it is before that was said', async () => {
    const { context, by, press, lookAgain, moves, quicker } = await claiming()
    const release = await press()
    await by('claim')
    await lookAgain()
    await moves('Release').waitFor()
    release()
    await quicker.waitFor()
    await by('release')
    await lookAgain()
    await moves('Claim').waitFor()
    await quicker.waitFor({ state: 'hidden' })
    await context.close()
  })

  it('says so though a form was sent while that was not known', async () => {
    const { context, page, by, press, quicker } = await claiming()
    const release = await press()
    const form = await opened(page, 'Edit')
    await form.getByLabel('Notes').fill('Blue.')
    await sentBy(form, 'Save the task')
    await by('claim')
    release()
    await quicker.waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    await context.close()
  })
})

describe('a task that is acknowledged', () => {
  it('stays as it was read meanwhile when that fails, and tells nothing of it where somebody else has done so', async () => {
    const { id } = (await ask('POST', '/callback-tasks', { customer_phone: ANN })).task
    const { context, page } = await visit(`t/acme/desk/tasks/${id}`)
    await page.clock.install()
    await page.reload()
    const [refused, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const path = `**/callback-tasks/${id}/acknowledge`
    await page.route(path, async (route) => {
      await refused.promise
      await route.fulfill(NO_ROOM)
    })
    const asked = page.waitForRequest(path)
    const acknowledge = page.getByRole('button', { name: 'Acknowledge', disabled: false })
    await acknowledge.click()
    await asked
    await ask('POST', `/callback-tasks/${id}/acknowledge`, { operator: 'ben' })
    await page.clock.fastForward(LOOKS_MS)
    await page.getByText('ben', { exact: true }).first().waitFor()
    // When it fails the task is asked for once more, which may take long.
    await page.route(`**/callback-tasks/${id}`, async (route) => {
      await read.promise
      await route.fallback()
    })
    refused.resolve()
    await page.getByRole('button', { name: 'Claim', exact: true, disabled: false }).waitFor()
    expect([await acknowledge.count(), await page.getByRole('alert').count()]).toEqual([0, 0])
    read.resolve()
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  })
})

describe('a number that is changed', () => {
  const route = { phone_number: DESK_NUMBER, agent_key: 'desk', label: 'Desk' }

  it('keeps what another admin has made of it meanwhile, and asks about the same of it', async () => {
    const { id } = (await ofAcme('POST', 'phone-routes', route)).phone_route
    const stored = async () => (await ofAcme('GET', 'phone-routes')).phone_routes.find((each) => each.id === id)
    const { context, page } = await visit('t/acme/numbers')
    const form = await opened(page, 'Change', rowOf(page, '0160'))
    await form.getByLabel('Label').fill('Front desk')
    await ofAcme('PUT', `phone-routes/${id}`, { ...route, agent_key: 'sales', outbound_default: true })
    await sentBy(form, 'Save the number')
    const routed = { agent_key: 'sales', outbound_default: true }
    expect(await stored()).toMatchObject({ label: 'Front desk', ...routed })

    const again = await opened(page, 'Change', rowOf(page, 'Front desk'))
    await again.getByLabel('Label').fill('Ours')
    await ofAcme('PUT', `phone-routes/${id}`, { ...route, ...routed, label: 'Theirs' })
    await again.getByRole('button', { name: 'Save the number' }).click()
    await both(again).getByText('label: Theirs').waitFor()
    await both(again).getByText('label: Ours').waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    await sentBy(again, 'Save mine over it')
    expect(await stored()).toMatchObject({ label: 'Ours', ...routed })
    await context.close()
  })

  it('is still to be set up at the carrier when what another admin has made of it is taken', async () => {
    const { id } = (await ofAcme('POST', 'phone-routes', { ...route, phone_number: SALES_NUMBER })).phone_route
    const { context, page } = await visit('t/acme/numbers')
    const form = await opened(page, 'Change', rowOf(page, '0162'))
    const setUp = form.getByRole('checkbox', { name: 'Set it up at the carrier' })
    await setUp.check()
    await form.getByLabel('Label').fill('Ours')
    await ofAcme('PUT', `phone-routes/${id}`, { ...route, phone_number: SALES_NUMBER, label: 'Theirs' })
    await form.getByRole('button', { name: 'Save the number' }).click()
    await form.getByRole('button', { name: 'Take the stored one' }).click()
    expect(await form.getByLabel('Label').inputValue()).toBe('Theirs')
    expect(await setUp.isChecked()).toBe(true)
    await context.close()
  })

  it('is found behind however many newer ones', async () => {
    const number = (at: number) => ({ ...route, phone_number: `+1202556${1_000 + at}` })
    await ofAcme('POST', 'phone-routes', { ...number(0), label: 'Oldest' })
    const { context, page, sent } = await visit('t/acme/numbers')
    const form = await opened(page, 'Change', rowOf(page, 'Oldest'))
    for (let at = 1; at <= PAGE_NUMBERS; at += 1) await ofAcme('POST', 'phone-routes', number(at))
    await form.getByLabel('Label').fill('First of all')
    await sentBy(form, 'Save the number')
    expect(sent).toMatchObject([{ ...number(0), label: 'First of all' }])
    await context.close()
  })
})

describe('settings', () => {
  it('of a queue keep what another admin has set meanwhile, and ask about the same of them', async () => {
    const { context, page } = await visit('t/acme/desk/queues/sales')
    const stored = async () => (await ofAcme('GET', 'operator-queues/sales')).queue
    const name = page.getByRole('textbox', { name: /^Name/ })
    await name.fill('Sales')
    const { queue_key: _key, ...known } = await stored()
    await ofAcme('PUT', 'operator-queues/sales', { ...known, sla_minutes: 5 })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved.').waitFor()
    expect(await stored()).toMatchObject({ name: 'Sales', sla_minutes: 5 })
    const promise = page.getByRole('spinbutton', { name: /^To be done within/ })
    expect(await promise.inputValue()).toBe('5')

    await promise.fill('7')
    await ofAcme('PUT', 'operator-queues/sales', { ...known, name: 'Theirs', sla_minutes: 9 })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await both(page).waitFor()
    await ofAcme('PUT', 'operator-queues/sales', { ...known, name: 'Theirs', sla_minutes: 11 })
    const keep = page.getByRole('button', { name: 'Save mine over it' })
    await keep.press('Enter')
    await both(page).getByText('sla_minutes: 11').waitFor()
    // The keyboard goes on where it was, and then at what saves the next change.
    await page.locator('button:focus').and(keep).press('Enter')
    await page.getByText('Saved.').waitFor()
    await page.locator('button:focus').getByText('Save', { exact: true }).waitFor()
    expect(await stored()).toMatchObject({ name: 'Theirs', sla_minutes: 7 })
    expect(await name.inputValue()).toBe('Theirs')
    expect(await faultsAsShown(page)).toEqual([])
    await context.close()
  })

  it('of a rollout’s governance keep what another admin has set meanwhile, and take it where that is chosen', async () => {
    const path = `agents/${agentId}/rollout-policy`
    const known = { lookback_hours: 24, min_avg_score: 0.7, min_eval_count: 20, min_high_quality_rate: 0.6 }
    await ofAcme('PUT', path, { ...known, enabled: true })
    const stored = async () => (await ofAcme('GET', path)).policy
    const { context, page } = await visit(`t/acme/agents/${agentId}`)
    const hours = page.getByLabel('Look back, in hours')
    await hours.fill('48')
    await ofAcme('PUT', path, { ...known, enabled: false })
    await page.getByRole('button', { name: 'Save the policy' }).click()
    await page.getByText('Saved.').waitFor()
    expect(await stored()).toMatchObject({ ...known, enabled: false, lookback_hours: 48 })

    await hours.fill('72')
    await ofAcme('PUT', path, { ...known, enabled: false, lookback_hours: 12 })
    await page.getByRole('button', { name: 'Save the policy' }).click()
    await page.getByRole('button', { name: 'Take the stored one' }).press('Enter')
    expect(await hours.inputValue()).toBe('12')
    await page.locator('button:focus').getByText('Save the policy').waitFor()
    expect(await stored()).toMatchObject({ lookback_hours: 12 })
    await context.close()
  })
})

describe('the shares of a rollout', () => {
  it('are not asked about where two people have saved the very same', async () => {
    const [first, second] = await Promise.all(
      ['Hello.', 'Good day.'].map((greeting) =>
        ofAcme('POST', 'agent-versions', { agent_id: agentId, config: { greeting } }),
      ),
    )
    await ofAcme('POST', `agent-versions/${first?.version.id}/publish`)
    const entries = [{ agent_version_id: second?.version.id, traffic_percentage: 10 }]
    const { context, page } = await visit(`t/acme/agents/${agentId}`)
    await page.getByLabel('Give a share to').selectOption(`${second?.version.id}`)
    await ofAcme('PUT', `agents/${agentId}/rollouts`, { entries })
    const refused = page.waitForResponse((response) => response.status() === 409)
    await page.getByRole('button', { name: 'Save the rollout', disabled: false }).click()
    await refused
    await page.getByRole('button', { name: 'Save the rollout', disabled: true }).waitFor()
    await page.getByRole('button', { name: 'Undo', exact: true }).waitFor({ state: 'hidden' })
    expect(await page.getByText('Somebody else changed the rollout').count()).toBe(0)
    await context.close()
  })

  it('say what the published version answers though it has one of its own, too', async () => {
    const [first, second] = await Promise.all(
      ['Hello.', 'Good day.'].map((greeting) =>
        ofAcme('POST', 'agent-versions', { agent_id: agentId, config: { greeting } }),
      ),
    )
    await ofAcme('POST', `agent-versions/${first?.version.id}/publish`)
    const entry = (version: Row | undefined, traffic_percentage: number) => ({
      agent_version_id: version?.id,
      traffic_percentage,
    })
    const entries = [entry(first?.version, 90), entry(second?.version, 10)]
    await ofAcme('PUT', `agents/${agentId}/rollouts`, { entries })
    await ofAcme('PUT', `agents/${agentId}/rollout-policy`, { enabled: true })
    const { context, page } = await visit(`t/acme/agents/${agentId}`)
    await page.getByText('the published one, answers 90%.').waitFor()
    await page.getByRole('button', { name: 'Look at the scores now' }).click()
    const scores = page.getByRole('group', { name: 'Scores' }).getByRole('row')
    await scores.filter({ hasText: '90%' }).waitFor()
    // The head, and each version once.
    expect(await scores.count()).toBe(3)
    await ofAcme('PUT', `agents/${agentId}/rollouts`, { entries: [] })
    await context.close()
  })

  it('tell which of them was lost by the policy, when and why, and what stays with a version that had one of its own', async () => {
    const own = await ofAcme('POST', 'agent-versions', { agent_id: agentId, config: { greeting: 'Hello.' } })
    await ofAcme('POST', `agent-versions/${own.version.id}/publish`)
    const entries = [{ agent_version_id: own.version.id, traffic_percentage: 20 }]
    await ofAcme('PUT', `agents/${agentId}/rollouts`, { entries })
    const { context, page } = await visit(`t/acme/agents/${agentId}`)
    await page.getByText('Of these 20% stay with it when another version is published.').waitFor()
    expect(await page.getByText('lost its').count()).toBe(0)
    const last_rollback = {
      ...{ at: '2026-03-01T09:30:00.000Z', reasons: ['Version 7 scores 0.3 on average in 20 calls, less than 0.7.'] },
      versions: [{ agent_version_id: own.version.id, version_number: 7, traffic_percentage: 30 }],
    }
    await page.route('**/rollouts', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...((await response.json()) as object), last_rollback } })
    })
    await page.reload()
    await page.getByText(/^Version 7 lost its 30% by the policy below: /).waitFor()
    await page.getByText('Version 7 scores 0.3 on average in 20 calls, less than 0.7.').waitFor()
    await ofAcme('PUT', `agents/${agentId}/rollouts`, { entries: [] })
    await context.close()
  })

  it('are as they are stored when a change that was refused is undone', async () => {
    const [first, second] = await Promise.all(
      ['Hello.', 'Good day.'].map((greeting) =>
        ofAcme('POST', 'agent-versions', { agent_id: agentId, config: { greeting } }),
      ),
    )
    await ofAcme('POST', `agent-versions/${first?.version.id}/publish`)
    await ofAcme('PUT', `agents/${agentId}/rollouts`, { entries: [] })
    const { context, page } = await visit(`t/acme/agents/${agentId}`)
    await page.getByLabel('Give a share to').selectOption(`${second?.version.id}`)
    await page.route('**/rollouts', (route) =>
      route.request().method() === 'PUT' ? route.fulfill(NO_ROOM) : route.fallback(),
    )
    await page.getByRole('button', { name: 'Save the rollout', disabled: false }).click()
    await page.getByRole('alert').getByText('There is no room now.').waitFor()
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await page.getByText('answers all calls').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await context.close()
  })

  it('keep what is changed while it is looked whether two people have saved the very same', async () => {
    const [first, second, third] = await Promise.all(
      ['Hello.', 'Good day.', 'Welcome.'].map((greeting) =>
        ofAcme('POST', 'agent-versions', { agent_id: agentId, config: { greeting } }),
      ),
    )
    await ofAcme('POST', `agent-versions/${first?.version.id}/publish`)
    const path = `agents/${agentId}/rollouts`
    const entry = (version: Row | undefined) => ({ agent_version_id: `${version?.id}`, traffic_percentage: 10 })
    await ofAcme('PUT', path, { entries: [] })
    const { context, page } = await visit(`t/acme/agents/${agentId}`)
    await page.getByLabel('Give a share to').selectOption(entry(second?.version).agent_version_id)
    await ofAcme('PUT', path, { entries: [entry(second?.version)] })
    const look = Promise.withResolvers<void>()
    await page.route('**/rollouts', async (route) => {
      if (route.request().method() === 'GET') await look.promise
      await route.fallback()
    })
    const refused = page.waitForResponse((response) => response.status() === 409)
    await page.getByRole('button', { name: 'Save the rollout', disabled: false }).click()
    await refused
    await page.getByLabel('Give a share to').selectOption(entry(third?.version).agent_version_id)
    look.resolve()
    await page.getByRole('button', { name: 'Save the rollout', disabled: false }).click()
    await page.getByRole('button', { name: 'Save the rollout', disabled: true }).waitFor()
    await page.getByRole('button', { name: 'Undo', exact: true }).waitFor({ state: 'hidden' })
    const { rollouts } = await ofAcme('GET', path)
    expect(rollouts.map(({ agent_version_id }) => agent_version_id).sort()).toEqual(
      [second, third].map((made) => `${made?.version.id}`).sort(),
    )
    await context.close()
  })
})

describe('what the scores say of a rollout', () => {
  it('is not shown any more once the policy, the shares or what is published are others', async () => {
    const [first, second, third] = await Promise.all(
      ['Hello.', 'Good day.', 'Welcome.'].map((greeting) =>
        ofAcme('POST', 'agent-versions', { agent_id: agentId, config: { greeting } }),
      ),
    )
    await ofAcme('POST', `agent-versions/${first?.version.id}/publish`)
    const entries = [{ agent_version_id: second?.version.id, traffic_percentage: 10 }]
    await ofAcme('PUT', `agents/${agentId}/rollouts`, { entries })
    await ofAcme('PUT', `agents/${agentId}/rollout-policy`, { enabled: true })
    const { context, page } = await visit(`t/acme/agents/${agentId}`)
    const told = page.getByRole('group', { name: 'Scores' })
    const look = async () => {
      await page.getByRole('button', { name: 'Look at the scores now', disabled: false }).click()
      await told.waitFor()
      await page.getByText('Insufficient data').waitFor()
    }
    const gone = async () => {
      await told.waitFor({ state: 'hidden' })
      expect(await page.getByText('Insufficient data').count()).toBe(0)
    }
    await look()
    await page.getByLabel('Scored calls at least').fill('1')
    await page.getByRole('button', { name: 'Save the policy' }).click()
    await gone()
    await look()
    await page.getByLabel(/^Percent of/).fill('20')
    await page.getByRole('button', { name: 'Save the rollout', disabled: false }).click()
    await gone()
    await look()
    const publish = `Publish version ${third?.version['version_number']}`
    await page.getByRole('button', { name: publish }).click()
    await page.getByRole('dialog').getByRole('button', { name: publish }).click()
    await gone()
    await context.close()
  })
})

describe('who is asked whether to publish a version', () => {
  it('reads which share of the calls stays with others', async () => {
    const [first, second, third] = await Promise.all(
      ['Hello.', 'Good day.', 'Welcome.'].map((greeting) =>
        ofAcme('POST', 'agent-versions', { agent_id: agentId, config: { greeting } }),
      ),
    )
    await ofAcme('POST', `agent-versions/${first?.version.id}/publish`)
    const share = (version: Row | undefined, traffic_percentage: number) => ({
      agent_version_id: version?.id,
      traffic_percentage,
    })
    const entries = [share(second?.version, 10.25), share(third?.version, 20)]
    await ofAcme('PUT', `agents/${agentId}/rollouts`, { entries })
    const { context, page } = await visit(`t/acme/agents/${agentId}`)
    const number = second?.version['version_number']
    await page.getByRole('button', { name: `Publish version ${number}` }).click()
    const question = page.getByRole('dialog', { name: `Publish version ${number}?` })
    await question.getByText(`talk to version ${number}, but for 20% of them`).waitFor()
    await ofAcme('PUT', `agents/${agentId}/rollouts`, { entries: [] })
    await question.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: `Publish version ${number}` }).click()
    await question.getByText(`talk to version ${number}. Calls that go on`).waitFor()
    await context.close()
  })
})

/** Somebody who writes to a task, and what is done to them meanwhile. */
const writing = async (email: string) => {
  const { id } = (await ofAcme('POST', 'users', { email, password: LOGIN.password, role: 'operator' })).user
  const { task } = await ask('POST', '/callback-tasks', { customer_phone: ANN })
  const context = await dashboard.loggedIn(WIDE, email)
  const { page } = await dashboard.visit(context, `/app/t/acme/desk/tasks/${task.id}`)
  const form = await opened(page, 'Edit')
  await form.getByLabel('Notes').fill('Three pages of notes.')
  const change = (changed: object) => ofAcme('PATCH', `users/${id}`, changed)
  const becomes = (role: string) => change({ role })
  return { context, page, form, change, becomes }
}
/** As when the page is looked at again after a while. */
const lookAgainLater = async (page: Page) => {
  await page.clock.install()
  await page.clock.fastForward(70_000)
  await page.evaluate("dispatchEvent(new Event('visibilitychange'))")
}

describe('a person whose role is changed', () => {
  it('finds what they may do from then on on the next page, and at once where they are refused', async () => {
    const who = { email: 'ida@acme.example', password: LOGIN.password }
    const { id } = (await ofAcme('POST', 'users', { ...who, role: 'viewer' })).user
    const context = await dashboard.loggedIn(WIDE, who.email)
    const { page } = await dashboard.visit(context, '/app/t/acme/numbers')
    await page.getByRole('heading', { name: 'Numbers' }).waitFor()
    expect(await page.getByRole('button', { name: 'Add a number' }).count()).toBe(0)
    await ofAcme('PATCH', `users/${id}`, { role: 'admin' })
    await page.getByRole('link', { name: 'Agents', exact: true }).click()
    await page.getByRole('button', { name: 'New agent' }).waitFor()
    await page.getByRole('link', { name: 'Numbers', exact: true }).click()
    const form = await opened(page, 'Add a number')
    await ofAcme('PATCH', `users/${id}`, { role: 'viewer' })
    await form.getByPlaceholder('+12025550123').fill('+12025550161')
    await form.getByRole('combobox', { name: 'Agent' }).selectOption('desk')
    await form.getByRole('button', { name: 'Add the number' }).click()
    await form.getByRole('alert').waitFor()
    await form.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Add a number' }).waitFor({ state: 'hidden' })
    await context.close()
  })

  /** In a role that holds less or more the navigation is another one. */
  const talk = (page: Page, state: 'visible' | 'hidden') =>
    page.getByRole('link', { name: 'Talk', exact: true }).waitFor({ state })

  it('keeps what they have written, and why it was refused, until they close that', async () => {
    const { context, page, form, becomes } = await writing('eve@acme.example')
    await becomes('viewer')
    const known = page.waitForResponse((response) => response.url().endsWith('/auth/session'))
    await form.getByRole('button', { name: 'Save the task' }).click()
    await (await known).finished()
    // What is shown is read again once the role is known.
    await page.waitForResponse((response) => response.url().includes('/callback-tasks/'))
    expect(await form.getByLabel('Notes').inputValue()).toBe('Three pages of notes.')
    await form.getByRole('alert').getByText('forbidden').waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    await form.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor({ state: 'hidden' })
    await page.locator('main:focus').waitFor()
    await context.close()
  })

  it('keeps a button that was pressed, with why that was refused, until they leave the page', async () => {
    const who = { email: 'ute@acme.example', password: LOGIN.password }
    const { id } = (await ofAcme('POST', 'users', { ...who, role: 'operator' })).user
    const { task } = await ask('POST', '/callback-tasks', { customer_phone: ANN })
    const context = await dashboard.loggedIn(WIDE, who.email)
    const { page } = await dashboard.visit(context, `/app/t/acme/desk/tasks/${task.id}`)
    const claim = page.getByRole('button', { name: 'Claim', exact: true })
    await claim.waitFor()
    await ofAcme('PATCH', `users/${id}`, { role: 'viewer' })
    const known = page.waitForResponse((response) => response.url().endsWith('/auth/session'))
    await claim.click()
    await (await known).finished()
    // What is shown is read again once the role is known.
    await page.waitForResponse((response) => response.url().includes('/callback-tasks/'))
    await page.getByRole('alert').getByText('forbidden').waitFor()
    expect(await claim.isVisible()).toBe(true)
    await page.getByRole('link', { name: 'Desk', exact: true }).first().click()
    await page.getByRole('heading', { name: 'Desk', exact: true }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'What is wanted' }).waitFor()
    expect(await claim.count()).toBe(0)
    await context.close()
  })

  it('goes on writing when they may do more', async () => {
    const { context, page, form, becomes } = await writing('eva@acme.example')
    await talk(page, 'hidden')
    await becomes('admin')
    await lookAgainLater(page)
    await talk(page, 'visible')
    expect(await form.getByLabel('Notes').inputValue()).toBe('Three pages of notes.')
    await sentBy(form, 'Save the task')
    await context.close()
  })
})

describe('a person who is changed', () => {
  it('goes on writing where their e-mail is another one', async () => {
    const { context, page, form, change } = await writing('lea@acme.example')
    await change({ email: 'leah@acme.example' })
    await lookAgainLater(page)
    await page.getByRole('button', { name: 'Logged in as leah@acme.example' }).waitFor({ state: 'attached' })
    expect(await form.getByLabel('Notes').inputValue()).toBe('Three pages of notes.')
    await sentBy(form, 'Save the task')
    await context.close()
  })

  it('is not written over where another admin has changed the same, and gets the password that was typed', async () => {
    const who = { email: 'kim@acme.example', name: 'Kim', password: LOGIN.password }
    const { id } = (await ofAcme('POST', 'users', { ...who, role: 'viewer' })).user
    const { context, page, sent } = await visit('t/acme/people', 'PATCH')
    const form = await opened(page, 'Change', rowOf(page, who.email))
    await form.getByLabel('Role').selectOption('admin')
    for (const label of ['New password', 'New password again'])
      await form.getByLabel(label, { exact: true }).fill('another password of Kim')
    await ofAcme('PATCH', `users/${id}`, { role: 'operator', name: 'Kim Berg' })
    await form.getByRole('button', { name: 'Save the person' }).click()
    await both(form).getByText('role: operator').waitFor()
    await both(form).getByText('role: admin').waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    expect(sent).toEqual([])
    await form.getByRole('button', { name: 'Take the stored one' }).click()
    expect(await form.getByLabel('Name').inputValue()).toBe('Kim Berg')
    await sentBy(form, 'Save the person')
    expect(sent).toEqual([{ password: 'another password of Kim' }])
    await rowOf(page, 'Kim Berg').getByText('Operator').waitFor()

    const again = await opened(page, 'Change', rowOf(page, who.email))
    await again.getByLabel('Role').selectOption('viewer')
    await ofAcme('PATCH', `users/${id}`, { role: 'admin' })
    await again.getByRole('button', { name: 'Save the person' }).click()
    await sentBy(again, 'Save mine over it')
    await rowOf(page, 'Kim Berg').getByText('Viewer').waitFor()
    await context.close()
  })
})

describe('an agent that is renamed', () => {
  it('is not written over where another admin has renamed it meanwhile', async () => {
    const { id } = (await ofAcme('POST', 'agents', { agent_key: 'night', name: 'Night' })).agent
    const { context, page, sent } = await visit(`t/acme/agents/${id}`, 'PATCH')
    const form = await opened(page, 'Change the agent')
    await form.getByLabel('Name').fill('Ours')
    await ofAcme('PATCH', `agents/${id}`, { name: 'Theirs', description: 'After hours.' })
    await form.getByRole('button', { name: 'Save the agent' }).click()
    await both(form).getByText('name: Theirs').waitFor()
    await both(form).getByText('name: Ours').waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    expect(sent).toEqual([])
    await sentBy(form, 'Save mine over it')
    expect(sent).toEqual([{ name: 'Ours' }])
    await page.getByRole('heading', { name: 'Ours' }).waitFor()
    await page.getByText('After hours.').waitFor()
    await context.close()
  })
})

describe('the review of an access request', () => {
  it('takes back no approval of somebody else’s with a note, and takes an emptied note away', async () => {
    const who = { company_name: 'Globex', contact_name: 'Hedy', work_email: 'hedy@globex.example', use_case: 'Calls.' }
    await ask('POST', '/access-requests', who)
    const stored = async () => (await ask('GET', '/admin/api-access-requests')).requests[0]
    const id = (await stored())?.id
    const { context, page } = await visit('access-requests')
    const form = await opened(page, 'Review', rowOf(page, 'Globex'))
    await form.getByLabel('Note').fill('Known to us.')
    await ask('PATCH', `/admin/api-access-requests/${id}`, { status: 'approved' })
    await sentBy(form, 'Save the review')
    expect(await stored()).toMatchObject({ status: 'approved', metadata: { review_note: 'Known to us.' } })

    await rowOf(page, 'Globex').getByText('Approved').waitFor()
    const again = await opened(page, 'Review', rowOf(page, 'Globex'))
    await again.getByLabel('Note').fill('')
    await sentBy(again, 'Save the review')
    expect(await stored()).toMatchObject({ status: 'approved', metadata: {} })
    await context.close()
  })

  it('asks where two people have made something else of it, and where a note was written to one that is typed', async () => {
    const who = { company_name: 'Hooli', contact_name: 'Gavin', work_email: 'gavin@hooli.example', use_case: 'Calls.' }
    await ask('POST', '/access-requests', who)
    const stored = async () => (await ask('GET', '/admin/api-access-requests')).requests[0]
    const path = `/admin/api-access-requests/${(await stored())?.id}`
    const { context, page } = await visit('access-requests')
    const form = await opened(page, 'Review', rowOf(page, 'Hooli'))
    await form.getByLabel('Status').selectOption('rejected')
    await ask('PATCH', path, { status: 'approved', note: 'Paid.' })
    await form.getByRole('button', { name: 'Save the review' }).click()
    await both(form).getByText('status: approved').waitFor()
    await both(form).getByText('status: rejected').waitFor()
    expect(await faultsAsShown(page)).toEqual([])
    await form.getByRole('button', { name: 'Take the stored one' }).click()
    expect(await form.getByLabel('Status').inputValue()).toBe('approved')
    expect(await stored()).toMatchObject({ status: 'approved', metadata: { review_note: 'Paid.' } })

    await form.getByLabel('Note').fill('Ours.')
    await ask('PATCH', path, { status: 'spam', note: 'Theirs.' })
    await form.getByRole('button', { name: 'Save the review' }).click()
    await both(form).waitFor()
    await sentBy(form, 'Save mine over it')
    expect(await stored()).toMatchObject({ status: 'spam', metadata: { review_note: 'Ours.' } })
    await context.close()
  })
})

describe('a question about a row', () => {
  it('stays when somebody else has taken the row away, and says what came of it', async () => {
    const phone = '+12025550171'
    await ask('POST', '/dnc', { phone, reason: 'Asked by mail.' })
    const { context, page } = await visit('t/acme/do-not-call')
    const row = rowOf(page, 'Asked by mail.')
    await row.getByRole('button', { name: 'Remove' }).click()
    const question = page.getByRole('dialog', { name: 'Remove?' })
    await question.locator('*:focus').waitFor()
    await ask('DELETE', `/dnc/${encodeURIComponent(phone)}`)
    const read = page.waitForResponse((response) => /\/dnc(\?|$)/.test(response.url()))
    await lookAgainLater(page)
    await (await read).finished()
    await question.getByRole('button', { name: 'Remove' }).click()
    await question.getByRole('alert').waitFor()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await row.waitFor({ state: 'hidden' })
    await page.locator('main:focus').waitFor()
    await context.close()
  })
})
