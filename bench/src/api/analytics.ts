import { createHash } from 'node:crypto'
import type pg from 'pg'
import { ADMIN_API_KEY, startParley } from '../parley.ts'
import { median, percentile } from '../stats.ts'
import { fillCalls } from './fill-calls.ts'
import { HttpClient } from './http-client.ts'
import { NO_PROVIDERS } from './outbox.ts'
import type { ApiPlan } from './plan.ts'
import type { Ground } from './rings.ts'
import { makeToken, putTenant } from './tenants.ts'

/** Service times of one question, in ms. */
export type QuestionFigure = { question: string; p50Ms: number; p99Ms: number }

/** What it takes to count a tenant's calls, and to answer what they came to. */
export type AnalyticsFigures = {
  calls: number
  days: number
  hours: number
  countSeconds: number
  questions: QuestionFigure[]
}

const TENANT = 'api-analytics'
const DAYS = 30
const DAY_MS = 86_400_000
const HOURS_AT_ONCE = 100
const PATH = '/api/v1/analytics/calls'

/** What is asked of all the days. */
const QUESTIONS: Record<string, string> = {
  'by day': 'interval=day',
  'by hour': 'interval=hour',
  'by day, in a zone of half hours': 'interval=day&time_zone=Asia/Kolkata',
  'by day and agent': 'interval=day&group_by=agent',
  'by day and version': 'interval=day&group_by=version',
  'by day and version, in another zone': 'interval=day&group_by=version&time_zone=Europe/Berlin',
  'by day and version, in a zone of half hours': 'interval=day&group_by=version&time_zone=Asia/Kolkata',
  'by version': 'interval=all&group_by=version',
  'by day, of one agent': 'interval=day&agent_key=agent-3',
  'by hour, of one agent': 'interval=hour&agent_key=agent-3',
  'by day, of one version': `interval=day&agent_version_id=${versionId(4)}`,
}

/** As `fillCalls` names its versions. */
function versionId(n: number): string {
  const hex = createHash('md5').update(`version ${n}`).digest('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Fills a tenant, has it counted, and asks one thing after the other. */
export async function measureAnalytics(ground: Ground, client: pg.Client, plan: ApiPlan): Promise<AnalyticsFigures> {
  const surroundings = { ...NO_PROVIDERS, certificate: undefined, profileFolder: ground.profileFolder }
  const how = { name: 'parley', databaseUrl: ground.databaseUrl, minSpeechMs: undefined }
  const place = { ...ground, cores: [ground.systemCore] }
  const service = await startParley(how, surroundings, { place, nodeArgs: [] })
  try {
    const admin = { address: service.address, adminKey: ADMIN_API_KEY }
    await putTenant(admin, TENANT)
    await fillCalls(client, { tenantId: TENANT, calls: plan.analyticsCalls, days: DAYS })
    const startMs = performance.now()
    const hours = await countAll(service.address, client)
    const countSeconds = (performance.now() - startMs) / 1_000
    const token = await makeToken(admin, TENANT)
    const questions = await askAll(service.address, token, plan.samples)
    return { calls: plan.analyticsCalls, days: DAYS, hours, countSeconds, questions }
  } finally {
    await service.stop()
  }
}

/** The service sweeps by itself as well: what is left is looked up. Of today hours are counted, and not yet added up. */
async function countAll(address: string, client: pg.Client): Promise<number> {
  for (;;) {
    const url = `${address}/api/v1/admin/analytics/sweep?limit=${HOURS_AT_ONCE}`
    const response = await fetch(url, { method: 'POST', headers: { 'x-admin-key': ADMIN_API_KEY } })
    if (!response.ok) throw new Error(`the sweep was answered with ${response.status}: ${await response.text()}`)
    const { rows } = await client.query<{ left: number; counted: number }>(
      `select (select count(*)::integer from call_changes) +
              (select count(*)::integer from call_day_changes where starts_at <= now() - interval '1 day') as left,
              (select count(*)::integer from call_rollups where minutes = 60 and is_whole) as counted`,
    )
    const [state] = rows
    if (state?.left === 0) return state.counted
  }
}

/** In turns, so that what drifts on the machine drifts for all; the first time is not counted. */
async function askAll(address: string, token: string, samples: number): Promise<QuestionFigure[]> {
  const client = new HttpClient(address, { connections: 1, token })
  // Of whole days, however late it is: 30 of them.
  const [since, until] = [DAYS - 1, 0].map((days) => new Date(Date.now() - days * DAY_MS).toISOString())
  const questions = Object.entries(QUESTIONS)
  const times = questions.map((): number[] => [])
  for (let sample = -1; sample < samples; sample++) {
    for (const [i, [, query]] of questions.entries()) {
      const { ms } = await client.get(`${PATH}?since=${since}&until=${until}&${query}`)
      if (sample >= 0) times[i]?.push(ms)
    }
  }
  client.close()
  return questions.map(([question], i) => {
    const own = times[i] ?? []
    return { question, p50Ms: median(own), p99Ms: percentile(own, 99) }
  })
}
