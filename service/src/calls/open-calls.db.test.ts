import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { useDatabase } from '../../test/harness/database.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { makeLog } from '../platform/log.ts'
import type { SessionEndReason } from '../records/call-values.ts'
import { OTHER_NODE, someCall, storedEvents } from '../records/calls.fixture.ts'
import { Journal } from '../records/journal.ts'
import { makeFinishing } from './finish.ts'
import { makePutThrough } from './put-through.ts'
import { NOTHING_SAID } from './record-status.ts'
import { carrierSays, MAX_CALL_MS, NO_SUCH_CALL, useWatchedCalls } from './watched-calls.fixture.ts'

const test = useDatabase()
const calls = useWatchedCalls(test)
const MINUTE_MS = 60_000

/** How often the carrier was asked for calls. */
function asked(): number {
  return calls.rest.requests.filter(({ method }) => method === 'GET').length
}

function openEntries() {
  return test.db.selectFrom('call_directory').select('call_sid').where('look_at', 'is not', null).execute()
}

/** Moves time on by steps, with a sweep after each. */
async function sweepFor(ms: number, stepMs: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
    await calls.clock.advance(stepMs)
    await calls.node.sweepOpen()
  }
}

describe('a call with a stream', () => {
  beforeEach(async () => {
    calls.rest.reply = () => carrierSays('in-progress')
    await calls.talk('CA1', calls.node)
  })

  it('is asked for every five minutes, and stays as it is while it goes on', async () => {
    await sweepFor(295_000, 5_000)
    expect(asked()).toBe(0)
    await sweepFor(5_000, 5_000)
    expect(asked()).toBe(1)
    await sweepFor(295_000, 5_000)
    expect(asked()).toBe(1)
    await sweepFor(5_000, 5_000)
    expect(asked()).toBe(2)
    expect((await calls.stored('CA1')).log.status).toBe('in-progress')
  })

  it('is asked for ten seconds after its stream was lost', async () => {
    await calls.node.openCalls.streamLost(calls.tenant('acme').tenant_id, 'CA1')
    await sweepFor(9_000, 1_000)
    expect(asked()).toBe(0)
    await sweepFor(1_000, 1_000)
    expect(asked()).toBe(1)
  })

  it('F27: of which no callback comes takes its end from the carrier, at the instant that follows from its length, and ends what is here of it', async () => {
    calls.rest.reply = () => carrierSays('completed', { duration: '42', answered_by: 'human' })
    const answeredMs = calls.clock.now()
    await sweepFor(5 * MINUTE_MS, MINUTE_MS)
    const { log, session } = await calls.stored('CA1')
    expect(log).toMatchObject({ status: 'completed', duration_seconds: 42, answered_by: 'human' })
    expect(log.ended_at).toEqual(new Date(answeredMs + 42_000))
    expect(calls.node.hungUp).toEqual(['CA1'])
    // Its session is here, and tells its own end.
    expect(session.ended_at).toBeNull()
  })

  it('is closed at its maximum and ten minutes, whatever its carrier says', async () => {
    await sweepFor(MAX_CALL_MS + 10 * MINUTE_MS, 5 * MINUTE_MS)
    expect((await calls.stored('CA1')).session.ended_at).toBeNull()
    await sweepFor(5 * MINUTE_MS, 5 * MINUTE_MS)
    const { log, session } = await calls.stored('CA1')
    expect([log.status, session.end_reason]).toEqual(['completed', 'process_lost'])
    expect(calls.node.hungUp).toEqual(['CA1'])
    const events = (await storedEvents(test.db)).map(({ event }) => event)
    expect(events.slice(2)).toEqual(['voice.session.completed', 'voice.call.completed'])
    expect(await openEntries()).toEqual([])
  })

  it('may become as old as the agent lets it that it began with, whoever has it by then', async () => {
    const longer = { max_call_seconds: (2 * MAX_CALL_MS) / 1_000 }
    await test.db.updateTable('voice_sessions').set(longer).where('call_sid', '=', 'CA1').execute()
    await sweepFor(2 * MAX_CALL_MS + 10 * MINUTE_MS, 5 * MINUTE_MS)
    expect(calls.node.hungUp).toEqual([])
    await sweepFor(5 * MINUTE_MS, 5 * MINUTE_MS)
    expect(calls.node.hungUp).toEqual(['CA1'])
  })

  it('goes on where the clock is set forward, and is closed once it has gone on for so long', async () => {
    await sweepFor(MINUTE_MS, MINUTE_MS)
    calls.clock.jump(24 * 60 * MINUTE_MS)
    await sweepFor(MAX_CALL_MS + 9 * MINUTE_MS, MINUTE_MS)
    expect(asked()).toBeGreaterThan(0)
    expect(calls.node.hungUp).toEqual([])
    expect((await calls.stored('CA1')).session.ended_at).toBeNull()
    await sweepFor(6 * MINUTE_MS, MINUTE_MS)
    expect(calls.node.hungUp).toEqual(['CA1'])
  })

  it('goes on for as long as its carrier lets it once it was put through, and ends when that says so', async () => {
    await calls.clock.advance(4 * MINUTE_MS)
    await makePutThrough({ db: test.db, clock: calls.clock })(calls.tenant('acme'), 'CA1')
    calls.node.here.clear()
    await sweepFor(3 * MAX_CALL_MS, 5 * MINUTE_MS)
    expect((await calls.stored('CA1')).log.status).toBe('in-progress')
    calls.rest.reply = () => carrierSays('completed', { duration: '6000' })
    await sweepFor(5 * MINUTE_MS, 5 * MINUTE_MS)
    const { log, session } = await calls.stored('CA1')
    expect([log.status, log.duration_seconds, session.end_reason]).toEqual(['completed', 6_000, 'transferred'])
  })

  it('is closed at the longest time of a carrier and ten minutes when it was put through and nobody tells its end', async () => {
    await makePutThrough({ db: test.db, clock: calls.clock })(calls.tenant('acme'), 'CA1')
    calls.node.here.clear()
    await sweepFor(250 * MINUTE_MS, 50 * MINUTE_MS)
    expect((await calls.stored('CA1')).log.status).toBe('in-progress')
    await sweepFor(5 * MINUTE_MS, 5 * MINUTE_MS)
    expect((await calls.stored('CA1')).log.status).toBe('completed')
  })

  it('is not closed because the carrier does not know it while it talks here', async () => {
    calls.rest.reply = () => NO_SUCH_CALL
    await sweepFor(10 * MINUTE_MS, 5 * MINUTE_MS)
    expect(asked()).toBe(2)
    expect((await calls.stored('CA1')).log.status).toBe('in-progress')
  })

  it('is asked for again sooner and then later when the carrier cannot be asked', async () => {
    calls.rest.reply = () => ({ status: 500, body: {} })
    await sweepFor(5 * MINUTE_MS, MINUTE_MS)
    const seen: number[] = []
    for (let second = 1; second <= 800; second++) {
      const before = asked()
      await sweepFor(1_000, 1_000)
      if (asked() > before) seen.push(second)
    }
    expect(seen).toEqual([10, 30, 70, 150, 310, 610])
    calls.rest.reply = () => carrierSays('completed')
    await sweepFor(5 * MINUTE_MS, MINUTE_MS)
    expect((await calls.stored('CA1')).log.status).toBe('completed')
    expect((await calls.stored('CA1')).entry.look_tries).toBe(0)
  })
})

