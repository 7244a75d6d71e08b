import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type ChatServer, startChatServer } from '../../../test/harness/chat-server.ts'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { passing } from '../../../test/harness/passing.ts'
import { plansOf } from '../../../test/harness/plans.ts'
import { makeTenantWithToken } from '../../../test/harness/tenant-server.ts'
import { until } from '../../../test/harness/wait.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { openaiChat } from '../../platform/chat/openai.ts'
import type { ChatModel } from '../../platform/chat/port.ts'
import { makeLog } from '../../platform/log.ts'
import type { SessionId } from '../call-values.ts'
import { someTurn, storedEvents, tenantTold } from '../calls.fixture.ts'
import { findVoiceSession } from '../voice-session-store.ts'
import type { FindJudged } from './conversation.ts'
import { type EvaluationSource, listEvaluations } from './evaluation-store.ts'
import { assessmentOf, endedCall, findJudged, watchedModel } from './evaluations.fixture.ts'
import { Scorer } from './scorer.ts'
import { claimScoringAcrossTenants, releaseScoring } from './scoring-store.ts'

const ACME = 'acme' as TenantId
const tenants = { get: async (id: TenantId) => tenantTold(id) }

const test = useDatabase({ isNew: true })
let clock: TestClock
let provider: ChatServer
let lines: { level: string; msg: string }[]
let started: Scorer[]

beforeAll(async () => {
  provider = await startChatServer()
})
afterAll(() => provider.close())
beforeEach(async () => {
  clock = new TestClock()
  lines = []
  started = []
  provider.asked.length = 0
  provider.answer({ says: assessmentOf(0.9) })
  await makeTenantWithToken(test.db, ACME)
})
afterEach(async () => {
  await Promise.all(started.map((scorer) => scorer.close()))
  if (clock.pendingTimers > 0) throw new Error('whoever scores has left a timer')
})

const theModel = () => openaiChat({ baseUrl: provider.baseUrl, apiKey: 'sk-key-of-the-tests' })

/** Somebody who scores, until the test is over. */
async function scoring(
  model: ChatModel | null = theModel(),
  { isAlone = false, judged = findJudged } = {},
): Promise<Scorer> {
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) }
  const log = makeLog({ level: 'debug', secrets: [], destination })
  const scorer = new Scorer({ db: test.db, clock, log, tenants, findJudged: judged, model, isAlone })
  started.push(scorer)
  await scorer.start()
  return scorer
}

const session = async (id: SessionId) => findVoiceSession(test.db, ACME, id)
const waiting = () => test.db.selectFrom('session_scorings').selectAll().execute()
const told = async () => (await storedEvents(test.db)).filter(({ event }) => event === 'voice.evaluation.completed')

async function evaluations(source?: EvaluationSource) {
  const { rows } = await listEvaluations(test.db, ACME, { source }, { limit: 100, offset: 0, after: null })
  return rows
}

/** Sessions that wait to be scored, so many of each tenant. */
async function fillBacklog(counts: Record<string, number>): Promise<void> {
  for (const [tenantId, count] of Object.entries(counts)) {
    await sql`
      with made as (
        insert into voice_sessions (tenant_id, id, call_sid, direction, "from", "to", call_status, audio_output_provider,
                                    created_at, resumed_count, latency, usage, tags, metadata)
        select ${tenantId}, gen_random_uuid(), 'CA' || ${tenantId} || n, 'inbound', '+12025550101', '+12025550199', 'completed',
               'primary', ${new Date(clock.now())}, 0, '{}', '{}', '{}', '{}' from generate_series(1, ${count}::integer) n
        returning tenant_id, id, created_at)
      insert into session_scorings (tenant_id, session_id, ended_at, due_at, attempts)
      select tenant_id, id, created_at, created_at, 0 from made`.execute(test.db)
  }
  await sql`vacuum analyze session_scorings`.execute(test.db)
}

/** Waits until the session is not pending any more. */
function settled(id: SessionId) {
  const isSettled = async () => {
    const found = await session(id)
    return found?.qa_status === 'pending' ? null : found
  }
  return until(isSettled, { what: 'the session to be scored' })
}

