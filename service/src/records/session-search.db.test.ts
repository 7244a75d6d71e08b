import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { useDatabase } from '../../test/harness/database.ts'
import { plansOf, type QueryPlan } from '../../test/harness/plans.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import type { TenantId } from '../kernel/ids.ts'
import { readPage } from '../kernel/pages.ts'
import type { Db } from '../platform/db/schema.ts'
import type { SessionId } from './call-values.ts'
import { deleteVoiceSession } from './voice-session-store.ts'
import { makeVoiceSessions, type SessionQuery } from './voice-sessions.ts'

const ROWS = 3_000
const PAGE_ROWS = 50
const acme = 'acme' as TenantId

const test = useDatabase({ isFilledOnce: true, isNew: true })

type Listed = { id: string; call_sid: string }

/**
 * Two tenants' sessions, `n` of each growing with time, several in each millisecond, and in each two turns. `often` is a word of
 * every third, `rare` of every 500th, `lately` of the last 20, `once` of the first 1,500; only globex speaks of `theirs`.
 */
async function fill(db: Db): Promise<void> {
  for (const id of ['acme', 'globex']) await makeTenant(db, id)
  await sql`
    insert into voice_sessions (tenant_id, id, call_sid, direction, "from", "to", call_status, agent_key,
                                audio_output_provider, created_at, started_at, resumed_count, latency, usage, tags, metadata)
    select tenant_id, gen_random_uuid(), 'CA' || tenant_id || n, 'inbound', '+12025550101', '+12025550199', 'completed',
           case when n % 10 = 0 then 'sales' else 'support' end, 'primary', at, at, 0, '{}', '{}', '{}', '{"n": 0}'
      from tenants, generate_series(1, ${sql.lit(ROWS)}) n,
           lateral (select timestamptz '2030-01-01' + n / 7 * interval '1 millisecond' as at) row`.execute(db)
  await sql`
    insert into transcript_turns (tenant_id, session_id, item_id, seq, role, text, unheard, start_ms, end_ms, interrupted)
    select tenant_id, id, 'item_' || seq, seq, 'caller', said, '', 0, 500, false
      from voice_sessions,
           lateral (select substr(call_sid, length('CA' || tenant_id) + 1)::integer as n) numbered,
           lateral (values (1, 'Good morning, it is me' || case when n % 3 = 0 then ' as often as not' else '' end
                                || case when n > ${sql.lit(ROWS - 20)} then ' and lately' else '' end),
                           (2, 'A word' || case when n % 500 = 0 then ' that is rare' else '' end
                                || case when n <= 1500 then ' that once was' else '' end
                                || case when tenant_id = 'globex' then ' of theirs' else '' end)) turn (seq, said)`.execute(
    db,
  )
  await sql`vacuum analyze`.execute(db)
}

const list = (db: Db, query: SessionQuery, page: object = {}) =>
  makeVoiceSessions({ db }).list(acme, query, readPage({ limit: PAGE_ROWS, ...page }))

async function allPages(query: SessionQuery): Promise<string[]> {
  const sids: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await list(test.db, query, cursor === undefined ? {} : { cursor })
    const rows: Listed[] = JSON.parse(page.json)
    sids.push(...rows.map(({ call_sid }) => call_sid))
    cursor = page.nextCursor
  }
  return sids
}

/** The same by looking at every turn. */
async function asStored(phrases: string[], agentKey: string | undefined): Promise<string[]> {
  const { rows } = await sql<Listed>`
    select call_sid from voice_sessions session
     where tenant_id = ${acme} and (${agentKey ?? null}::text is null or agent_key = ${agentKey ?? null})
       and ${sql.join(
         phrases.map(
           (phrase) => sql`
           (select bool_or(text ~* ${`\\y${phrase}\\y`}) from transcript_turns turn
             where turn.tenant_id = session.tenant_id and turn.session_id = session.id)`,
         ),
         sql` and `,
       )}
     order by created_at desc, id desc`.execute(test.db)
  return rows.map(({ call_sid }) => call_sid)
}

const SEARCHES: [q: string, phrases: string[], agentKey?: string][] = [
  ['morning', ['morning']],
  ['often', ['often']],
  ['rare', ['rare']],
  ['lately', ['lately']],
  ['once', ['once']],
  ['theirs', ['theirs']],
  ['"as often"', ['as often']],
  ['rare morning', ['rare', 'morning']],
  ['morning rare', ['rare', 'morning']],
  ['often once', ['often', 'once']],
  ['lately once', ['lately', 'once']],
  ['often', ['often'], 'sales'],
  ['rare', ['rare'], 'sales'],
  ['often', ['often'], 'nobody'],
]

async function lookedAt(query: SessionQuery, page: object = {}): Promise<QueryPlan> {
  const [plan] = await plansOf(test.db, (db) => list(db, query, page))
  if (!plan) throw new Error('nothing was asked')
  return plan
}

