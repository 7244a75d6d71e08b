import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../../test/harness/database.ts'
import { until } from '../../test/harness/wait.ts'
import { type NodeId, newId } from '../kernel/ids.ts'
import { beat, removeNode } from '../platform/nodes/heartbeat-store.ts'
import { NODE, OTHER_NODE, someTurn, storedEvents } from '../records/calls.fixture.ts'
import { turnEntry } from '../records/journal-entry.ts'
import { writeEntries } from '../records/journal-write.ts'
import { makeResuming } from '../records/resuming.ts'
import { releaseCall, takeBack, takenCallsAcrossTenants } from './orphaned-calls-store.ts'
import { makePutThrough } from './put-through.ts'
import { carrierSays, NO_SUCH_CALL, RESUME_URL, useWatchedCalls } from './watched-calls.fixture.ts'

const test = useDatabase()
const calls = useWatchedCalls(test)

beforeEach(async () => {
  await beat(test.db, NODE, '1')
  await beat(test.db, OTHER_NODE, '1')
})

/** The node has not been heard from for so long. */
/** And a moment: the column keeps whole milliseconds. */
async function silence(nodeId: NodeId, seconds: number): Promise<void> {
  await test.db
    .updateTable('nodes')
    .set({ heartbeat_at: sql<Date>`now() - ${seconds * 1_000 + 2} * interval '1 millisecond'` })
    .where('node_id', '=', nodeId)
    .execute()
}

/** `other` was heard from for long enough to judge, and so was `node`. */
async function listen(): Promise<void> {
  await calls.other.beat()
  for (let second = 0; second < 3; second++) {
    await calls.clock.advance(1_000)
    await calls.node.beat()
    await calls.other.beat()
  }
}

/** The database takes no heartbeats while the work is done, and answers everything else. */
async function withoutBeats(work: () => Promise<void>): Promise<void> {
  await sql`
    create function refuse() returns trigger language plpgsql as $$
    begin raise exception 'refused' using errcode = '25006'; end $$`.execute(test.db)
  await sql`create trigger refuse before insert on nodes for each row execute function refuse()`.execute(test.db)
  try {
    await work()
  } finally {
    await sql`drop function refuse cascade`.execute(test.db)
  }
}

/** The calls that were redirected, in the order in which they were. */
function redirected(): (string | undefined)[] {
  const redirects = calls.rest.requests.filter(({ form }) => form['Twiml']?.includes('<Redirect'))
  return redirects.map(({ path }) => /Calls\/(\w+)\.json/.exec(path)?.[1])
}

