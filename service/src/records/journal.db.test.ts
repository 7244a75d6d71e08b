import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { passing, passingWork } from '../../test/harness/passing.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { until } from '../../test/harness/wait.ts'
import { unreachable } from '../platform/db/errors.ts'
import type { Db } from '../platform/db/schema.ts'
import { makeLog } from '../platform/log.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { SessionId } from './call-values.ts'
import { NODE, someCall, someTurn, storedEvents, tenantTold } from './calls.fixture.ts'
import { type CallJournal, Journal } from './journal.ts'
import type { JournaledTool } from './journal-entry.ts'
import { makeSessions } from './sessions.ts'
import { listFunctionCalls, listTurns, NOT_ANSWERED } from './transcript-store.ts'

const test = useDatabase()
const acme = tenantTold('acme', null)
const INTERVAL_MS = 250
const RETRY_MS = 1_000

let clock: TestClock
let journal: Journal
let lines: Record<string, unknown>[]

beforeEach(async () => {
  clock = new TestClock()
  lines = []
  await makeTenant(test.db, 'acme')
  journal = makeJournal(test.db)
})
// A test that closes it has seen what it wanted to see; the others must leave nothing behind.
afterEach(async () => {
  await closed(journal)
  if (clock.pendingTimers > 0) throw new Error('the journal left a timer')
})

type PresentTenants = { get(): Promise<TenantRuntime | null> }

function makeJournal(db: Db, maxBytes?: number, tenants?: PresentTenants): Journal {
  const destination = { write: (line: string) => lines.push(JSON.parse(line)) }
  const log = makeLog({ level: 'info', secrets: [], destination })
  return new Journal({ db, clock, log, ...(maxBytes !== undefined && { maxBytes }), ...(tenants && { tenants }) })
}

/** Lets a journal that waits for the database run into its time limit. */
function closed(each: Journal): Promise<void> {
  return passingWork(clock, each.close())
}

type Opened = { sessionId: SessionId; journal: CallJournal }

async function openCall(callSid: string, tenant: TenantRuntime = acme): Promise<Opened> {
  const { sessionId, epoch } = await makeSessions({ db: test.db, clock, nodeId: NODE }).open(tenant, someCall(callSid))
  return { sessionId, journal: journal.of({ tenant, callSid, sessionId, epoch }) }
}

/** Moves time until what was appended is stored. */
async function written(): Promise<void> {
  await passingWork(clock, journal.flush())
}

async function texts(sessionId: SessionId): Promise<string[]> {
  return (await listTurns(test.db, acme.tenant_id, sessionId)).map(({ text }) => text)
}

/** A handle that counts the statements that pass. */
function counting(db: Db, count: (sql: string) => void): Db {
  return db.withPlugin({
    transformQuery: ({ node }) => {
      count(node.kind)
      return node
    },
    transformResult: async ({ result }) => result,
  })
}