describe('a search in what was said in 3,000 sessions', () => {
  beforeAll(() => fill(test.db))

  it('finds what is said often, seldom, lately, once or by others, on pages in their order, each session once', async () => {
    for (const [q, phrases, agentKey] of SEARCHES) {
      const expected = await asStored(phrases, agentKey)
      expect([q, await allPages({ q, agentKey })]).toEqual([q, expected])
    }
    const skipped: Listed[] = JSON.parse((await list(test.db, { q: 'once' }, { offset: 70 })).json)
    expect(skipped.map(({ call_sid }) => call_sid)).toEqual((await asStored(['once'], undefined)).slice(70, 120))
  })

  it('goes through the newest sessions for a word of every third, and asks the index for one of every 500th', async () => {
    const [often, rare] = [await lookedAt({ q: 'often' }), await lookedAt({ q: 'rare' })]
    expect([...often.indexes]).not.toContain('transcript_turns_said')
    expect([...rare.indexes]).toContain('transcript_turns_said')
    // A sample, and a session of three blocks for each of a page's rows, of which two in three are in vain.
    expect(often.blocks).toBeLessThan(1_500)
    expect(rare.blocks).toBeLessThan(700)
  })

  it('reads of the sessions in which a word once was said only those that it shows', async () => {
    const { indexes, blocks } = await lookedAt({ q: 'once' })
    expect([...indexes]).toContain('transcript_turns_said')
    expect(blocks).toBeLessThan(900)
  })

  it('goes as far through the newest sessions as the rows that are asked for lie', async () => {
    const { indexes } = await lookedAt({ q: 'often' }, { limit: 500 })
    expect([...indexes]).not.toContain('transcript_turns_said')
    const rare = await lookedAt({ q: 'rare' }, { limit: 500 })
    expect([...rare.indexes]).toContain('transcript_turns_said')
  })

  it('goes through a few hundred sessions that another filter leaves, and not through all in which a word was said', async () => {
    const { indexes } = await lookedAt({ q: 'once', agentKey: 'sales' })
    expect([...indexes]).not.toContain('transcript_turns_said')
  })

  it('reads nothing of what another tenant says all the time', async () => {
    const { blocks } = await lookedAt({ q: 'theirs' })
    expect(blocks).toBeLessThan(700)
  })

  // What is written stays for those that come after: the plans are looked at before.
  it('finds what was written before turns knew when their sessions were made', async () => {
    await sql`update transcript_turns set session_created_at = null where hashtext(session_id::text) % 2 = 0`.execute(
      test.db,
    )
    for (const q of ['once', 'rare', 'lately']) expect(await allPages({ q })).toEqual(await asStored([q], undefined))
  })

  it('finds words within those of writing that has no blanks between them, and no others', async () => {
    const said = (n: number, text: string) =>
      sql`update transcript_turns set text = ${text} where item_id = 'item_2' and tenant_id = 'acme' and session_id =
          (select id from voice_sessions where call_sid = ${`CAacme${n}`})`.execute(test.db)
    await said(2, '明日の予約をお願いします。10%引きですか')
    await said(2_999, 'iPhoneの予約です')
    await said(2_998, 'ขอจองโต๊ะสองที่ครับ')
    await said(2_997, '예약을 하고 싶어요')
    expect(await allPages({ q: '예약' })).toEqual(['CAacme2997'])
    expect(await allPages({ q: '予約' })).toEqual(['CAacme2999', 'CAacme2'])
    expect(await allPages({ q: 'iphoneの 予約' })).toEqual(['CAacme2999'])
    expect(await allPages({ q: 'จองโต๊ะ' })).toEqual(['CAacme2998'])
    expect([await allPages({ q: '予%約' }), await allPages({ q: '10%引' })]).toEqual([[], ['CAacme2']])
  })

  it('looks for two parts of words of a tenant at a time, and for whole words and those of others beside them', async () => {
    const sessions = makeVoiceSessions({ db: test.db })
    const ask = (tenantId: TenantId, q: string) => sessions.list(tenantId, { q }, readPage({ limit: 1 }))
    const asked = [ask(acme, '予約'), ask(acme, '예약')]
    await expect(ask(acme, '予')).rejects.toMatchObject({ code: 'rate_limited' })
    expect((await ask(acme, 'rare')).count).toBe(1)
    expect((await ask('globex' as TenantId, '予約')).count).toBe(0)
    await Promise.all(asked)
    expect((await ask(acme, '予')).count).toBe(1)
  })

  it('finds an erased session no more', async () => {
    const [first, ...others]: Listed[] = JSON.parse((await list(test.db, { q: 'rare' })).json)
    await test.db.transaction().execute((tx) => deleteVoiceSession(tx, acme, first?.id as SessionId))
    expect(JSON.parse((await list(test.db, { q: 'rare' })).json)).toEqual(others)
  })
})