describe('the calls of a node that is gone', () => {
  it('are sent to call-resume, with a new epoch and nobody who has them', async () => {
    await calls.talk('CA1', calls.other)
    await silence(OTHER_NODE, 3)
    await calls.node.sweepOrphans()
    expect(calls.rest.requests).toMatchObject([
      {
        method: 'POST',
        path: '/2010-04-01/Accounts/AC-acme/Calls/CA1.json',
        form: { Twiml: expect.stringContaining(`<Redirect method="POST">${RESUME_URL}</Redirect>`) },
      },
    ])
    const { entry, log } = await calls.stored('CA1')
    expect(entry).toMatchObject({ owner: null, epoch: 2, rescue_at: null })
    expect(entry.look_at).toEqual(new Date(calls.clock.now() + 15_000))
    expect(log.status).toBe('in-progress')
  })

  it('stay where they are while nobody would answer their carriers', async () => {
    await calls.talk('CA1', calls.node)
    await listen()
    await silence(NODE, 3)
    await beat(test.db, OTHER_NODE, '1')
    for (const facts of [{ stopping: true }, { stopping: false, resumes: false }]) {
      await test.db.updateTable('nodes').set(facts).where('node_id', '=', OTHER_NODE).execute()
      await calls.other.sweepOrphans()
      expect(redirected()).toEqual([])
    }
    await test.db.updateTable('nodes').set({ resumes: true }).execute()
    await calls.other.sweepOrphans()
    expect(redirected()).toEqual(['CA1'])
  })

  it('may be had by the stream that comes then, and are looked after as before', async () => {
    await calls.talk('CA1', calls.other)
    await removeNode(test.db, OTHER_NODE)
    await calls.node.sweepOrphans()
    const stream = { callSid: 'CA1', epoch: 2, streamSid: 'MZ2', model: null, voice: null }
    expect(await calls.node.sessions.started(calls.tenant('acme'), stream)).not.toBeNull()
    const { entry, session } = await calls.stored('CA1')
    expect(entry).toMatchObject({ owner: NODE, epoch: 2 })
    expect(entry.look_at).toEqual(new Date(calls.clock.now() + 300_000))
    expect(session.resumed_count).toBe(1)
  })

  it('are settled by the carrier when no stream comes', async () => {
    await calls.talk('CA1', calls.other)
    await silence(OTHER_NODE, 3)
    await calls.node.sweepOrphans()
    calls.rest.reply = () => carrierSays('completed')
    await calls.clock.advance(15_000)
    await calls.node.sweepOpen()
    const { log, session } = await calls.stored('CA1')
    expect([log.status, session.end_reason]).toEqual(['completed', 'process_lost'])
  })

  it('are taken when it was silent for three seconds, and not before; those of this node never', async () => {
    await calls.talk('CA1', calls.node)
    await calls.talk('CA2', calls.other)
    await listen()
    await silence(NODE, 2)
    await silence(OTHER_NODE, 60)
    await calls.other.sweepOrphans()
    expect((await calls.stored('CA1')).entry).toMatchObject({ owner: NODE, epoch: 1 })
    await beat(test.db, OTHER_NODE, '1')
    await silence(NODE, 3)
    await calls.other.sweepOrphans()
    expect((await calls.stored('CA1')).entry).toMatchObject({ owner: null, epoch: 2 })
    expect((await calls.stored('CA2')).entry).toMatchObject({ owner: OTHER_NODE, epoch: 1 })
  })

  it('are not written about by it any more', async () => {
    await calls.talk('CA1', calls.other)
    const { session } = await calls.stored('CA1')
    const tenant = calls.tenant('acme')
    const entry = turnEntry({ tenant, callSid: 'CA1', sessionId: session.id, epoch: 1 }, someTurn(1))
    const write = () =>
      test.db.transaction().execute((tx) => writeEntries(tx, [entry], { now: new Date(calls.clock.now()) }))
    await silence(OTHER_NODE, 3)
    await calls.node.sweepOrphans()
    expect(await write()).toEqual([entry])
    expect(await test.db.selectFrom('transcript_turns').selectAll().execute()).toEqual([])
    const db = test.db
    expect(await takenCallsAcrossTenants(db, OTHER_NODE, ['CA1'])).toEqual([])
    await test.db.updateTable('call_directory').set({ owner: NODE }).execute()
    expect(await takenCallsAcrossTenants(db, OTHER_NODE, ['CA1'])).toEqual([{ callSid: 'CA1', epoch: 2 }])
    expect(await takenCallsAcrossTenants(db, NODE, ['CA1'])).toEqual([])
  })

  it('are each sent once, however many nodes find them at once', async () => {
    const third = '0190b000-0000-7000-8000-000000000003' as NodeId
    await beat(test.db, third, '1')
    for (let n = 0; n < 100; n++) await calls.talk(`CA${n}`, calls.node, n % 2 ? 'acme' : 'globex')
    await listen()
    await test.db.updateTable('call_directory').set({ owner: third }).execute()
    await removeNode(test.db, third)
    await Promise.all([calls.node.sweepOrphans(), calls.other.sweepOrphans()])
    await until(() => redirected().length >= 100, { what: 'every call to be sent' })
    expect(new Set(redirected()).size).toBe(100)
    expect(redirected()).toHaveLength(100)
    const epochs = await test.db.selectFrom('call_directory').select('epoch').distinct().execute()
    expect(epochs).toEqual([{ epoch: 2 }])
  })

  it('are closed when the carrier says that they are over, with what it says of them', async () => {
    await calls.talk('CA1', calls.other)
    await silence(OTHER_NODE, 3)
    calls.rest.reply = ({ method }) => (method === 'GET' ? carrierSays('completed', { duration: '7' }) : NO_SUCH_CALL)
    await calls.clock.advance(20_000)
    await calls.node.sweepOrphans()
    const { log, session, entry } = await calls.stored('CA1')
    expect(log).toMatchObject({ status: 'completed', duration_seconds: 7 })
    expect(session).toMatchObject({ end_reason: 'process_lost', ended_at: log.ended_at, duration_seconds: 7 })
    expect(entry).toMatchObject({ look_at: null, rescue_at: null })
    const events = (await storedEvents(test.db)).map(({ event }) => event)
    expect(events.slice(2)).toEqual(['voice.session.completed', 'voice.call.completed'])
  })

  it('are left alone where they go on without us, as at a fallback number', async () => {
    await calls.talk('CA1', calls.other)
    await makePutThrough({ db: test.db, clock: calls.clock })(calls.tenant('acme'), 'CA1')
    await test.db.updateTable('call_directory').set({ owner: OTHER_NODE }).execute()
    await silence(OTHER_NODE, 3)
    await calls.node.sweepOrphans()
    expect(redirected()).toEqual([])
    expect((await calls.stored('CA1')).session.end_reason).toBe('transferred')
  })

  it('are closed when the carrier knows nothing of them', async () => {
    await calls.talk('CA1', calls.other)
    await silence(OTHER_NODE, 3)
    calls.rest.reply = () => NO_SUCH_CALL
    await calls.node.sweepOrphans()
    expect((await calls.stored('CA1')).session.end_reason).toBe('process_lost')
  })

  it('are closed when they have no carrier, and when their end was told already', async () => {
    await calls.talk('browser-1', calls.other, 'acme', 'browser')
    await calls.talk('CA2', calls.other)
    await test.db
      .updateTable('call_logs')
      .set({ status: 'completed', ended_at: new Date(calls.clock.now()) })
      .where('call_sid', '=', 'CA2')
      .execute()
    await silence(OTHER_NODE, 3)
    await calls.node.sweepOrphans()
    expect(calls.rest.requests).toEqual([])
    for (const callSid of ['browser-1', 'CA2']) {
      const { log, session, entry } = await calls.stored(callSid)
      expect([log.status, session.end_reason, entry.look_at]).toEqual(['completed', 'process_lost', null])
    }
  })

  it('are tried three times at a carrier that fails, and another account is not held up by it', async () => {
    for (let n = 0; n < 10; n++) await calls.talk(`CA${n}`, calls.other)
    await calls.talk('CB1', calls.other, 'globex')
    await silence(OTHER_NODE, 3)
    calls.rest.reply = ({ path }) => ({ status: path.includes('AC-acme') ? 500 : 200, body: {} })
    await calls.node.sweepOrphans({ isSlow: true })
    expect(redirected().filter((callSid) => callSid === 'CA7')).toHaveLength(3)
    expect(redirected().indexOf('CB1')).toBeLessThan(redirected().lastIndexOf('CA7'))
    expect((await calls.stored('CA7')).entry).toMatchObject({ owner: null, epoch: 2, rescue_at: expect.any(Date) })
    expect(calls.node.logged()).toContain('a call of a node that is gone was not brought back')
  })

  it('are left to a stream that came by itself while the carrier was asked', async () => {
    await calls.talk('CA1', calls.other)
    await silence(OTHER_NODE, 3)
    const stream = { callSid: 'CA1', epoch: 2, streamSid: 'MZ2', model: null, voice: null }
    calls.rest.reply = async () => {
      await calls.node.sessions.started(calls.tenant('acme'), stream)
      return { status: 500, body: {} }
    }
    await calls.node.sweepOrphans({ isSlow: true })
    expect(redirected()).toEqual(['CA1'])
    expect((await calls.stored('CA1')).entry).toMatchObject({ owner: NODE, epoch: 2 })
  })

  it('are left alone for as long as a stream may come that their carrier was promised', async () => {
    await calls.talk('CA1', calls.other)
    await calls.talk('CA2', calls.other)
    await silence(OTHER_NODE, 3)
    await makeResuming({ db: test.db, clock: calls.clock }).promise(calls.tenant('acme').tenant_id, 'CA1')
    await calls.node.sweepOrphans()
    expect(redirected()).toEqual(['CA2'])
    expect((await calls.stored('CA1')).entry).toMatchObject({ owner: OTHER_NODE, epoch: 1 })
    await calls.clock.advance(15_000)
    await calls.node.sweepOrphans()
    expect(redirected()).toEqual(['CA2', 'CA1'])
  })

  it('are left to a stream that was promised while the carrier was asked, and taken when it does not come', async () => {
    await calls.talk('CA1', calls.other)
    await silence(OTHER_NODE, 3)
    const resuming = makeResuming({ db: test.db, clock: calls.clock })
    calls.rest.reply = async () => {
      await resuming.promise(calls.tenant('acme').tenant_id, 'CA1')
      return { status: 500, body: {} }
    }
    await calls.node.sweepOrphans({ isSlow: true })
    expect(redirected()).toEqual(['CA1'])
    expect((await calls.stored('CA1')).entry).toMatchObject({ owner: null, epoch: 2, rescue_at: expect.any(Date) })
    await test.db.updateTable('call_directory').set({ rescue_at: sql<Date>`now()` }).execute()
    await calls.clock.advance(15_000)
    calls.rest.reply = () => ({ status: 200, body: {} })
    await calls.node.sweepOrphans()
    expect(redirected()).toEqual(['CA1', 'CA1'])
  })

  it('are taken once more when the node that took them is gone too', async () => {
    await calls.talk('CA1', calls.other)
    await test.db
      .updateTable('call_directory')
      .set({ owner: null, epoch: 2, rescue_at: sql<Date>`now() - interval '1 second'` })
      .execute()
    await calls.node.sweepOrphans()
    expect(redirected()).toEqual(['CA1'])
    expect((await calls.stored('CA1')).entry).toMatchObject({ epoch: 3, rescue_at: null })
  })
})

