import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ChatServer, startChatServer } from '../../../test/harness/chat-server.ts'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { passing } from '../../../test/harness/passing.ts'
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
import { listEvaluations } from './evaluation-store.ts'
import { assessmentOf, endedCall, findJudged as judgedUsually, watchedModel } from './evaluations.fixture.ts'
import { makeEvaluations } from './evaluations.ts'
import { LateCompletions } from './held-completions.ts'
import { Scorer } from './scorer.ts'

const ACME = 'acme' as TenantId
const tenants = { get: async (id: TenantId) => tenantTold(id) }
const SCHEMA = { type: 'object', properties: { guests: { type: 'integer' } }, required: ['guests'] }
const FITTING = '{"guests": 4}'
const findJudged: FindJudged = async (...of) => ({ ...(await judgedUsually(...of)), extraction: SCHEMA })

const test = useDatabase()
let clock: TestClock
let provider: ChatServer
let started: Scorer[]

beforeAll(async () => {
  provider = await startChatServer()
})
afterAll(() => provider.close())
beforeEach(async () => {
  clock = new TestClock()
  started = []
  provider.asked.length = 0
  await makeTenantWithToken(test.db, ACME)
})
afterEach(async () => {
  await Promise.all(started.map((scorer) => scorer.close()))
})

const theModel = (): ChatModel => openaiChat({ baseUrl: provider.baseUrl, apiKey: 'sk-key-of-the-tests' })
const log = makeLog({ level: 'error', secrets: [] })

async function scoring(model: ChatModel | null = theModel(), db = test.db, judged = findJudged): Promise<Scorer> {
  const scorer = new Scorer({ db, clock, log, tenants, findJudged: judged, model })
  started.push(scorer)
  await scorer.start()
  return scorer
}

const ended = (callSid: string, told: Parameters<typeof endedCall>[3] = {}) =>
  endedCall(test.db, clock, callSid, { wantsExtraction: true, ...told })
const session = (id: SessionId) => findVoiceSession(test.db, ACME, id)

async function told(name = 'voice.session.completed') {
  return (await storedEvents(test.db)).filter(({ event }) => event === name)
}

/** Waits until the extraction is not pending any more. */
function settled(id: SessionId) {
  const isSettled = async () => {
    const found = await session(id)
    return found?.extraction_status === 'pending' ? null : found
  }
  return until(isSettled, { what: 'the extraction' })
}