describe('the journal', () => {
  it('stores turns once each, with all that is known of them, in the order of the conversation', async () => {
    const call = await openCall('CA1')
    const said = someTurn(2, {
      ...{ text: 'Yes, pl', unheard: 'ease hold.', interrupted: true, sentMs: 900, heardMs: 400.4, costUsd: 0.0123456 },
    })
    for (const turn of [someTurn(3, { agentName: 'Robin' }), said, someTurn(1)]) call.journal.append(turn)
    await written()
    const turns = await listTurns(test.db, acme.tenant_id, call.sessionId)
    expect(turns.map(({ seq, agent_name }) => [seq, agent_name])).toEqual([
      [1, null],
      [2, null],
      [3, 'Robin'],
    ])
    expect(turns[1]).toEqual({
      ...{ tenant_id: 'acme', session_id: call.sessionId, item_id: 'item_2', seq: 2, role: 'caller', text: 'Yes, pl' },
      ...{ unheard: 'ease hold.', start_ms: 4_000, end_ms: 5_500, interrupted: true, sent_ms: 900, heard_ms: 400 },
      ...{ cost_usd: 0.012346, timeline: null, agent_name: null },
    })
  })

  it('stores a tool call with what the model sent and was told', async () => {
    const call = await openCall('CA1')
    const tool: JournaledTool = {
      ...{ callId: 'call_1', seq: 1, name: 'find_slot', argumentsText: '{"day":"Monday"}', result: 'none free' },
      ...{ status: 'ok', startMs: 1_200.4, durationMs: 80 },
    }
    call.journal.tool(tool)
    await written()
    expect(await listFunctionCalls(test.db, acme.tenant_id, call.sessionId)).toEqual([
      {
        ...{ tenant_id: 'acme', session_id: call.sessionId, call_id: 'call_1', seq: 1, name: 'find_slot' },
        ...{ arguments: '{"day":"Monday"}', result: 'none free', status: 'ok', start_ms: 1_200, duration_ms: 80 },
      },
    ])
  })

  it('stores a tool call as it begins, and its answer in place of that, once', async () => {
    const call = await openCall('CA1')
    const asked = { callId: 'call_1', seq: 1, name: 'refund', argumentsText: '{}', startMs: 1_200 }
    const begun = { ...asked, result: null, status: 'timeout', durationMs: 0 } as const
    const stored = async (tool: JournaledTool) => {
      call.journal.tool(tool)
      await written()
      return listFunctionCalls(test.db, acme.tenant_id, call.sessionId)
    }
    const beginning = { call_id: 'call_1', seq: 1, result: NOT_ANSWERED, status: 'timeout', duration_ms: 0 }
    expect(await stored(begun)).toMatchObject([beginning])
    const answered = [{ ...beginning, result: '{"paid":true}', status: 'ok', duration_ms: 900 }]
    expect(await stored({ ...asked, result: '{"paid":true}', status: 'ok', durationMs: 900 })).toMatchObject(answered)
    expect(await stored(begun)).toMatchObject(answered)
    expect(await stored({ ...asked, result: '{}', status: 'error', durationMs: 1 })).toMatchObject(answered)
  })

  it('writes nothing before 250 ms have passed, and then all calls in one transaction', async () => {
    const kinds: string[] = []
    const calls = await Promise.all(['CA1', 'CA2', 'CA3'].map((sid) => openCall(sid)))
    const counted = makeJournal(counting(test.db, (kind) => kinds.push(kind)))
    for (const [index, { sessionId }] of calls.entries()) {
      const of = counted.of({ tenant: acme, callSid: `CA${index + 1}`, sessionId, epoch: 1 })
      for (const seq of [1, 2, 3]) of.append(someTurn(seq))
    }
    // In steps: a statement is sent once the database has begun a transaction.
    const lastMs = clock.now() + INTERVAL_MS - 50
    await passing(clock, () => clock.now() >= lastMs, { what: 'most of that time to pass', stepMs: 50 })
    expect(kinds).toEqual([])
    const flushed = counted.flush()
    await clock.advance(50)
    await flushed
    // The epochs of the calls, then their turns.
    expect(kinds).toEqual(['SelectQueryNode', 'RawNode'])
    for (const { sessionId } of calls) expect(await texts(sessionId)).toHaveLength(3)
    await counted.close()
  })

  it('replaces the turn of an item, whether it is stored or waits', async () => {
    const call = await openCall('CA1')
    call.journal.append(someTurn(1, { text: 'Hel' }))
    call.journal.append(someTurn(1, { text: 'Hello' }))
    await written()
    expect(await texts(call.sessionId)).toEqual(['Hello'])
    call.journal.append(someTurn(1, { text: 'Hello.' }))
    await written()
    expect(await texts(call.sessionId)).toEqual(['Hello.'])
  })

  it('takes a forgotten item out, whether it is stored or waits', async () => {
    const call = await openCall('CA1')
    for (const seq of [1, 2, 3]) call.journal.append(someTurn(seq))
    call.journal.forget('item_2')
    await written()
    call.journal.forget('item_3')
    await written()
    expect(await texts(call.sessionId)).toEqual(['Sentence 1.'])
  })

  it('stores what came while it wrote', async () => {
    const call = await openCall('CA1')
    call.journal.append(someTurn(1, { text: 'before' }))
    await clock.advance(INTERVAL_MS)
    call.journal.append(someTurn(1, { text: 'meanwhile' }))
    call.journal.append(someTurn(2))
    await written()
    expect(await texts(call.sessionId)).toEqual(['meanwhile', 'Sentence 2.'])
  })

  it('stores more than one transaction takes, in order', async () => {
    const call = await openCall('CA1')
    for (let seq = 1; seq <= 1_201; seq += 1) call.journal.append(someTurn(seq))
    await written()
    expect(await texts(call.sessionId)).toEqual(Array.from({ length: 1_201 }, (_, n) => `Sentence ${n + 1}.`))
  })

  it('keeps what a column cannot hold out of texts', async () => {
    const call = await openCall('CA1')
    call.journal.append(someTurn(1, { text: 'a\0b\ud800c', unheard: '\0' }))
    await written()
    expect(await texts(call.sessionId)).toEqual(['ab\ufffdc'])
  })

  it('keeps as much of an endless turn as can be searched', async () => {
    const call = await openCall('CA1')
    const words = Array.from({ length: 300_000 }, (_, n) => n.toString(36)).join(' ')
    call.journal.append(someTurn(1, { text: words, unheard: words }))
    await written()
    const [turn] = await listTurns(test.db, acme.tenant_id, call.sessionId)
    expect([turn?.text, turn?.unheard]).toEqual([words.slice(0, 65_536), words.slice(0, 65_536)])
    expect(lines).toEqual([])
  })

  it('has nothing to flush when nothing waits, and flushes one call without the others', async () => {
    await journal.flush()
    const call = await openCall('CA1')
    call.journal.append(someTurn(1))
    await journal.flush('CA2')
    expect(await texts(call.sessionId)).toEqual([])
  })

  it('tells each new or changed turn to the tenants that ask for turns, and to no others', async () => {
    await makeTenant(test.db, 'globex')
    const asks = tenantTold('globex', ['voice.transcript.turn'])
    const silent = await openCall('CA1')
    const told = await openCall('CA2', asks)
    for (const { journal: each } of [silent, told]) {
      each.append(someTurn(1))
      each.append(someTurn(2))
    }
    await written()
    told.journal.append(someTurn(1))
    told.journal.append(someTurn(2, { text: 'Corrected.' }))
    await written()
    expect(
      (await storedEvents(test.db)).map(({ call_sid, sequence, body }) => [call_sid, sequence, body]),
    ).toMatchObject([
      ['CA2', 1, { event: 'voice.transcript.turn', payload: { turn: { seq: 1, text: 'Sentence 1.' } } }],
      ['CA2', 2, { payload: { turn: { seq: 2, text: 'Sentence 2.', role: 'caller', start_ms: 4_000 } } }],
      ['CA2', 3, { payload: { turn: { seq: 2, text: 'Corrected.' } } }],
    ])
  })

  it.each<[string, () => Promise<TenantRuntime | null>, number]>([
    ['tells a tenant nothing more that asks for turns no more', async () => tenantTold('globex', ['dnc.added']), 0],
    ['tells a tenant nothing more that is gone', async () => null, 0],
    ['tells a tenant that still asks for them', async () => tenantTold('globex', ['voice.transcript.turn']), 1],
    ['tells a tenant of which nothing can be found out', () => Promise.reject(unreachable()), 1],
  ])('%s', async (_what, get, told) => {
    await makeTenant(test.db, 'globex')
    journal = makeJournal(test.db, undefined, { get })
    const call = await openCall('CA1', tenantTold('globex', ['voice.transcript.turn']))
    call.journal.append(someTurn(1))
    await written()
    const stored = await test.db.selectFrom('transcript_turns').select('text').execute()
    expect([stored, (await storedEvents(test.db)).length]).toEqual([[{ text: 'Sentence 1.' }], told])
  })
})