describe('a node that was away itself', () => {
  it('judges nobody until it was heard for as long as the others must be silent', async () => {
    await calls.talk('CA1', calls.node)
    await silence(NODE, 60)
    await calls.other.beat()
    for (const ms of [1_000, 1_000, 999]) {
      await calls.clock.advance(ms)
      await calls.other.beat()
      await calls.other.sweepOrphans()
      expect(redirected()).toEqual([])
    }
    await calls.clock.advance(1)
    await calls.other.sweepOrphans()
    expect(redirected()).toEqual(['CA1'])
  })

  it('judges nobody while its own last beat is as old as those of others may be', async () => {
    await calls.talk('CA1', calls.node)
    await listen()
    await silence(NODE, 3)
    await calls.clock.advance(1_901)
    await calls.other.sweepOrphans()
    expect(redirected()).toEqual([])
  })

  it('begins anew after a time in which nothing was written', async () => {
    await calls.talk('CA1', calls.node)
    await listen()
    await silence(NODE, 60)
    await calls.clock.advance(1_901)
    for (let second = 0; second < 3; second++) {
      await calls.other.beat()
      await calls.other.sweepOrphans()
      expect(redirected()).toEqual([])
      await calls.clock.advance(1_000)
    }
    await calls.other.beat()
    await calls.other.sweepOrphans()
    expect(redirected()).toEqual(['CA1'])
  })
})

