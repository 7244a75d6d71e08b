import { sql } from 'kysely'
import type { CDPSession, Page } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import type { Db } from '../src/platform/db/schema.ts'
import { useDashboard } from './harness/dashboard.ts'
import { makeTenant } from './harness/tenants.ts'
import { until } from './harness/wait.ts'

const CALLS = 100_000
const WAIT_MS = 60_000
/**
 * What the page may work for one thing that somebody does, in milliseconds of the processor: that a thread has to wait on a busy
 * machine does not count, though it works slower there as well. Most of them have to be far below what anybody notices.
 */
const STALL_MS = 500
const USUAL_MS = 200
/** A window and what is drawn above and below it; 100,000 rows are never in the page. */
const MOST_ROWS = 150
/** As long as a list that is read again by itself takes to be read again, and a little. */
const REFRESHED_MS = 20_000

vi.setConfig({ testTimeout: 900_000, hookTimeout: 300_000 })

/** A call every minute until now, one in twenty of which failed. */
async function addCalls(db: Db): Promise<void> {
  const tenant = await makeTenant(db, 'acme')
  await sql`
    insert into call_logs (tenant_id, id, call_sid, voice_session_id, direction, "from", "to", status, status_at, agent_key,
                           agent_name, version_number, created_at, started_at, answered_at, ended_at, duration_seconds,
                           escalated, summary, metadata)
    select ${tenant}, md5('call ' || n)::uuid, 'CA' || md5('call ' || n), md5('session ' || n)::uuid, 'inbound',
           '+12025550101', '+12025550199', case when n % 20 = 0 then 'failed' else 'completed' end, at,
           'agent-' || n % 10, 'Agent ' || n % 10, 1, at, at, at, at, 30 + n % 300,
           false, 'Wanted to know about order ' || n || ', and was told when it comes.', '{}'
      from (select n, date_trunc('milliseconds', now()) - n * interval '1 minute' as at
              from generate_series(1, ${CALLS}::integer) n) made`.execute(db)
  await sql`analyze call_logs`.execute(db)
}

/** What somebody did, and what it cost the page. */
type Step = { workMs: number; rows: number }

/** Measures what the thread of a page works, in milliseconds of the processor. */
class Meter {
  readonly #page: Page
  readonly #session: CDPSession

  private constructor(page: Page, session: CDPSession) {
    this.#page = page
    this.#session = session
  }

  static async of(page: Page): Promise<Meter> {
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    return new Meter(page, session)
  }