describe('a call without a session that anybody has', () => {
  it('is closed when its end was told and its session was lost, ten seconds later', async () => {
    await calls.talk('CA1', calls.node)
    calls.node.here.clear()
    await test.db.updateTable('call_directory').set({ owner: null }).execute()
    calls.rest.reply = () => carrierSays('completed')
    await sweepFor(5 * MINUTE_MS, MINUTE_MS)
    const { log, session } = await calls.stored('CA1')
    expect([log.status, session.end_reason]).toEqual(['completed', 'process_lost'])
    expect(await openEntries()).toEqual([])
  })

  it('is closed when the carrier does not know it', async () => {
    await calls.talk('CA1', calls.node)
    calls.node.here.clear()
    calls.rest.reply = () => NO_SUCH_CALL
    await sweepFor(5 * MINUTE_MS, MINUTE_MS)
    const { log, session } = await calls.stored('CA1')
    expect([log.status, session.end_reason]).toEqual(['completed', 'process_lost'])
  })

  it('is ended when its node was to write its end, and did not in ten minutes', async () => {
    await calls.talk('CA1', calls.other)
    calls.rest.reply = () => carrierSays('completed')
    await sweepFor(10 * MINUTE_MS, MINUTE_MS)
    expect((await calls.stored('CA1')).session.ended_at).toBeNull()
    await sweepFor(15 * MINUTE_MS, MINUTE_MS)
    expect((await calls.stored('CA1')).session.end_reason).toBe('process_lost')
    expect(await openEntries()).toEqual([])
  })
})