describe('a database that answers and takes no writes', () => {
  it('moves no call of nodes that live, whichever of them can be heard first afterwards', async () => {
    await calls.talk('CA1', calls.node)
    await listen()
    await withoutBeats(async () => {
      for (let second = 0; second < 4; second++) {
        await calls.clock.advance(1_000)
        for (const each of [calls.node, calls.other]) await expect(each.beat()).rejects.toThrow()
        await calls.other.sweepOrphans()
      }
    })
    for (const id of [NODE, OTHER_NODE]) await silence(id, 4)
    await calls.clock.advance(1_000)
    await calls.other.beat()
    await calls.other.sweepOrphans()
    expect((await calls.stored('CA1')).entry).toMatchObject({ owner: NODE, epoch: 1 })
    for (let second = 0; second < 4; second++) {
      await calls.clock.advance(1_000)
      for (const each of [calls.node, calls.other]) await each.beat()
      await calls.other.sweepOrphans()
    }
    expect((await calls.stored('CA1')).entry).toMatchObject({ owner: NODE, epoch: 1 })
  })
})

describe('a database whose clock is put forward', () => {
  it('moves no call of nodes that live, whoever of them has written since', async () => {
    await calls.talk('CA1', calls.node)
    await listen()
    calls.other.clockWasBehind(60_000)
    for (const id of [NODE, OTHER_NODE]) await silence(id, 60)
    await beat(test.db, newId<NodeId>(1), '1')
    await calls.other.sweepOrphans()
    expect((await calls.stored('CA1')).entry).toMatchObject({ owner: NODE, epoch: 1 })
    await calls.other.beat()
    await calls.other.sweepOrphans()
    expect((await calls.stored('CA1')).entry).toMatchObject({ owner: NODE, epoch: 1 })
  })

  it('keeps those of a node that is gone waiting for no longer than one that was away', async () => {
    await calls.talk('CA1', calls.node)
    await listen()
    calls.other.clockWasBehind(60_000)
    await silence(NODE, 60)
    await calls.other.beat()
    for (let second = 0; second < 3; second++) {
      await calls.other.sweepOrphans()
      expect(redirected()).toEqual([])
      await calls.clock.advance(1_000)
      await calls.other.beat()
    }
    await calls.other.sweepOrphans()
    expect(redirected()).toEqual(['CA1'])
  })
})