describe('a session whose agent version wants something taken from it', () => {
  it('has it with its end, which is told then, with the summary', async () => {
    provider.answer({ says: assessmentOf(0.9) }, { says: FITTING })
    const id = await ended('CA1')
    expect(await session(id)).toMatchObject({ extraction_status: 'pending', completion_held: true })
    expect(await told()).toEqual([])
    expect(await told('voice.call.completed')).toHaveLength(1)
    await scoring()
    const filled = { extraction: { guests: 4 }, extraction_status: 'filled', extraction_reason: null }
    expect(await settled(id)).toMatchObject({ ...filled, summary: 'They talked.', completion_held: false })
    const shown = { ...filled, id, summary: 'They talked.', qa: { score: 0.9 } }
    const [event, ...others] = await told()
    expect(event).toMatchObject({ body: { payload: { voice_session: shown } } })
    expect(event?.body).toHaveProperty('payload.voice_session.transcript.length', 2)
    expect(others).toEqual([])
    expect(provider.asked).toHaveLength(2)
  })

  it('tells its end at once where its version wants nothing', async () => {
    const id = await ended('CA1', { wantsExtraction: false })
    expect(await told()).toHaveLength(1)
    expect(await session(id)).toMatchObject({ extraction_status: null, completion_held: false })
  })

  it('is missing it, and says why, when the model answers twice with what does not fit', async () => {
    provider.answer({ says: assessmentOf(0.9) }, { says: 'Four.' }, { says: '{"guests": "four"}' })
    await scoring()
    const id = await ended('CA1')
    const reason = 'The chat model answered twice with something that does not fit the schema: /guests must be integer.'
    const missing = { extraction: null, extraction_status: 'missing', extraction_reason: reason }
    expect(await settled(id)).toMatchObject({ ...missing, qa_status: 'scored', summary: 'They talked.' })
    expect(await told()).toMatchObject([{ body: { payload: { voice_session: missing } } }])
    expect(provider.asked).toHaveLength(3)
  })

  it('is missing it, and no model is asked for it, when its schema cannot be used', async () => {
    const extraction = { ...SCHEMA, $ref: '#/$defs/none' }
    provider.answer({ says: assessmentOf(0.9) })
    await scoring(theModel(), test.db, async (...of) => ({ ...(await judgedUsually(...of)), extraction }))
    const id = await ended('CA1')
    const missing = {
      extraction_status: 'missing',
      extraction_reason: expect.stringMatching(/^Its schema cannot be used/),
    }
    expect(await settled(id)).toMatchObject({ ...missing, qa_status: 'scored' })
    expect(provider.asked).toHaveLength(1)
  })

  it('has it also where it could not be scored', async () => {
    provider.answer({ says: 'Fine.' }, { says: 'Fine.' }, { says: FITTING })
    await scoring()
    const id = await ended('CA1')
    expect(await settled(id)).toMatchObject({ extraction: { guests: 4 }, qa_status: 'not_scored', summary: null })
  })

  it.each([
    ['the caller said nothing', { turns: [someTurn(1)] }, 'The caller said nothing.', theModel],
    [
      'nothing of it was written down',
      { turns: [someTurn(1), someTurn(2, { text: '' })] },
      'What the caller said was not written down.',
      theModel,
    ],
    ['there is no chat model', {}, 'No chat model is configured.', (): ChatModel | null => null],
  ])('is missing it when %s', async (_what, given, reason, model) => {
    await scoring(model())
    const id = await ended('CA1', given)
    expect(await settled(id)).toMatchObject({ extraction_status: 'missing', extraction_reason: reason })
    expect(await told()).toHaveLength(1)
    expect(provider.asked).toEqual([])
  })

  it('is asked about once, and told once, however many do so', async () => {
    provider.answer({ says: assessmentOf(0.9) }, { says: FITTING })
    const ids = [await ended('CA1')]
    await Promise.all([scoring(), scoring(), scoring()])
    await Promise.all(ids.map(settled))
    expect(provider.asked).toHaveLength(2)
    expect(await told()).toHaveLength(1)
  })

  it('tells its end after ten minutes without it, once, and has it when the model is back', async () => {
    provider.answer({ status: 500, body: 'oh' })
    const model = watchedModel(theModel())
    await Promise.all([scoring(model), scoring(model)])
    const id = await ended('CA1')
    const endedMs = clock.now()
    const isTold = async () => (await told()).length > 0
    // It answers three times in all below: who gave up waiting for one of them would get the next one for it.
    const isBusy = () => model.isAsked
    await passing(clock, isTold, { what: 'its end to be told', stepMs: 10_000, isBusy })
    expect(clock.now() - endedMs).toBeGreaterThanOrEqual(600_000)
    expect(await told()).toMatchObject([{ body: { payload: { voice_session: { extraction_status: 'pending' } } } }])
    provider.answer({ says: assessmentOf(0.9) }, { says: FITTING }, { says: 'Nothing more.' })
    const isFilled = async () => (await session(id))?.extraction_status === 'filled'
    await passing(clock, isFilled, { what: 'the extraction', stepMs: 60_000, isBusy })
    expect(await told()).toHaveLength(1)
  })

  it('is not scored again where the model scored it and did not answer the rest', async () => {
    provider.answer({ says: assessmentOf(0.9) }, { status: 500, body: 'oh' }, { says: FITTING })
    const model = watchedModel(theModel())
    await scoring(model)
    const id = await ended('CA1')
    await until(async () => (await session(id))?.qa_status === 'scored', { what: 'the score' })
    expect(await session(id)).toMatchObject({ qa: { score: 0.9 }, extraction_status: 'pending' })
    const isFilled = async () => (await session(id))?.extraction_status === 'filled'
    await passing(clock, isFilled, { what: 'the extraction', stepMs: 5_000, isBusy: () => model.isAsked })
    expect(provider.asked).toHaveLength(3)
    expect(await told('voice.evaluation.completed')).toHaveLength(1)
  })

  it('has it with its end also where nobody could have made it for more than ten minutes', async () => {
    const id = await ended('CA1')
    clock.skip(20 * 60_000)
    provider.answer({ says: assessmentOf(0.9) }, { says: FITTING })
    await scoring()
    expect(await settled(id)).toMatchObject({ extraction: { guests: 4 } })
    expect(await told()).toMatchObject([{ body: { payload: { voice_session: { extraction_status: 'filled' } } } }])
  })

  it('waits for it for all of its ten minutes again when the database was away', async () => {
    const late = new LateCompletions({ db: test.db, clock, log, tenants })
    const minutes = async (count: number) => {
      for (let minute = 0; minute < count; minute += 1) {
        clock.skip(60_000)
        await late.tell()
      }
    }
    await minutes(11)
    await ended('CA1')
    clock.skip(15 * 60_000)
    await late.tell()
    await minutes(9)
    expect(await told()).toEqual([])
    await minutes(2)
    expect(await told()).toHaveLength(1)
  })

  it('is told with all that have waited for as long, and behind a hundred that cannot be told', async () => {
    await makeTenantWithToken(test.db, 'globex')
    const sealed = new Error('sealed with another key')
    const known = { get: (id: TenantId) => (id === ACME ? tenants.get(id) : Promise.reject(sealed)) }
    const late = new LateCompletions({ db: test.db, clock, log: { error: () => {} }, tenants: known })
    await late.tell()
    const lastsMs = 0
    for (let nth = 0; nth < 100; nth += 1)
      await ended(`CA1${nth}`, { tenant: tenantTold('globex'), lastsMs, turns: [] })
    await clock.advance(1)
    for (let nth = 0; nth < 21; nth += 1) await ended(`CA2${nth}`, { lastsMs, turns: [] })
    for (let minute = 0; minute < 10; minute += 1) {
      clock.skip(60_000)
      await late.tell()
    }
    clock.skip(1)
    await late.tell(AbortSignal.abort())
    // It begins with the first of all again, and goes on behind those with the next look.
    await late.tell()
    expect(await told()).toEqual([])
    await late.tell()
    expect(await told()).toHaveLength(21)
  })

  it('is missing it after a day without an answer', async () => {
    provider.answer({ status: 500, body: 'oh' })
    await scoring()
    const id = await ended('CA1')
    await until(() => provider.asked.length > 0, { what: 'the model to be asked' })
    clock.skip(24 * 3_600_000)
    const isGivenUp = async () => (await session(id))?.extraction_status === 'missing'
    await passing(clock, isGivenUp, { what: 'it to be given up', stepMs: 60_000 })
    const reason = 'The chat model did not answer within a day of its end.'
    expect(await session(id)).toMatchObject({ extraction_reason: reason, completion_held: false })
    expect(await told()).toHaveLength(1)
  })

  it('has it also where somebody had the model score it meanwhile, which is not done again', async () => {
    const id = await ended('CA1')
    provider.answer({ says: assessmentOf(0.5) })
    const evaluations = makeEvaluations({ db: test.db, clock, log, tenants, findJudged, model: theModel() })
    await evaluations.score(ACME, id)
    expect(await session(id)).toMatchObject({ qa: { score: 0.5 }, extraction_status: 'pending' })
    provider.answer({ says: FITTING })
    await scoring()
    expect(await settled(id)).toMatchObject({ extraction: { guests: 4 }, qa: { score: 0.5 } })
    const page = { limit: 10, offset: 0, after: null }
    expect((await listEvaluations(test.db, ACME, { source: 'model' }, page)).rows).toHaveLength(1)
    expect(provider.asked).toHaveLength(2)
  })
})