describe('a journal whose call another stream has taken over', () => {
  it('affects nothing, while other calls are written', async () => {
    const lost = await openCall('CA1')
    const kept = await openCall('CA2')
    lost.journal.append(someTurn(1))
    await written()
    await test.db.updateTable('call_directory').set({ epoch: 2 }).where('call_sid', '=', 'CA1').execute()
    lost.journal.append(someTurn(1, { text: 'stale' }))
    lost.journal.append(someTurn(2))
    lost.journal.forget('item_1')
    kept.journal.append(someTurn(1))
    await written()
    expect(await texts(lost.sessionId)).toEqual(['Sentence 1.'])
    expect(await texts(kept.sessionId)).toEqual(['Sentence 1.'])
    expect(lines).toMatchObject([{ level: 'warn', entries: 2 }])
  })

  it('waits for a take-over that is under way', async () => {
    const call = await openCall('CA1')
    const { db } = await test.anotherNode()
    await db.transaction().execute(async (tx) => {
      await tx.updateTable('call_directory').set({ epoch: 2 }).where('call_sid', '=', 'CA1').execute()
      call.journal.append(someTurn(1))
      await clock.advance(INTERVAL_MS)
    })
    await written()
    expect(await texts(call.sessionId)).toEqual([])
    expect(lines).toMatchObject([{ level: 'warn', entries: 1 }])
  })
})

