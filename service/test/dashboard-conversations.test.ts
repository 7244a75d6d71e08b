import type { BrowserContext, Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../src/kernel/clock.ts'
import type { TenantId } from '../src/kernel/ids.ts'
import type { Db } from '../src/platform/db/schema.ts'
import { addCall, qaOf } from '../src/records/analytics/analytics.fixture.ts'
import type { SessionId } from '../src/records/call-values.ts'
import { putTurnsAcrossTenants } from '../src/records/transcript-store.ts'
import { LOGIN, useDashboard } from './harness/dashboard.ts'
import { IS_FULL, LOOKS, NARROW, WIDE } from './harness/looks.ts'
import { faultsAsShown } from './harness/page-faults.ts'
import { makeTenant } from './harness/tenants.ts'

const HOUR_MS = 3_600_000
const VERA = 'vera@acme.example'
const CALLS = 60
/** An agent, and what is said to it, in letters that are read from the right. */
const ROBIN = 'רובין'
const ORDER = 'אני רוצה כיסא, bezalel.'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const dashboard = useDashboard({ settings: { SIMULATOR: 'off' }, furnish: addConversations, tenant: 'acme' })
/** Of the call in which a refund was asked for. */
let refundSid: string

beforeAll(async () => {
  const vera = { email: VERA, role: 'viewer', password: LOGIN.password }
  await dashboard.ask('POST', '/admin/tenants/acme/users', vera)
})

/** More calls than a page of the list has, in each of which somebody says good morning, and in one of which they want a refund. */
async function addConversations(db: Db): Promise<void> {
  const acme = await makeTenant(db, 'acme')
  const nowMs = systemClock.now()
  for (let n = 0; n < CALLS; n += 1) {
    const { sessionId } = await addCall(db, acme, { at: new Date(nowMs - HOUR_MS - n * 60_000), talkSeconds: 75 })
    await say(db, sessionId, 'Good morning.')
  }
  const refund = await addCall(db, acme, { at: new Date(nowMs - 2 * HOUR_MS - 1), talkSeconds: 75, agentKey: 'sales' })
  refundSid = refund.callSid
  await say(db, refund.sessionId, 'I want a refund by next week.')
  await say(db, refund.sessionId, 'I pass you on.', 'Robin')
  await say(db, refund.sessionId, 'You shall have it.', 'Billie')
  const order = await addCall(db, acme, { at: new Date(nowMs - 3 * HOUR_MS), talkSeconds: 75, agentKey: ROBIN })
  await say(db, order.sessionId, ORDER)
  const facts = { tags: ['vip'], end_reason: 'transferred' as const, qa: qaOf(0.9), summary: 'A chair was returned.' }
  await db.updateTable('voice_sessions').set(facts).where('id', '=', refund.sessionId).execute()
}

/** In a call of acme's. `agent`: who says it; not given: the caller. */
async function say(db: Db, sessionId: SessionId, text: string, agent: string | null = null): Promise<void> {
  const turn = {
    ...{ tenant_id: 'acme' as TenantId, session_id: sessionId, item_id: `item of ${agent}`, seq: 1, text },
    ...{ role: agent === null ? ('caller' as const) : ('agent' as const), agent_name: agent },
    ...{ unheard: '', start_ms: 0, end_ms: 900, interrupted: false, sent_ms: null, heard_ms: null },
    ...{ cost_usd: null, timeline: null },
  }
  await db.transaction().execute((tx) => putTurnsAcrossTenants(tx, [turn]))
}

const visit = (context: BrowserContext, search = '') => dashboard.visit(context, `/app/t/acme/conversations${search}`)
const sought = (page: Page) => page.getByLabel('What was said')
const found = (page: Page) => page.getByRole('group', { name: 'Conversations' })
/** Where each of these texts begins on the left, when all of the line stands beside each other. */
function leftsIn(line: Locator, texts: string[]): Promise<number[]> {
  return line.evaluate((element, sought) => {
    element.style.whiteSpace = 'nowrap'
    const nodes = [...element.childNodes].map((node) => node.firstChild ?? node)
    return sought.map((text) => {
      const node = nodes.find(({ textContent }) => textContent?.includes(text))
      if (!node) return Number.NaN
      const from = node.textContent?.indexOf(text) ?? 0
      const range = element.ownerDocument.createRange()
      range.setStart(node, from)
      range.setEnd(node, from + text.length)
      return range.getBoundingClientRect().left
    })
  }, texts)
}

const refundRow = (page: Page) => page.getByRole('row').filter({ hasText: 'A chair was returned.' })

describe('a search in what was said', () => {
  it('leads a viewer from words and a phrase to the call in which they were said, and is shared by its address', async () => {
    const context = await dashboard.loggedIn(WIDE, VERA)
    const { page, faults } = await dashboard.visit(context, '/app/t/acme/calls')
    await page.getByRole('link', { name: 'Search what was said' }).click()
    await page.getByText('The first 50').waitFor()
    await sought(page).fill('refund "next week"')
    await page.getByText('One in all').waitFor()
    expect(new URL(page.url()).searchParams.get('q')).toBe('refund "next week"')
    const shared = (await dashboard.visit(context, `${new URL(page.url()).pathname}${new URL(page.url()).search}`)).page
    await shared.getByText('One in all').waitFor()
    expect(await sought(shared).inputValue()).toBe('refund "next week"')
    for (const text of ['Inbound', 'sales', '1:15', '90%', 'It was put through', 'vip'])
      await refundRow(shared).getByText(text, { exact: true }).filter({ visible: true }).waitFor()
    await refundRow(shared).getByRole('link').click()
    await shared.getByText('I want a refund by next week.').waitFor()
    expect(new URL(shared.url()).pathname).toBe(`/app/t/acme/calls/${refundSid}`)
    expect(faults).toEqual([])
    await context.close()
  })

  it('asks for more of what is found before its end is reached', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await visit(context, '?q=morning')
    await page.getByText('The first 50').waitFor()
    await page.getByRole('row').last().scrollIntoViewIfNeeded()
    await page.getByText(`${CALLS} in all`).waitFor()
    await context.close()
  })

  it('is narrowed by how a call ended and by its tag, and says so where nothing is left', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await visit(context)
    await page.getByLabel('How it ended').selectOption('It was put through')
    await page.getByText('One in all').waitFor()
    await page.getByLabel('Tag').fill('vip')
    await page.waitForURL(/tag=vip/)
    await refundRow(page).waitFor()
    await sought(page).fill('refunds')
    await page.getByText('That was said in no call').waitFor()
    await sought(page).fill('')
    await page.getByLabel('How it ended').selectOption('The caller hung up')
    await page.getByText('No conversation is like that').waitFor()
    await context.close()
  })

  it('is refused in words when it has too many of them', async () => {
    const context = await dashboard.loggedIn(WIDE)
    const { page } = await visit(context, '?q=one two three four five six seven eight nine ten eleven')
    await page
      .getByRole('alert')
      .getByText(/put what was said together into double quotes/)
      .waitFor()
    await context.close()
  })
})