describe('a database whose clock was put forward by little more than beats can tell', () => {
  it('has the calls of a node that is gone brought back all the same', async () => {
    await calls.talk('CA1', calls.node)
    await listen()
    calls.other.clockWasBehind(60_000)
    await silence(NODE, 60)
    for (let second = 0; second < 5; second++) {
      await calls.other.beat({ isTold: false })
      await calls.other.sweepOrphans()
      await calls.clock.advance(1_000)
    }
    expect(redirected()).toEqual(['CA1'])
  })
})

describe('a database whose clock was put back since a node was last heard', () => {
  it('has its calls brought back as those of any node that is gone', async () => {
    await calls.talk('CA1', calls.node)
    await silence(NODE, -3_600)
    await listen()
    await calls.other.sweepOrphans()
    expect(redirected()).toEqual([])
    await silence(NODE, -3_600)
    await calls.other.sweepOrphans()
    expect(redirected()).toEqual(['CA1'])
  })
})

describe('a call that its node lets go of', () => {
  const lease = { leaseMs: 60_000, lookAt: new Date() }

  it('can be taken back while nobody else has it', async () => {
    await calls.talk('CA1', calls.node)
    const call = { tenantId: calls.tenant('acme').tenant_id, callSid: 'CA1' }
    expect(await releaseCall(test.db, OTHER_NODE, call, lease)).toBeNull()
    const released = await releaseCall(test.db, NODE, call, lease)
    expect(released).toEqual({ ...call, epoch: 2 })
    expect(await takenCallsAcrossTenants(test.db, NODE, ['CA1'])).toEqual([{ callSid: 'CA1', epoch: 2 }])
    expect(released && (await takeBack(test.db, NODE, released))).toBe(true)
    expect((await calls.stored('CA1')).entry).toMatchObject({ owner: NODE, epoch: 1, rescue_at: null })
  })

  it('cannot be taken back once another stream has it', async () => {
    await calls.talk('CA1', calls.node)
    const call = { tenantId: calls.tenant('acme').tenant_id, callSid: 'CA1' }
    const released = await releaseCall(test.db, NODE, call, lease)
    const stream = { callSid: 'CA1', epoch: 2, streamSid: 'MZ2', model: null, voice: null }
    await calls.other.sessions.started(calls.tenant('acme'), stream)
    expect(released && (await takeBack(test.db, NODE, released))).toBe(false)
    expect((await calls.stored('CA1')).entry).toMatchObject({ owner: OTHER_NODE, epoch: 2 })
  })
})
