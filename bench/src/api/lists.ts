import { processUse } from '../proc.ts'
import { median, percentile, spread } from '../stats.ts'
import { LISTS, type List } from './bare-columns.ts'
import { type FilterCase, filterCases } from './filters.ts'
import { askWithoutPause, HttpClient } from './http-client.ts'
import type { ApiPlan } from './plan.ts'

/** Who is asked, and for whom. `tenants`: those whose lists are measured, the one with the most rows first. */
export type ListGround = {
  service: { pid: number; address: string }
  bare: { pid: number; address: string }
  tenants: readonly { tenantId: string; token: string; rows: number }[]
}

type Round = { service: number; bare: number }

/** Requests per second of the server's CPU, in the median of the rounds; `ratio` is the median of theirs. */
export type Throughput = Round & { ratio: number; bareSpread: number; rounds: Round[] }

/** Median service times in ms. `row`: which row of the list the later page begins with. */
export type DeepPage = { row: number; firstMs: number; deepMs: number }

/** p99 of a list's page under a filter, and of the bare query's, in ms. `tenantRows`: what the tenant has in all. */
export type FilterFigure = Omit<FilterCase, 'query'> & {
  list: List['name']
  tenantRows: number
  p50Ms: number
  p99Ms: number
  bareP50Ms: number
  bareP99Ms: number
}

/** What pages of one list cost. */
export type ListFigures = { list: List['name']; throughput: Throughput; deepPage: DeepPage }

const CONNECTIONS = 16
const PAGE_ROWS = 50
/** The largest page that there is, to get far quickly. */
const LONG_PAGE_ROWS = 500
/**
 * Rounds that come before those that count: a route is compiled, and compiled again once more of it has become hot, for several thousand
 * answers, in which it costs up to twice as much.
 */
const WARM_UP_ROUNDS = 3

/** Measures the pages of both lists, one after the other. */
export async function measureLists(ground: ListGround, plan: ApiPlan): Promise<ListFigures[]> {
  const figures: ListFigures[] = []
  for (const list of LISTS) {
    const throughput = await measureThroughput(ground, list, plan)
    figures.push({ list: list.name, throughput, deepPage: await measureDeepPage(ground, list, plan) })
  }
  return figures
}

/** Measures each filter of both lists, for each of the tenants. */
export async function measureFilters(ground: ListGround, plan: ApiPlan): Promise<FilterFigure[]> {
  const figures: FilterFigure[] = []
  for (const list of LISTS) {
    for (const tenant of ground.tenants) figures.push(...(await filtersOf(list, { ground, tenant, plan })))
  }
  return figures
}

function largest({ tenants }: ListGround) {
  const [tenant] = tenants
  if (tenant === undefined) throw new Error('nobody to ask for')
  return tenant
}

function barePath({ path }: List, tenantId: string): string {
  return `${path}?tenant_id=${tenantId}&limit=${PAGE_ROWS}`
}

async function measureThroughput(ground: ListGround, list: List, plan: ApiPlan): Promise<Throughput> {
  const { tenantId, token } = largest(ground)
  const service = new HttpClient(ground.service.address, { connections: CONNECTIONS, token })
  const bare = new HttpClient(ground.bare.address, { connections: CONNECTIONS })
  const askService = () => service.get(`${list.path}?limit=${PAGE_ROWS}`)
  const askBare = () => bare.get(barePath(list, tenantId))
  const rounds: Round[] = []
  const ms = plan.roundSeconds * 1_000
  for (let round = -WARM_UP_ROUNDS; round < plan.rounds; round++) {
    const ofService = await perCpuSecond(ground.service.pid, () =>
      askWithoutPause(askService, { width: CONNECTIONS, ms }),
    )
    const ofBare = await perCpuSecond(ground.bare.pid, () => askWithoutPause(askBare, { width: CONNECTIONS, ms }))
    if (round >= 0) rounds.push({ service: ofService, bare: ofBare })
  }
  service.close()
  bare.close()
  return {
    service: median(rounds.map((round) => round.service)),
    bare: median(rounds.map((round) => round.bare)),
    ratio: median(rounds.map((round) => round.service / round.bare)),
    bareSpread: spread(rounds.map((round) => round.bare)),
    rounds,
  }
}

