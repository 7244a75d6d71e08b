import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { over, PHONE, plantNumber, TRACES } from '../src/calls/erasing/number-erasure.fixture.ts'
import { openEmbedded } from '../src/platform/db/embedded.ts'
import type { Database } from '../src/platform/db/schema.ts'
import { makeRecordingFiles } from '../src/records/recording-files.ts'
import { TestClock } from './harness/clock.ts'
import { filesWith, rowsWith } from './harness/everything.ts'
import { killPrograms, startProgram } from './harness/program.ts'
import { type Copy, copyTemplate } from './harness/template.ts'
import { makeTenantWithToken } from './harness/tenant-server.ts'
import { until } from './harness/wait.ts'

/** The program starts twice, on a machine that may be busy with other tests. */
const AT_LEISURE = { timeout: 180_000 }
const WITHIN_MS = 60_000
/** Turns of others' calls, which are gone through in many steps. */
const TURNS = process.env['PARLEY_TEST_FULL'] ? 20_000 : 8_000
const MIDWAY = 1_000
const TENANT = 'acme'
const HEADERS = { authorization: `Bearer bearer-token-of-${TENANT}`, 'content-type': 'application/json' }

type Erasure = { id: string; status: string; counts: Record<string, number> }

describe('kill -9 in the midst of an erasure by number', () => {
  let copy: Copy
  let dataDir: string

  beforeAll(async () => {
    copy = await copyTemplate(inject('databaseTemplate'))
    dataDir = copy.settings['DATA_DIR'] ?? (await mkdtemp(join(tmpdir(), 'erasing-killed-')))
  })
  afterEach(killPrograms)
  afterAll(async () => {
    await copy.remove()
    await rm(dataDir, { recursive: true, force: true })
  })

  /** As another process, while the program does not run. */
  function open(): Promise<Database> {
    const { kind } = inject('databaseTemplate')
    return kind === 'embedded' ? openEmbedded({ pid: process.pid, folder: join(dataDir, 'database') }) : copy.open()
  }

  async function plant(): Promise<void> {
    const { db, close } = await open()
    // Of yesterday: what is written behind a request is not its own.
    const clock = new TestClock(Date.now() - 86_400_000)
    const files = makeRecordingFiles(join(dataDir, 'recordings'))
    await makeTenantWithToken(db, TENANT)
    const world = { db, clock, files, tenant: TENANT }
    const callSids = { own: 'CA-own', other: 'CA-other' }
    await plantNumber(world, callSids)
    for (const callSid of Object.values(callSids)) await over(world, callSid)
    // Audio of others' calls is not searched.
    const other = await db
      .selectFrom('voice_sessions')
      .select(['tenant_id', 'id'])
      .where('call_sid', '=', callSids.other)
      .executeTakeFirstOrThrow()
    await files.remove(other.tenant_id, other.id)
    await sql`
      insert into transcript_turns (tenant_id, session_id, item_id, seq, role, text, unheard, start_ms, end_ms, interrupted)
      select tenant_id, session_id, 'a' || lpad(n::text, 6, '0'), 1000 + n, role, 'Call (202) 555-0142 soon.', '', 0, 0, false
        from transcript_turns, generate_series(1, ${TURNS}) n
       where session_id = ${other.id}`.execute(db)
    await slowDown(db)
    await close()
  }

  /** Behind a thousand mentions each step takes a fifth of a second: whoever kills in the midst of them has the time to. */
  async function slowDown(db: Database['db']): Promise<void> {
    // The embedded database does nothing else meanwhile: no step may take as long as somebody waits for an answer.
    await sql`
      create function take_time() returns trigger language plpgsql as $$
      declare over_at timestamptz := clock_timestamp() + interval '200 milliseconds';
      begin
        while clock_timestamp() < over_at loop end loop;
        return new;
      end $$`.execute(db)
    await sql`
      create trigger slow before update on number_erasures for each row
        when ((old.counts ->> 'mentions')::bigint > ${sql.lit(MIDWAY)}) execute function take_time()`.execute(db)
  }

  async function erasures(address: string): Promise<Erasure[]> {
    const response = await fetch(`${address}/api/v1/erasures`, { headers: { authorization: HEADERS.authorization } })
    return ((await response.json()) as { erasures: Erasure[] }).erasures
  }

  /** On a server others may have the request, until the lease is over by the clock of the database. */
  async function midway(): Promise<unknown> {
    const { db, close } = await open()
    await sql`drop function take_time cascade`.execute(db)
    const row = await db.selectFrom('number_erasures').selectAll().executeTakeFirstOrThrow()
    await db
      .updateTable('number_erasures')
      .set({ leased_until: new Date(0) })
      .execute()
    await close()
    return row
  }

  it('leaves the number nowhere once the next process has gone on, and one receipt', AT_LEISURE, async () => {
    await plant()
    const settings = {
      ...{ ENCRYPTION_KEY: randomBytes(32).toString('base64'), ...copy.settings, DATA_DIR: dataDir },
      SWEEP_INTERVAL_SECONDS: '1',
    }
    const killed = startProgram(settings)
    const first = await killed.listening()
    const body = JSON.stringify({ phone: PHONE })
    const asked = fetch(`${first}/api/v1/erasures`, { method: 'POST', headers: HEADERS, body }).catch(() => null)
    const isUnderWay = async () => ((await erasures(first))[0]?.counts['mentions'] ?? 0) > MIDWAY
    await until(isUnderWay, { what: 'the erasure to be under way', timeoutMs: WITHIN_MS, everyMs: 50 })
    await killed.end('SIGKILL')
    await asked
    expect(await midway()).toMatchObject({
      ...{ completed_at: null, phone_sealed: expect.any(String) },
      progress: { step: expect.stringMatching(/^mentions/), after: expect.any(Array) },
    })

    const next = startProgram(settings)
    const address = await next.listening()
    const isDone = async () => (await erasures(address)).every(({ status }) => status === 'completed')
    await until(isDone, { what: 'the receipt', timeoutMs: WITHIN_MS, everyMs: 100 })
    const receipts = await erasures(address)
    await next.end('SIGTERM')

    expect(receipts).toMatchObject([
      { counts: { voice_sessions: 1, transcript_turns: 1, call_logs: 1, callback_tasks: 1, recording_parts: 1 } },
    ])
    expect(receipts[0]?.counts['mentions']).toBeGreaterThan(TURNS)
    const { db, close } = await open()
    const rows = await rowsWith(db, TRACES)
    await close()
    expect(rows).toEqual([])
    expect(await filesWith(dataDir, TRACES)).toEqual([])
    const written = [killed, next].map(({ stdout, stderr }) => stdout() + stderr()).join('')
    expect(TRACES.filter((trace) => written.includes(trace))).toEqual([])
  })
})
