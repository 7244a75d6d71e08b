import type pg from 'pg'
import { withoutIndexes } from './fill.ts'

/** The calls of one tenant, spread evenly over the days until now: ten agents with three versions each. */
export type CallsPlan = { tenantId: string; calls: number; days: number }

/** So many at once, so that no statement needs more room than there is. */
const AT_ONCE = 500_000
const SEED = 0.42

/** What the service writes down of 1 to 12 answers in bins around 600 ms. */
const CALLS = `
  insert into call_logs (tenant_id, id, call_sid, voice_session_id, direction, "from", "to", status, status_at, agent_key,
                         agent_name, agent_version_id, version_number, created_at, started_at, answered_at, ended_at,
                         duration_seconds, escalated, metadata)
  select $1, md5($1 || '/' || n)::uuid, 'CA' || md5($1 || ' call ' || n), md5($1 || ' session ' || n)::uuid, 'inbound',
         '+12025550101', '+12025550199', case when a < 0.86 then 'completed' when a < 0.95 then 'no-answer' else 'busy' end, at,
         'agent-' || n % 10, 'Agent', md5('version ' || n % 30)::uuid, n % 3 + 1, at, at, case when a < 0.86 then at end, at,
         case when a < 0.86 then 30 + n % 300 else 0 end, n % 50 = 0, '{}'
    from (select n, random() as a,
                 date_trunc('milliseconds', now() - $3::integer * interval '1 day' * (1 - n / $2::float8)) as at
            from generate_series($4::integer, $5::integer) n) drawn`

const SESSIONS = `
  insert into voice_sessions (tenant_id, id, call_sid, direction, "from", "to", call_status, agent_key, agent_name,
                              agent_version_id, version_number, audio_output_provider, created_at, started_at, ended_at,
                              duration_seconds, end_reason, resumed_count, latency, usage, tags, outcome, metadata, qa)
  select tenant_id, voice_session_id, call_sid, direction, "from", "to", status, agent_key, agent_name, agent_version_id,
         version_number, 'primary', created_at, started_at, ended_at, duration_seconds, 'caller_hangup', 0,
         jsonb_build_object('interruptions', floor(3 * a), 'response_times', format('%s%se%s', 1 + floor(3 * a),
                            lpad(floor(9 * b)::text, 10, '0'), 10 * floor(25 + 20 * b))),
         '{}', '{}', case when a < 0.5 then 'outcome ' || floor(12 * a) end, '{}',
         case when b < 0.7 then jsonb_build_object('score', round(b::numeric, 4), 'high_quality', b > 0.5) end
    from (select log.*, random() as a, random() as b
            from generate_series($2::integer, $3::integer) n
            join call_logs log on log.tenant_id = $1 and log.id = md5($1 || '/' || n)::uuid) drawn`

/** Writes them, with their sessions, and that all of them are still to be counted. The tenant must have none. */
export async function fillCalls(client: pg.Client, { tenantId, calls, days }: CallsPlan): Promise<void> {
  // As a replica nobody looks up the tenant of each row, and no trigger runs.
  await client.query(`set session_replication_role = replica; set synchronous_commit = off; set work_mem = '256MB';
                      set maintenance_work_mem = '256MB'; select setseed(${SEED})`)
  await withoutIndexes(client, async () => {
    for (let from = 1; from <= calls; from += AT_ONCE) {
      const to = Math.min(calls, from + AT_ONCE - 1)
      await client.query(CALLS, [tenantId, calls, days, from, to])
      await client.query(SESSIONS, [tenantId, from, to])
    }
  })
  await client.query('vacuum analyze call_logs')
  await client.query('vacuum analyze voice_sessions')
  await client.query(
    `insert into call_changes (tenant_id, starts_at)
     select distinct tenant_id, date_trunc('hour', created_at, 'UTC') from call_logs where tenant_id = $1`,
    [tenantId],
  )
  await client.query('reset all')
  await client.query('checkpoint')
}