describe('a journal of a call that is not kept any more', () => {
  it('affects nothing', async () => {
    const call = await openCall('CA1')
    await test.db.deleteFrom('tenants').execute()
    call.journal.append(someTurn(1))
    await written()
    expect(await test.db.selectFrom('transcript_turns').selectAll().execute()).toEqual([])
  })
})

describe('an entry that the database refuses', () => {
  it('is lost alone, and the log says so', async () => {
    const call = await openCall('CA1')
    const other = await openCall('CA2')
    for (const seq of [1, 2, 3]) other.journal.append(someTurn(seq))
    call.journal.append(someTurn(1))
    call.journal.append(someTurn(2, { startMs: 1e12 }))
    call.journal.append(someTurn(3))
    await written()
    expect(await texts(call.sessionId)).toEqual(['Sentence 1.', 'Sentence 3.'])
    expect(await texts(other.sessionId)).toHaveLength(3)
    expect(lines).toMatchObject([{ level: 'error', msg: 'a journal entry was refused', call_sid: 'CA1' }])
  })
})

describe('while the database cannot be written', () => {
  const away = () => sql`alter table transcript_turns rename to away`.execute(test.db)
  const back = () => sql`alter table away rename to transcript_turns`.execute(test.db)

  it('waits with everything, tries once a second, stores it once when it is back, and says both', async () => {
    const calls = await Promise.all(['CA1', 'CA2'].map((sid) => openCall(sid)))
    await away()
    for (const { journal: each } of calls) each.append(someTurn(1))
    await clock.advance(INTERVAL_MS)
    await until(() => lines.length === 1, { what: 'the warning' })
    for (const { journal: each } of calls) each.append(someTurn(2))
    for (let tries = 0; tries < 3; tries += 1) await clock.advance(RETRY_MS)
    await back()
    await written()
    for (const { sessionId } of calls) expect(await texts(sessionId)).toEqual(['Sentence 1.', 'Sentence 2.'])
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      ['warn', 'the journal cannot be written: it waits in memory'],
      ['info', 'the journal is written again'],
    ])
  })

  it('loses what its memory has no room for, and says how much', async () => {
    const call = await openCall('CA1')
    const small = makeJournal(test.db, 4_000)
    const of = small.of({ tenant: acme, callSid: 'CA1', sessionId: call.sessionId, epoch: 1 })
    await away()
    for (let seq = 1; seq <= 10; seq += 1) of.append(someTurn(seq))
    await back()
    await closed(small)
    expect(await texts(call.sessionId)).toEqual(Array.from({ length: 7 }, (_, n) => `Sentence ${n + 1}.`))
    expect(lines).toMatchObject([
      { level: 'error', reason: 'full' },
      { level: 'error', msg: 'journal entries were lost', entries: 3 },
    ])
  })

  it('counts everything that a model may make long', async () => {
    const call = await openCall('CA1')
    const small = makeJournal(test.db, 10_000)
    const of = small.of({ tenant: acme, callSid: 'CA1', sessionId: call.sessionId, epoch: 1 })
    const tool: JournaledTool = {
      ...{ callId: 'call_1', seq: 1, name: 'find_slot', argumentsText: '', result: '' },
      ...{ status: 'ok', startMs: 0, durationMs: 0 },
    }
    const long = 'x'.repeat(5_000)
    of.tool({ ...tool, name: long })
    of.tool({ ...tool, callId: long })
    of.append(someTurn(1, { itemId: long }))
    of.forget(long)
    await closed(small)
    expect(lines).toMatchObject([{ reason: 'full' }, { msg: 'journal entries were lost', entries: 4 }])
  })

  it('gives up five seconds after it was told to close: who waits is told, and the log says how much is lost', async () => {
    const call = await openCall('CA1')
    await away()
    call.journal.append(someTurn(1))
    const waiting = expect(journal.flush('CA1')).rejects.toMatchObject({ code: 'unavailable' })
    await closed(journal)
    await back()
    await waiting
    expect(lines.at(-1)).toMatchObject({ level: 'error', msg: 'journal entries were lost', entries: 1 })
    expect(await texts(call.sessionId)).toEqual([])
  })
})

