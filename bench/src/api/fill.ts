import type pg from 'pg'

/** So many call logs for this tenant. */
export type Share = { tenantId: string; rows: number }

/** Turns of what was said stand under one session of so many. */
const SESSIONS_PER_TURN = 4
const SEED = 0.42

const TABLES = ['call_logs', 'voice_sessions', 'transcript_turns']

/** Each tenant's calls are spread evenly over 90 days, the last a minute ago. `a` to `e`: drawn from 0 to 1. */
const CALL_LOGS = `
  insert into call_logs (tenant_id, id, call_sid, voice_session_id, stream_sid, direction, "from", "to", status, status_at,
                         agent_key, agent_name, version_number, created_at, started_at, answered_at, ended_at,
                         duration_seconds, escalated, summary, metadata)
  select tenant_id, md5(tenant_id || '/' || n)::uuid, 'CA' || md5(tenant_id || ' call ' || n),
         md5(tenant_id || ' session ' || n)::uuid, 'MZ' || md5(tenant_id || ' stream ' || n),
         case when a < 0.7 then 'inbound' when a < 0.999 then 'outbound' else 'browser' end,
         case when b < 0.1 then 'anonymous' else '+1202' || (2000000 + floor(b * 50000)::integer) end,
         case when c < 0.001 then '+12025550190' else '+1202555010' || floor(c * 5)::integer end,
         case when d < 0.86 then 'completed' when d < 0.93 then 'busy' when d < 0.98 then 'no-answer'
              when d < 0.999 then 'failed' else 'canceled' end,
         at + interval '3 minutes',
         case when e < 0.8 then 'reception' when e < 0.999 then 'sales' else 'night' end, 'Agent', 3, at,
         case when d < 0.98 then at + interval '1 second' end, case when d < 0.86 then at + interval '3 seconds' end,
         at + interval '3 minutes', case when d < 0.86 then 177 else 0 end, a < 0.02,
         'The caller asked about an order, was told when it comes, and wanted a confirmation by mail.', '{"order": 4711}'
    from (select tenant_id, n,
                 date_trunc('milliseconds', now() - interval '1 minute' - interval '90 days' * (1 - n / rows::float8)) as at,
                 random() as a, random() as b, random() as c, random() as d, random() as e
            from shares, generate_series(1, rows) n
           order by tenant_id, n) drawn`

const VOICE_SESSIONS = `
  insert into voice_sessions (tenant_id, id, call_sid, stream_sid, direction, "from", "to", call_status, agent_key, agent_name,
                              version_number, model, voice, audio_output_provider, created_at, started_at, ended_at,
                              duration_seconds, end_reason, resumed_count, latency, usage, tags, metadata)
  select tenant_id, voice_session_id, call_sid, stream_sid, direction, "from", "to", status, agent_key, agent_name,
         version_number, 'gpt-realtime', 'marin', 'primary', created_at, started_at, ended_at, duration_seconds,
         case when a < 0.8 then 'caller_hangup' when a < 0.999 then 'agent_hangup' else 'model_lost' end, 0,
         '{"greeting_ms": 480, "response_p50_ms": 610, "response_p95_ms": 930, "interruptions": 1}',
         '{"input_tokens": 2400, "output_tokens": 900, "cached_tokens": 1800, "audio_seconds": 61.5}',
         case when b < 0.3 then '{sale}'::text[] when b < 0.31 then '{vip}' when b < 0.311 then '{complaint}'
              else '{}' end, '{}'
    from (select *, random() as a, random() as b from call_logs order by tenant_id, created_at, id) drawn`

const TURNS = `
  insert into transcript_turns (tenant_id, session_id, item_id, seq, role, text, unheard, start_ms, end_ms, interrupted,
                                session_created_at)
  select tenant_id, id, 'item_1', 1, 'caller',
         'Good morning, I would like to know what became of my order'
           || case when a < 0.001 then ', for I want a refund by zeppelin' when a < 0.01 then ', for I want a refund' else '' end,
         '', 900, 4200, false, created_at
    from (select tenant_id, id, created_at, random() as a, row_number() over (order by tenant_id, created_at, id) as n
            from voice_sessions) drawn
   where n % ${SESSIONS_PER_TURN} = 0`

/**
 * Writes the calls of tenants that exist, with their sessions and some of what was said, the same at every run but for the days
 * on which they lie. The tables must be empty of them.
 */
export async function fillRecords(client: pg.Client, shares: readonly Share[]): Promise<void> {
  // As a replica nobody looks up the tenant of each row, and triggers do nothing: what they write of a turn stands in it.
  await client.query(`set session_replication_role = replica; set synchronous_commit = off; set work_mem = '256MB';
                      set maintenance_work_mem = '256MB'; select setseed(${SEED});
                      create temp table shares (tenant_id text, rows integer)`)
  await client.query('insert into shares select * from unnest($1::text[], $2::integer[])', [
    shares.map(({ tenantId }) => tenantId),
    shares.map(({ rows }) => rows),
  ])
  await withoutIndexes(client, async () => {
    for (const statement of [CALL_LOGS, VOICE_SESSIONS, TURNS]) await client.query(statement)
  })
  for (const table of TABLES) {
    await client.query(`vacuum analyze ${table}`)
    // It would come a minute later, to find that nothing is to be done, and take the core from those who measure.
    await client.query(`alter table ${table} set (autovacuum_enabled = false)`)
  }
  await client.query('drop table shares; reset all')
  await client.query('checkpoint')
}

/** Made once over all rows they take a fraction of the time. What keys are made of stays. */
export async function withoutIndexes(client: pg.Client, work: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ indexname: string; indexdef: string }>(
    `select indexname, indexdef from pg_indexes
      where tablename = any($1) and not exists (select from pg_constraint where conname = indexname)`,
    [TABLES],
  )
  for (const { indexname } of rows) await client.query(`drop index ${indexname}`)
  await work()
  for (const { indexdef } of rows) await client.query(indexdef)
}