describe('a call that its session has ended, and its carrier has not', () => {
  /** As when the carrier does not take the hang-up, or its process dies before it is known. */
  async function ended(endReason: SessionEndReason, isAtFallback?: boolean): Promise<void> {
    const { clock, node } = calls
    const log = makeLog({ level: 'silent', secrets: [], destination: { write: () => undefined } })
    const journal = new Journal({ db: test.db, clock, log })
    const tenants = { get: async () => calls.tenant('acme') }
    const finishing = makeFinishing({ db: test.db, clock, log, tenants, journal })
    onTestFinished(async () => {
      await Promise.all([journal.close(), finishing.close()])
    })
    await calls.talk('CA1', node)
    await calls.clock.advance(MINUTE_MS)
    const session = { ...NOTHING_SAID, endReason, at: new Date(clock.now()) }
    const known = isAtFallback === undefined ? {} : { isAtFallback }
    const { tenant_id: tenantId } = calls.tenant('acme')
    await finishing.finish({ tenantId, callSid: 'CA1', epoch: 1, session, call: null, ...known })
    node.here.clear()
  }

  /** How often the carrier was asked to end it. */
  function endings(): number {
    return calls.rest.requests.filter(({ method }) => method === 'POST').length
  }

  it('is asked for ten seconds later, ended again while it runs, and then over', async () => {
    await ended('agent_hangup')
    calls.rest.reply = ({ method }) => (method === 'GET' ? carrierSays('in-progress') : { status: 200, body: {} })
    await sweepFor(9_000, 1_000)
    expect([asked(), (await calls.stored('CA1')).log.status]).toEqual([0, 'in-progress'])
    await sweepFor(1_000, 1_000)
    const { log, session } = await calls.stored('CA1')
    expect([asked(), endings(), log.status, session.end_reason]).toEqual([1, 1, 'completed', 'agent_hangup'])
    expect(await openEntries()).toEqual([])
  })

  it('is taken over by the next node, should its own be gone', async () => {
    await ended('supervisor')
    await test.db.updateTable('call_directory').set({ owner: OTHER_NODE }).execute()
    calls.rest.reply = ({ method }) => (method === 'GET' ? carrierSays('in-progress') : { status: 200, body: {} })
    await calls.node.sweepOrphans()
    const { log, session } = await calls.stored('CA1')
    expect([endings(), log.status, session.end_reason]).toEqual([1, 'completed', 'supervisor'])
  })

  it('takes its end from the carrier, which has ended it since', async () => {
    await ended('idle_timeout')
    calls.rest.reply = () => carrierSays('completed', { duration: '61' })
    await sweepFor(10_000, 5_000)
    const { log } = await calls.stored('CA1')
    expect([endings(), log.status, log.duration_seconds]).toEqual([0, 'completed', 61])
  })

  it('is asked to end again and again while the carrier refuses', async () => {
    await ended('max_duration')
    calls.rest.reply = ({ method }) => (method === 'GET' ? carrierSays('in-progress') : { status: 500, body: {} })
    await sweepFor(70_000, 1_000)
    expect([endings(), (await calls.stored('CA1')).log.status]).toEqual([3, 'in-progress'])
    calls.rest.reply = ({ method }) => (method === 'GET' ? carrierSays('in-progress') : { status: 200, body: {} })
    await sweepFor(60_000, 1_000)
    expect([endings(), (await calls.stored('CA1')).log.status]).toEqual([4, 'completed'])
  })

  it('is left alone where others may have it', async () => {
    const { telephony, ...acme } = calls.tenant('acme')
    calls.tenants.set('acme', { ...acme, telephony: { ...telephony, fallback_number: '+12025550150' as PhoneNumber } })
    await ended('model_lost')
    calls.rest.reply = () => carrierSays('in-progress')
    await sweepFor(MINUTE_MS, 10_000)
    expect([endings(), (await calls.stored('CA1')).log.status]).toEqual([0, 'in-progress'])
  })

  it('is left to the fallback number that it was handed to, though its tenant has none any more', async () => {
    await ended('model_lost', true)
    calls.rest.reply = () => carrierSays('in-progress')
    await sweepFor(6 * MINUTE_MS, 10_000)
    expect([endings(), (await calls.stored('CA1')).log.status]).toEqual([0, 'in-progress'])
  })

  it('is ended where it was handed to nobody, though its tenant has a fallback number by now', async () => {
    await ended('model_lost', false)
    const { telephony, ...acme } = calls.tenant('acme')
    calls.tenants.set('acme', { ...acme, telephony: { ...telephony, fallback_number: '+12025550150' as PhoneNumber } })
    calls.rest.reply = ({ method }) => (method === 'GET' ? carrierSays('in-progress') : { status: 200, body: {} })
    await sweepFor(6 * MINUTE_MS, 10_000)
    expect([endings(), (await calls.stored('CA1')).log.status]).toEqual([1, 'completed'])
  })

  it('is ended where it has lost its model and nobody else may have it, but not in the middle of an apology', async () => {
    await ended('model_lost')
    calls.rest.reply = ({ method }) => (method === 'GET' ? carrierSays('in-progress') : { status: 200, body: {} })
    await sweepFor(MINUTE_MS - 1_000, 1_000)
    expect(endings()).toBe(0)
    await sweepFor(6 * MINUTE_MS, 10_000)
    expect([endings(), (await calls.stored('CA1')).log.status]).toEqual([1, 'completed'])
  })

  it('is closed at its maximum and ten minutes when its tenant has no account any more', async () => {
    await ended('agent_hangup')
    const { telephony, ...acme } = calls.tenant('acme')
    calls.tenants.set('acme', { ...acme, telephony: { ...telephony, account_sid: null } })
    await sweepFor(MAX_CALL_MS + 5 * MINUTE_MS, 5 * MINUTE_MS)
    expect((await calls.stored('CA1')).log.status).toBe('in-progress')
    await sweepFor(10 * MINUTE_MS, 5 * MINUTE_MS)
    const { log, session } = await calls.stored('CA1')
    expect([asked(), log.status, session.end_reason]).toEqual([0, 'completed', 'agent_hangup'])
    expect(await openEntries()).toEqual([])
  })
})