describe('close', () => {
  it('writes what waits, without waiting for its time, and loses what comes later', async () => {
    const call = await openCall('CA1')
    call.journal.append(someTurn(1))
    await Promise.all([journal.close(), journal.close()])
    call.journal.append(someTurn(2))
    expect(await texts(call.sessionId)).toEqual(['Sentence 1.'])
    expect(lines).toMatchObject([{ level: 'error', reason: 'closed' }])
  })
})

// The embedded database has no connection to lose.
describe.runIf(inject('databaseTemplate').kind === 'server')('when the server ends its connection', () => {
  it('stores everything once', async () => {
    const { db } = await test.anotherNode()
    const call = await openCall('CA1')
    const cut = makeJournal(db)
    const of = cut.of({ tenant: acme, callSid: 'CA1', sessionId: call.sessionId, epoch: 1 })
    // Holds the writer inside its transaction until its connection is gone.
    await test.db.transaction().execute(async (tx) => {
      await sql`lock table transcript_turns in access exclusive mode`.execute(tx)
      for (const seq of [1, 2, 3]) of.append(someTurn(seq))
      await clock.advance(INTERVAL_MS)
      const ended = async () => {
        const { rows } = await sql<{ ended: boolean }>`
          select pg_terminate_backend(pid) as ended from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`.execute(test.db)
        return rows.length > 0
      }
      await until(ended, { what: 'the writer to wait' })
      await until(() => lines.length === 1, { what: 'the warning' })
    })
    // A journal that is told to close waits for so long by a clock that runs faster than the new connection is made.
    await passing(clock, () => lines.length === 2, { what: 'the journal to be stored again' })
    await closed(cut)
    expect(await texts(call.sessionId)).toEqual(['Sentence 1.', 'Sentence 2.', 'Sentence 3.'])
    expect(lines).toMatchObject([{ level: 'warn' }, { level: 'info' }])
  })
})