describe('a session that has ended', () => {
  it('is scored by the model at once, with what the records say beside it, and its tenant is told', async () => {
    await scoring()
    const id = await endedCall(test.db, clock, 'CA1')
    expect(await settled(id)).toMatchObject({
      qa: { score: 0.9, high_quality: true },
      qa_status: 'scored',
      qa_reason: null,
    })
    const [byRecords] = await evaluations('heuristic')
    expect(byRecords?.criteria.map(({ name }) => name)).toEqual([
      'dead_air',
      'interruptions',
      'early_hangup',
      'talk_share',
    ])
    expect(await evaluations('model')).toMatchObject([{ session_id: id, score: 0.9, agent_key: 'support' }])
    expect(await told()).toMatchObject([{ body: { payload: { evaluation: { source: 'model', score: 0.9 } } } }])
    expect(await waiting()).toEqual([])
  })

  it('is found that ended before anybody was there to score it, or on another node', async () => {
    const id = await endedCall(test.db, clock, 'CA1')
    await scoring()
    await settled(id)
    const other = await test.anotherNode()
    const next = await endedCall(other.db, clock, 'CA2')
    await passing(clock, async () => (await session(next))?.qa_status === 'scored', { what: 'the next look' })
  })

  it('is scored once, however many do so', async () => {
    const ids = await Promise.all(
      ['CA1', 'CA2', 'CA3', 'CA4', 'CA5', 'CA6'].map((sid) => endedCall(test.db, clock, sid)),
    )
    await Promise.all([scoring(), scoring(), scoring()])
    await Promise.all(ids.map(settled))
    expect(provider.asked).toHaveLength(6)
    expect([(await evaluations('model')).length, (await evaluations('heuristic')).length]).toEqual([6, 6])
    expect(await told()).toHaveLength(6)
  })

  it('is scored by another one when whoever had it died, and what the dead one still writes counts for nothing', async () => {
    const id = await endedCall(test.db, clock, 'CA1')
    const claim = { now: new Date(clock.now()), leaseMs: 3_600_000, except: [], after: null }
    expect(await claimScoringAcrossTenants(test.db, claim)).toMatchObject({ sessionId: id, attempts: 1 })
    await scoring()
    // A look comes each five seconds, which the database answers in its own time.
    const untilMs = clock.now() + 20_000
    await passing(clock, () => clock.now() >= untilMs, { what: 'some looks', stepMs: 5_000 })
    expect(provider.asked).toEqual([])
    // The lease is over, by the clock of the database.
    await test.db
      .updateTable('session_scorings')
      .set({ leased_until: new Date(0) })
      .execute()
    await passing(clock, async () => (await session(id))?.qa_status === 'scored', { what: 'another one to take it' })
    expect(await evaluations('model')).toHaveLength(1)
  })

  it('is free at once for the only process on its database', async () => {
    const id = await endedCall(test.db, clock, 'CA1')
    await claimScoringAcrossTenants(test.db, {
      now: new Date(clock.now()),
      leaseMs: 3_600_000,
      except: [],
      after: null,
    })
    await scoring(theModel(), { isAlone: true })
    await settled(id)
  })

  it('is scored beside those of a tenant whose model takes its time, however many they are', async () => {
    provider.answer('nothing')
    for (const sid of ['CA1', 'CA2', 'CA3', 'CA4', 'CA5']) await endedCall(test.db, clock, sid)
    await scoring()
    await until(() => provider.asked.length >= 3, { what: 'the slow ones to be asked' })
    provider.answer({ says: assessmentOf(0.9) })
    const globex = 'globex' as TenantId
    await makeTenantWithToken(test.db, globex)
    const id = await endedCall(test.db, clock, 'CA9', { tenant: tenantTold('globex'), lastsMs: 0 })
    await until(async () => (await findVoiceSession(test.db, globex, id))?.qa_status === 'scored', {
      what: 'the other',
    })
    expect(provider.asked).toHaveLength(4)
  })

  it('waits behind others of its tenant for no longer than until one of them is done', async () => {
    const ids: SessionId[] = []
    for (const sid of ['CA1', 'CA2', 'CA3', 'CA4', 'CA5', 'CA6', 'CA7']) ids.push(await endedCall(test.db, clock, sid))
    await scoring()
    await Promise.all(ids.map(settled))
    expect(provider.asked).toHaveLength(7)
    // Alone with all that waits, the tenant has its next turn, too.
    const id = await endedCall(test.db, clock, 'CA8')
    await settled(id)
  })

  it('is scored beside those of tenants whose models take their time, once those have gone aside', async () => {
    provider.answer('nothing')
    const slow = ['acme', 'initech']
    await makeTenantWithToken(test.db, 'initech')
    for (const id of slow)
      for (const n of [1, 2, 3]) await endedCall(test.db, clock, `CA${id}${n}`, { tenant: tenantTold(id) })
    await scoring()
    await until(() => provider.asked.length === 4, { what: 'all lanes to be taken' })
    provider.answer({ says: assessmentOf(0.9) })
    const globex = 'globex' as TenantId
    await makeTenantWithToken(test.db, globex)
    const id = await endedCall(test.db, clock, 'CA9', { tenant: tenantTold('globex'), lastsMs: 0 })
    // Once, and no further: a while later those that are asked now would be given up, and asked again.
    await clock.advance(15_000)
    const isScored = async () => (await findVoiceSession(test.db, globex, id))?.qa_status === 'scored'
    await until(isScored, { what: 'the other' })
    expect(provider.asked).toHaveLength(5)
  })

  it('is claimed by turns of the tenants, whatever waits of those that have had theirs, by steps of an index', async () => {
    for (const id of ['globex', 'initech']) await makeTenantWithToken(test.db, id)
    await fillBacklog({ acme: 2_000, globex: 1_000, initech: 1 })
    const now = new Date(clock.now())
    const claim = { now, leaseMs: 60_000, except: [] as TenantId[] }
    const turns: (TenantId | null)[] = []
    for (let after: TenantId | null = null, n = 0; n < 5; n += 1) {
      after = (await claimScoringAcrossTenants(test.db, { ...claim, after }))?.tenantId ?? null
      turns.push(after)
    }
    expect(turns).toEqual(['acme', 'globex', 'initech', 'acme', 'globex'])
    const except = [ACME, 'globex' as TenantId]
    // Somebody else has the only one of the third tenant: all are passed over.
    for (const after of [null, 'initech' as TenantId]) {
      const plans = await plansOf(test.db, (db) => claimScoringAcrossTenants(db, { ...claim, except, after }))
      expect(plans.map(({ nodes }) => [...nodes].filter((node) => node === 'Seq Scan'))).toEqual([[]])
      expect(plans[0]?.blocks).toBeLessThan(40)
    }
  })

  it('is found by whose turn it is, wherever that is among those that have one', async () => {
    for (const id of ['globex', 'initech', 'umbrella']) await makeTenantWithToken(test.db, id)
    const due = async (except: string[], after: string | null) => {
      const claim = {
        now: new Date(clock.now()),
        leaseMs: 60_000,
        except: except as TenantId[],
        after: after as TenantId,
      }
      const claimed = await claimScoringAcrossTenants(test.db, claim)
      if (claimed) await releaseScoring(test.db, claimed, new Date(clock.now()))
      return claimed?.tenantId ?? null
    }
    expect([await due([], null), await due([], 'globex')]).toEqual([null, null])
    await fillBacklog({ acme: 2, initech: 2 })
    // In turn, also behind one that has none, and behind the last one.
    expect([
      await due([], 'acme'),
      await due([], 'globex'),
      await due([], 'initech'),
      await due([], 'umbrella'),
    ]).toEqual(['initech', 'initech', 'acme', 'acme'])
    expect([await due(['initech'], 'acme'), await due(['acme', 'initech'], 'initech')]).toEqual(['acme', null])
    // Those behind have theirs later: only earlier ones, or the last one itself, are due.
    const later = { due_at: new Date(clock.now() + 60_000) }
    await test.db
      .updateTable('session_scorings')
      .set(later)
      .where('tenant_id', '=', 'initech' as TenantId)
      .execute()
    expect([await due([], 'globex'), await due([], 'acme'), await due(['acme'], 'acme')]).toEqual([
      'acme',
      'acme',
      null,
    ])
    // One that is under way is nobody else's.
    const claim = { now: new Date(clock.now()), leaseMs: 60_000, except: [], after: null }
    await claimScoringAcrossTenants(test.db, claim)
    await claimScoringAcrossTenants(test.db, claim)
    expect(await due([], null)).toBe(null)
  })

  it('that was taken from whoever reads its records alone is settled by the other one', async () => {
    const other = '0190c000-0000-4000-8000-000000000009'
    const judged: FindJudged = async (...of) => {
      await test.db.updateTable('session_scorings').set({ claim_token: other }).execute()
      return findJudged(...of)
    }
    const scorer = await scoring(null, { judged })
    const id = await endedCall(test.db, clock, 'CA1')
    const isTaken = async () => (await waiting())[0]?.claim_token === other
    await until(isTaken, { what: 'it to be taken' })
    await scorer.close()
    expect(await session(id)).toMatchObject({ qa_status: 'pending' })
    expect(await evaluations()).toEqual([])
  })

  it('that was taken from whoever scores it is not scored by that one any more', async () => {
    provider.answer('nothing')
    const id = await endedCall(test.db, clock, 'CA1')
    const scorer = await scoring()
    await until(() => provider.asked.length === 1, { what: 'the model to be asked' })
    const other = '0190c000-0000-4000-8000-000000000009'
    await test.db.updateTable('session_scorings').set({ claim_token: other }).execute()
    await scorer.close()
    expect(await waiting()).toMatchObject([{ session_id: id, claim_token: other }])
    expect(await evaluations('model')).toEqual([])
  })
})