  async #workedMs(): Promise<number> {
    const { metrics } = await this.#session.send('Performance.getMetrics')
    return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN)
  }

  async step(act: () => Promise<unknown>): Promise<Step> {
    const before = await this.#workedMs()
    await act()
    return { workMs: (await this.#workedMs()) - before, rows: await this.#page.locator('tbody tr').count() }
  }
}

/** Tells, beside the judgement, what somebody in front of it would have seen on this machine, however busy it is. */
const WATCH = `
  window.seen = { longTasks: [], gaps: [] };
  new PerformanceObserver((list) => seen.longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true });
  let last = performance.now();
  requestAnimationFrame(function frame(now) {
    seen.gaps.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  });
`
const SHOWN_COUNT = `Number(/[\\d]+/.exec(document.querySelector('main output').textContent)?.[0])`

const shownCount = (page: Page) => page.evaluate<number>(SHOWN_COUNT)
const toEnd = (page: Page) => page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')

function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

function line(what: string, steps: Step[]): string {
  const work = steps.map(({ workMs }) => workMs)
  const [median = 0, p99 = 0, most = 0] = [0.5, 0.99, 1].map((share) => Math.round(quantile(work, share)))
  const rows = Math.max(...steps.map((step) => step.rows))
  return `${what}: ${steps.length} steps, ${median} ms of work in the middle, ${p99} at p99, ${most} at most; at most ${rows} rows drawn`
}

describe.runIf(process.env['PARLEY_TEST_FULL'] === '1')('a list of 100,000 calls', () => {
  const dashboard = useDashboard({ settings: { SIMULATOR: 'off' }, furnish: addCalls, waitMs: WAIT_MS })

  it('scrolls to its end, back and forth, and is filtered, without a stall', async () => {
    const context = await dashboard.loggedIn({ width: 1280, colorScheme: 'light' })
    const page = await context.newPage()
    await page.addInitScript(WATCH)
    const requests: URL[] = []
    page.on('request', (request) => {
      if (request.url().includes('/call-logs?') || request.url().endsWith('/call-logs'))
        requests.push(new URL(request.url()))
    })
    await page.goto(`${dashboard.address}/app/t/acme/calls`)
    // Rows stand there before it is known how many there are, as long as they are read.
    await page.getByText('The first 50').waitFor()
    const meter = await Meter.of(page)

    const down: Step[] = []
    for (let known = await shownCount(page); known < CALLS; known = await shownCount(page)) {
      const more = async () => {
        await toEnd(page)
        await until(async () => (await shownCount(page)) > known, {
          what: `more rows than ${known}`,
          timeoutMs: WAIT_MS,
          everyMs: 20,
        }).catch(async (error: Error) => {
          throw new Error(`${error.message}: ${await page.locator('main').getByRole('alert').allTextContents()}`)
        })
      }
      down.push(await meter.step(more))
    }
    await page.getByText(`${CALLS} in all`).waitFor()
    await toEnd(page)
    await page.getByText(`order ${CALLS},`).filter({ visible: true }).waitFor()

    const about: Step[] = []
    for (let place = 1; place <= 200; place += 1) {
      const top = ((place * 7_919) % 1_000) / 1_000
      about.push(
        await meter.step(async () => {
          await page.evaluate(`scrollTo(0, ${top} * document.documentElement.scrollHeight)`)
          await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
        }),
      )
      expect(await page.locator('tbody tr a').count()).toBeGreaterThan(10)
    }

    // While it lies there it is read again: its beginning, and not all of it.
    const before = requests.length
    const refreshed = await meter.step(() =>
      until(() => requests.length > before, {
        what: 'the list to be read again',
        timeoutMs: REFRESHED_MS,
        everyMs: 50,
      }),
    )
    expect(requests.slice(before).map(({ search }) => search)).toEqual([''])
    expect(await shownCount(page)).toBe(CALLS)

    const filtered: Step[] = []
    const filter = async (act: () => Promise<unknown>, count: string) => {
      filtered.push(
        await meter.step(async () => {
          await act()
          await page.getByText(count).first().waitFor()
        }),
      )
    }
    const status = page.getByLabel('Status', { exact: true })
    await filter(() => status.selectOption('failed'), 'The first 50')
    await filter(() => page.getByLabel('Agent key').fill('agent-1'), 'No call is like that')
    await filter(() => status.selectOption(''), 'The first 50')
    await filter(() => page.getByLabel('From', { exact: true }).fill('+12025550101'), 'The first 50')
    await filter(() => page.getByLabel('Agent key').fill(''), 'The first 50')
    await filter(() => page.getByLabel('From', { exact: true }).fill(''), `${CALLS} in all`)

    const { longTasks, gaps } = await page.evaluate<{ longTasks: number[]; gaps: number[] }>('seen')
    const report = [
      ...[line('To the end', down), line('About', about), line('Read again', [refreshed]), line('Filters', filtered)],
      `Seen here: ${longTasks.length} tasks of more than 50 ms, ${Math.round(Math.max(0, ...longTasks))} ms the longest;`,
      `${gaps.length} frames, ${Math.round(quantile(gaps, 0.5))} ms apart in the middle, ${Math.round(quantile(gaps, 0.99))} at p99`,
    ]
    process.stdout.write(`${report.join('\n')}\n`)
    const all = [...down, ...about, refreshed, ...filtered]
    expect(all.filter(({ workMs }) => !(workMs < STALL_MS))).toEqual([])
    for (const steps of [down.slice(-100), about, filtered]) {
      const work = steps.map(({ workMs }) => workMs)
      expect(quantile(work, 0.5)).toBeLessThan(USUAL_MS)
    }
    expect(Math.max(...all.map(({ rows }) => rows))).toBeLessThan(MOST_ROWS)
    await context.close()
  })
})