describe('a call that never began', () => {
  it('is asked for when its token is past', async () => {
    await calls.node.sessions.open(calls.tenant('acme'), someCall('CA1'))
    calls.rest.reply = () => carrierSays('no-answer')
    await sweepFor(129_000, 1_000)
    expect(asked()).toBe(0)
    await sweepFor(1_000, 1_000)
    const { log, session } = await calls.stored('CA1')
    expect([asked(), log.status, session.end_reason]).toEqual([1, 'no-answer', 'rejected'])
  })

  it('is asked for at once by a node that was away, because its end may have been told to nobody; a page is left alone', async () => {
    await calls.node.sessions.open(calls.tenant('acme'), someCall('CA1'))
    await calls.other.sessions.open(calls.tenant('acme'), someCall('browser-1', { direction: 'browser' }))
    calls.rest.reply = () => carrierSays('no-answer')
    await calls.clock.advance(11_000)
    await calls.node.openCalls.wasAway()
    await calls.node.sweepOpen()
    expect([asked(), (await calls.stored('CA1')).log.status]).toEqual([1, 'no-answer'])
    expect((await calls.stored('browser-1')).log.status).toBe('ringing')
  })

  it('is asked for by a node that was away as soon as it is ten seconds old', async () => {
    await calls.node.sessions.open(calls.tenant('acme'), someCall('CA1'))
    calls.rest.reply = () => carrierSays('no-answer')
    await calls.clock.advance(4_000)
    await calls.node.openCalls.wasAway()
    await calls.node.sweepOpen()
    expect(asked()).toBe(0)
    await calls.clock.advance(6_000)
    await calls.node.sweepOpen()
    expect([asked(), (await calls.stored('CA1')).log.status]).toEqual([1, 'no-answer'])
  })

  it('has failed when the carrier does not know it', async () => {
    await calls.node.sessions.open(calls.tenant('acme'), someCall('CA1'))
    calls.rest.reply = () => NO_SUCH_CALL
    await sweepFor(130_000, 10_000)
    expect((await calls.stored('CA1')).log.status).toBe('failed')
  })

  it('is canceled when it was a page that did not come, also when the process that waited for it is gone', async () => {
    await calls.other.sessions.open(calls.tenant('acme'), someCall('browser-1', { direction: 'browser' }))
    await sweepFor(130_000, 10_000)
    const { log, session } = await calls.stored('browser-1')
    expect([log.status, session.end_reason, asked()]).toEqual(['canceled', 'caller_hangup', 0])
    expect(await openEntries()).toEqual([])
  })
})

