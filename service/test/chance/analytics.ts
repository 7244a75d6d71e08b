import type { SeededRandom } from '../corpus/random.ts'
import { isoOf, type Model, type Row, tenantOf } from './model.ts'
import { unlikeRow } from './unlike.ts'
import type { Json, World } from './world.ts'

const ZONES = ['UTC', 'Asia/Kolkata', 'America/St_Johns', 'Pacific/Auckland']
const DAY_MS = 86_400_000

type Counted = Json & {
  starts_at: string
  ends_at: string
  agent_key?: string | null
  agent_version_id?: string | null
}

/** What the figures of a tenant's calls are not as its rows have them. */
export async function unlikeAnalytics(world: World, model: Model, random: SeededRandom): Promise<string[]> {
  const tenant = random.pick(Object.keys(model.tenants))
  const [zone, interval] = [random.pick(ZONES), random.pick(['hour', 'day', 'all'])]
  const group = random.pick(['', '&group_by=agent', '&group_by=version'])
  await world.administer('POST', '/analytics/sweep')
  const asked = `interval=${interval}&time_zone=${zone}&since=${isoOf(model, -4 * DAY_MS)}${group}`
  const { status, body } = await world.read(tenant, `/analytics/calls?${asked}`)
  if (status !== 200) return [`GET analytics ${asked}: ${status} ${JSON.stringify(body)}`]
  const { totals, rows } = body['analytics'] as { totals: Json; rows: Counted[] }
  const { calls, sessions } = tenantOf(model, tenant)
  const faults = unlikeRow(totals, figuresOf(calls, sessions)).map((fault) => `totals: ${fault}`)
  for (const row of rows) {
    const own = calls.filter((call) => isIn(call, row))
    faults.push(...unlikeRow(row, figuresOf(own, sessions)).map((fault) => `${row.starts_at}: ${fault}`))
  }
  return faults.map((fault) => `analytics of ${tenant}, ${asked}: ${fault}`)
}

function isIn(call: Row, { starts_at, ends_at, agent_key, agent_version_id }: Counted): boolean {
  const at = String(call['created_at'])
  return (
    at >= starts_at &&
    at < ends_at &&
    (agent_key === undefined || call['agent_key'] === agent_key) &&
    (agent_version_id === undefined || call['agent_version_id'] === agent_version_id)
  )
}

function figuresOf(calls: Row[], sessions: Row[]): Json {
  const answered = calls.filter(({ answered_at }) => answered_at !== null).length
  const scores = sessions.flatMap(({ call_sid, qa }) =>
    qa && calls.some((call) => call['call_sid'] === call_sid) ? [(qa as { score: number }).score] : [],
  )
  const statuses = Object.fromEntries(
    ['completed', 'busy', 'failed', 'no-answer', 'canceled'].map((each) => [
      each,
      calls.filter(({ status }) => status === each).length,
    ]),
  )
  const rate = (part: number, all: number) => (all === 0 ? null : Math.round((part / all) * 10_000) / 10_000)
  return {
    ...{ calls: calls.length, answered, answer_rate: rate(answered, calls.length), statuses },
    ...{ escalated: calls.filter(({ escalated }) => escalated).length, scored: scores.length },
    avg_score: rate(
      scores.reduce((sum, each) => sum + each, 0),
      scores.length,
    ),
    high_quality_rate: rate(scores.filter((score) => score >= 0.8).length, scores.length),
  }
}
