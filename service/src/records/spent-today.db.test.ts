import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../../test/harness/database.ts'
import { plansOf } from '../../test/harness/plans.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import type { Db } from '../platform/db/schema.ts'
import { tenantTold } from './calls.fixture.ts'
import { spentToday } from './spent-today.ts'

const CALLS = 3_000
const NOON = new Date('2030-01-15T12:00:00Z')
const MINUTE_MS = 60_000

const test = useDatabase()
const acme = tenantTold('acme')
const bounded = { ...acme, limits: { ...acme.limits, minutes_per_day: 10, budget_per_day: 10 } }

/** Calls of two tenants, one each minute, those of the last two days: of a minute and a hundredth of a dollar each. */
async function fill(db: Db): Promise<void> {
  for (const id of ['acme', 'globex']) await makeTenant(db, id)
  await sql`
    insert into call_logs (tenant_id, id, call_sid, voice_session_id, direction, "from", "to", status, status_at, created_at,
                           started_at, answered_at, ended_at, escalated, metadata)
    select tenant_id, gen_random_uuid(), 'CA' || tenant_id || n, gen_random_uuid(), 'inbound', '+12025550101',
           '+12025550199', 'completed', at, at, at, at, at + interval '1 minute', false, '{}'
      from tenants, generate_series(1, ${sql.lit(CALLS)}) n,
           lateral (select ${NOON}::timestamptz - n * interval '1 minute' as at) row`.execute(db)
  await sql`
    insert into voice_sessions (tenant_id, id, call_sid, direction, "from", "to", call_status, audio_output_provider,
                                created_at, started_at, ended_at, end_reason, resumed_count, latency, usage, cost_usd, tags,
                                metadata)
    select tenant_id, voice_session_id, call_sid, direction, "from", "to", status, 'primary', created_at, started_at,
           ended_at, 'caller_hangup', 0, '{}', '{}', 0.01, '{}', '{}' from call_logs`.execute(db)
  await sql`
    insert into transcript_turns (tenant_id, session_id, item_id, seq, role, text, unheard, start_ms, end_ms, interrupted, cost_usd)
    select tenant_id, id, 'item_1', 1, 'agent', 'Hello.', '', 0, 500, false, 0.01 from voice_sessions`.execute(db)
  // Of two days each fifth session was erased.
  await sql`
    with erased as (delete from voice_sessions where extract(minute from created_at)::integer % 5 = 0 returning tenant_id, id)
    update call_logs log set voice_session_id = null, cost_usd = 0.01
      from erased where log.tenant_id = erased.tenant_id and log.voice_session_id = erased.id`.execute(db)
  await sql`vacuum analyze`.execute(db)
}

describe('what a day has taken', () => {
  beforeEach(() => fill(test.db))

  it('is summed from indexes alone, and from no call of another day than may last until this one', async () => {
    expect(await spentToday(test.db, bounded, { now: NOON })).toEqual({
      seconds: (12 * 60 * MINUTE_MS) / 1_000,
      usd: expect.closeTo(7.2, 6),
    })
    const [minutes, budget] = await plansOf(test.db, (db) => spentToday(db, bounded, { now: NOON }))
    for (const [plan, indexes] of [
      [minutes, ['call_logs_of_day']],
      [budget, ['voice_sessions_of_day', 'call_logs_erased_of_day']],
    ] as const) {
      expect([...(plan?.nodes ?? [])]).toContain('Index Only Scan')
      expect([...(plan?.indexes ?? [])]).toEqual(expect.arrayContaining([...indexes]))
      for (const other of ['Seq Scan', 'Index Scan']) expect([...(plan?.nodes ?? [])]).not.toContain(other)
    }
  })

  it.each([
    ['', 'CAacme1'],
    [' whose session was erased', 'CAacme5'],
  ])('leaves out the call that is asked for%s', async (_what, exceptCallSid) => {
    const { seconds, usd } = (await spentToday(test.db, bounded, { now: NOON, exceptCallSid })) ?? {}
    expect([seconds, usd]).toEqual([(12 * 60 - 1) * 60, expect.closeTo(7.19, 6)])
  })

  it('is not asked for where nothing is bounded', async () => {
    expect(await plansOf(test.db, (db) => spentToday(db, acme, { now: NOON }))).toEqual([])
  })
})