describe('a session without a score', () => {
  it.each([
    [
      'that was answered and never began',
      { isAnswered: false },
      'The call was answered, but no conversation with the agent began in it.',
      0,
    ],
    ['in which nothing was said', { turns: [] }, 'Nothing was said in it.', 0],
    ['in which only the agent spoke', { turns: [someTurn(1)] }, 'The caller said nothing.', 1],
    [
      'of whose caller nothing was written down',
      { turns: [someTurn(1), someTurn(2, { text: '' })] },
      'What the caller said was not written down.',
      1,
    ],
    ['that ended at a mailbox', { endReason: 'voicemail' as const }, 'A machine answered it, and nobody else.', 1],
    ['that a mailbox hung up on', { answeredBy: 'machine_start' }, 'A machine answered it, and nobody else.', 1],
    ['that an assistant kept for itself', { answeredBy: 'screening' }, 'A machine answered it, and nobody else.', 1],
  ])('is one %s, and says so', async (_what, given, reason, heuristics) => {
    await scoring()
    const id = await endedCall(test.db, clock, 'CA1', given)
    expect(await settled(id)).toMatchObject({ qa: null, qa_status: 'not_scored', qa_reason: reason })
    expect(provider.asked).toEqual([])
    expect(await evaluations()).toHaveLength(heuristics)
    expect(await told()).toEqual([])
  })

  it('is none that a person answered, whatever the carrier took them for', async () => {
    await scoring()
    const id = await endedCall(test.db, clock, 'CA1', { answeredBy: 'human' })
    expect(await settled(id)).toMatchObject({ qa_status: 'scored' })
  })

  it('is one of an agent that names no criteria: nobody reads it', async () => {
    const judged = async () => ({ agentId: null, criteria: [], extraction: null, chatModel: null })
    await scoring(theModel(), { judged })
    const id = await endedCall(test.db, clock, 'CA1')
    const reason = 'The agent names no criteria to be scored by.'
    expect(await settled(id)).toMatchObject({ qa: null, qa_status: 'not_scored', qa_reason: reason })
    expect(provider.asked).toEqual([])
    expect((await evaluations()).map(({ source }) => source)).toEqual(['heuristic'])
  })

  it('is one of which the model says nothing that can be used, asked twice', async () => {
    provider.answer({ says: 'It was fine.' })
    await scoring()
    const id = await endedCall(test.db, clock, 'CA1')
    const reason = 'The chat model answered twice with something that is no assessment.'
    expect(await settled(id)).toMatchObject({ qa: null, qa_status: 'not_scored', qa_reason: reason })
    expect([provider.asked.length, (await evaluations()).map(({ source }) => source)]).toEqual([2, ['heuristic']])
  })

  it.each([404, 403])(
    'is one whose model the provider does not let it have (%s), and holds up no other one',
    async (status) => {
      provider.answer({ status, body: '{"error": {"message": "no such model"}}' }, { says: assessmentOf(1) })
      await scoring(theModel(), {
        judged: async (...asked) => ({ ...(await findJudged(...asked)), chatModel: 'gpt-9' }),
      })
      const id = await endedCall(test.db, clock, 'CA1')
      const reason = "The chat model refused to read it: check the agent version's chat_model."
      expect(await settled(id)).toMatchObject({ qa: null, qa_status: 'not_scored', qa_reason: reason })
      expect(await settled(await endedCall(test.db, clock, 'CA2'))).toMatchObject({ qa_status: 'scored' })
      expect(provider.asked).toHaveLength(2)
    },
  )

  it('is each one where there is no chat model', async () => {
    await scoring(null)
    const id = await endedCall(test.db, clock, 'CA1')
    expect(await settled(id)).toMatchObject({ qa_status: 'not_scored', qa_reason: 'No chat model is configured.' })
    expect((await evaluations()).map(({ source }) => source)).toEqual(['heuristic'])
  })

  it('waits while the chat model is down, which is asked less and less, and is scored when it is back', async () => {
    provider.answer({ status: 500, body: 'oh' })
    const model = watchedModel(theModel())
    await scoring(model)
    const isBusy = () => model.isAsked
    const ids = await Promise.all(
      ['CA1', 'CA2', 'CA3', 'CA4', 'CA5', 'CA6'].map((sid) => endedCall(test.db, clock, sid)),
    )
    await passing(clock, () => provider.asked.length >= 8, { what: 'it to be asked again', stepMs: 5_000, isBusy })
    const asked = provider.asked.length
    const untilMs = clock.now() + 240_000
    await passing(clock, () => clock.now() >= untilMs, { what: 'four minutes to pass', stepMs: 5_000, isBusy })
    expect(provider.asked.length - asked).toBeLessThan(8)
    expect((await evaluations()).every(({ source }) => source === 'heuristic')).toBe(true)
    for (const id of ids) expect(await session(id)).toMatchObject({ qa: null, qa_status: 'pending' })
    expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
    provider.answer({ says: assessmentOf(1) })
    const areScored = async () => (await evaluations('model')).length === ids.length
    await passing(clock, areScored, { what: 'all to be scored', stepMs: 60_000, isBusy })
    expect(lines.filter(({ msg }) => msg === 'sessions are scored again')).toHaveLength(1)
  })

  it('is scored while the model of another tenant does not answer, however often that was asked', async () => {
    const silent = await startChatServer()
    onTestFinished(() => silent.close())
    silent.answer({ status: 500, body: 'oh' })
    const [known, other] = [theModel(), openaiChat({ baseUrl: silent.baseUrl, apiKey: 'sk-key-of-the-tests' })]
    const model = watchedModel({ complete: (asked) => (asked.model === null ? known : other).complete(asked) })
    const judged: FindJudged = async (tenant, of) => {
      return { ...(await findJudged(tenant, of)), chatModel: tenant.tenant_id === 'globex' ? 'silent' : null }
    }
    await makeTenantWithToken(test.db, 'globex')
    for (const sid of ['CA1', 'CA2', 'CA3']) await endedCall(test.db, clock, sid, { tenant: tenantTold('globex') })
    await scoring(model, { judged })
    const isAskedOften = () => silent.asked.length >= 6
    await passing(clock, isAskedOften, { what: 'it to be asked', stepMs: 5_000, isBusy: () => model.isAsked })
    const asked = silent.asked.length
    // No time passes.
    await settled(await endedCall(test.db, clock, 'CA9', { lastsMs: 0 }))
    expect([provider.asked.length, silent.asked.length - asked]).toEqual([1, 0])
  })

  it('is given up after a day', async () => {
    provider.answer({ status: 500, body: 'oh' })
    await scoring()
    const id = await endedCall(test.db, clock, 'CA1')
    await until(() => provider.asked.length > 0, { what: 'the model to be asked' })
    clock.skip(24 * 3_600_000)
    const isGivenUp = async () => (await session(id))?.qa_status === 'not_scored'
    await passing(clock, isGivenUp, { what: 'it to be given up', stepMs: 60_000 })
    expect(await session(id)).toMatchObject({ qa_reason: 'It could not be scored within a day of its end.' })
    expect(await waiting()).toEqual([])
  })

  it('is given back when the service stops', async () => {
    provider.answer('nothing')
    const scorer = await scoring()
    const id = await endedCall(test.db, clock, 'CA1')
    await until(() => provider.asked.length === 1, { what: 'the model to be asked' })
    await scorer.close()
    expect(await waiting()).toMatchObject([{ session_id: id, claim_token: null }])
    expect(lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
  })
})