describe('looking after calls', () => {
  it('asks for a call once however many nodes look', async () => {
    calls.rest.reply = () => carrierSays('in-progress')
    for (let n = 0; n < 20; n++) await calls.talk(`CA${n}`, calls.node)
    await calls.clock.advance(5 * MINUTE_MS)
    await Promise.all([calls.node.sweepOpen(), calls.other.sweepOpen()])
    expect(asked()).toBe(20)
  })

  it('does not let an account that hangs hold up another one, and asks that account for few of its calls', async () => {
    for (let n = 0; n < 25; n++) await calls.talk(`CA${n}`, calls.node)
    await calls.talk('CB1', calls.node, 'globex')
    calls.rest.reply = ({ path }) =>
      path.includes('AC-acme') ? new Promise(() => {}) : carrierSays('completed', { sid: 'CB1' })
    await calls.clock.advance(5 * MINUTE_MS)
    await calls.node.sweepOpen({ isSlow: true })
    expect((await calls.stored('CB1')).log.status).toBe('completed')
    // Ten at once, and none of those that waited behind them.
    expect(asked()).toBe(11)
  })

  it('cannot ask for the call of a tenant without an account, and closes it in the end', async () => {
    await calls.talk('CA1', calls.node)
    const { telephony, ...acme } = calls.tenant('acme')
    calls.tenants.set('acme', { ...acme, telephony: { ...telephony, account_sid: null } })
    await sweepFor(MAX_CALL_MS + 15 * MINUTE_MS, 5 * MINUTE_MS)
    expect(asked()).toBe(0)
    expect((await calls.stored('CA1')).session.end_reason).toBe('process_lost')
  })

  it('is over with a call once it is complete', async () => {
    await calls.talk('CA1', calls.node)
    await test.db
      .updateTable('call_logs')
      .set({ status: 'completed', ended_at: new Date(calls.clock.now()) })
      .execute()
    await test.db
      .updateTable('voice_sessions')
      .set({ ended_at: new Date(calls.clock.now()) })
      .execute()
    await sweepFor(5 * MINUTE_MS, MINUTE_MS)
    expect([asked(), await openEntries()]).toEqual([0, []])
  })
})