it('a conversation names the agent that has said something, also before it gave the call to another one', async () => {
  const context = await dashboard.loggedIn(WIDE)
  const { page } = await dashboard.visit(context, `/app/t/acme/calls/${refundSid}`)
  for (const [name, text] of [
    ['Robin', 'I pass you on.'],
    ['Billie', 'You shall have it.'],
  ] as const)
    await page.getByRole('listitem').filter({ hasText: text }).getByText(name, { exact: true }).waitFor()
  await context.close()
})

describe('what is written from the right', () => {
  it('turns nothing round that stands beside it, and begins where it is read from', async () => {
    const context = await dashboard.loggedIn({ width: 1024, colorScheme: 'light' })
    const { page } = await visit(context, '?q=bezalel')
    const facts = page.getByText(`Inbound, ${ROBIN}, 1:15`).filter({ visible: true })
    await facts.waitFor()
    const [name = 0, length = 0] = await leftsIn(facts, [ROBIN, '1:15'])
    expect(name).toBeLessThan(length)
    await page.getByRole('row').last().getByRole('link').click()
    const said = page.getByText(ORDER, { exact: true })
    await said.waitFor()
    expect(await said.evaluate((text) => text.matches(':dir(rtl)'))).toBe(true)
    await context.close()
  })
})

describe.each(IS_FULL ? LOOKS : [NARROW])('at $width px in $colorScheme colours', (look) => {
  it('a search has nothing that keeps somebody out, and says of each call how it ended', async () => {
    const context = await dashboard.loggedIn(look)
    const { page, faults } = await visit(context, '?q=refund')
    await refundRow(page)
      .getByText(/It was put through/)
      .filter({ visible: true })
      .waitFor()
    await refundRow(page).getByText('90%').filter({ visible: true }).waitFor()
    expect(await found(page).evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
    expect([...(await faultsAsShown(page)), ...faults]).toEqual([])
    await context.close()
  })
})