async function perCpuSecond(pid: number, work: () => Promise<number>): Promise<number> {
  const before = processUse(pid).cpuMs
  const answers = await work()
  return (answers * 1_000) / (processUse(pid).cpuMs - before)
}

async function measureDeepPage(ground: ListGround, list: List, plan: ApiPlan): Promise<DeepPage> {
  const { token, rows } = largest(ground)
  const client = new HttpClient(ground.service.address, { connections: 1, token })
  const row = Math.min(plan.deepRow, Math.floor(rows / 2 / LONG_PAGE_ROWS) * LONG_PAGE_ROWS)
  const cursor = await cursorBehind(client, list, row)
  const pages = { first: `${list.path}?limit=${PAGE_ROWS}`, deep: `${list.path}?limit=${PAGE_ROWS}&cursor=${cursor}` }
  const times = await timesInTurns({ client, paths: Object.values(pages), samples: plan.samples })
  client.close()
  const [firstMs = Number.NaN, deepMs = Number.NaN] = times.map(median)
  return { row, firstMs, deepMs }
}

async function cursorBehind(client: HttpClient, { path }: List, row: number): Promise<string> {
  let cursor = ''
  for (let at = 0; at < row; at += LONG_PAGE_ROWS) {
    const after = cursor === '' ? '' : `&cursor=${cursor}`
    const { text } = await client.get(`${path}?limit=${LONG_PAGE_ROWS}${after}`)
    cursor = String(JSON.parse(text).next_cursor)
  }
  return cursor
}

type FilterRun = { ground: ListGround; tenant: ListGround['tenants'][number]; plan: ApiPlan }

async function filtersOf(list: List, { ground, tenant, plan }: FilterRun): Promise<FilterFigure[]> {
  const { tenantId, token, rows: tenantRows } = tenant
  const service = new HttpClient(ground.service.address, { connections: 1, token })
  const bare = new HttpClient(ground.bare.address, { connections: 1 })
  const cases = filterCases(list, Date.now())
  // As often as all of the service's together: the p99 of few would be an accident that all of them are measured by.
  const askBare = () => bare.get(barePath(list, tenantId))
  const asks = cases.flatMap((one) => [askBare, () => service.get(`${list.path}?limit=${PAGE_ROWS}&${one.query}`)])
  const times = await inTurns(asks, plan.samples)
  service.close()
  bare.close()
  const ofBare = times.filter((_, i) => i % 2 === 0).flat()
  const ofQuery = { tenantRows, bareP50Ms: median(ofBare), bareP99Ms: percentile(ofBare, 99) }
  return cases.map(({ name, rows }, i) => {
    const own = times[2 * i + 1] ?? []
    return { list: list.name, name, rows, p50Ms: median(own), p99Ms: percentile(own, 99), ...ofQuery }
  })
}

type Pages = { client: HttpClient; paths: string[]; samples: number }

function timesInTurns({ client, paths, samples }: Pages): Promise<number[][]> {
  return inTurns(
    paths.map((path) => () => client.get(path)),
    samples,
  )
}

/** Asks each in turn, so that what drifts on the machine drifts for all; the first time is not counted. Times in ms. */
async function inTurns(asks: (() => Promise<{ ms: number }>)[], samples: number): Promise<number[][]> {
  const times: number[][] = asks.map(() => [])
  for (let sample = -1; sample < samples; sample++) {
    for (const [i, ask] of asks.entries()) {
      const { ms } = await ask()
      if (sample >= 0) times[i]?.push(ms)
    }
  }
  return times
}
