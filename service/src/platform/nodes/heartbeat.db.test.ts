import { type RawBuilder, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { passing } from '../../../test/harness/passing.ts'
import { until } from '../../../test/harness/wait.ts'
import { systemClock } from '../../kernel/clock.ts'
import { type NodeId, newId } from '../../kernel/ids.ts'
import { SharedClock } from '../../kernel/shared-clock.ts'
import type { Db } from '../db/schema.ts'
import { makeLog } from '../log.ts'
import { type Heartbeat, startHeartbeat } from './heartbeat.ts'
import { beat, countNodes, liveNodes, pruneNodes, removeNode } from './heartbeat-store.ts'
import { SteadyBeats } from './steady-beats.ts'

const test = useDatabase()
const MINUTE_MS = 60_000

function node(n: number): NodeId {
  return newId<NodeId>(n)
}

/** Makes the node's last heartbeat older. */
async function silence(nodeId: NodeId, age: RawBuilder<unknown>): Promise<void> {
  await test.db
    .updateTable('nodes')
    .set({ heartbeat_at: sql<Date>`now() - ${age}` })
    .where('node_id', '=', nodeId)
    .execute()
}

async function rowOf(nodeId: NodeId) {
  return test.db.selectFrom('nodes').selectAll().where('node_id', '=', nodeId).executeTakeFirst()
}

async function heartbeatOf(nodeId: NodeId): Promise<Date | undefined> {
  return (await rowOf(nodeId))?.heartbeat_at
}

describe('the list of nodes', () => {
  it('holds a node once however often it beats, with the instant it started', async () => {
    const id = node(1)
    await beat(test.db, id, '1.0.0')
    const first = await rowOf(id)
    await silence(id, sql`interval '2 minutes'`)
    await beat(test.db, id, '1.0.0')
    expect(await liveNodes(test.db, MINUTE_MS)).toEqual([id])
    expect(await rowOf(id)).toMatchObject({ version: '1.0.0', started_at: first?.started_at })
  })

  it('shows only the nodes heard from within the given time', async () => {
    const [alive, silent] = [node(1), node(2)]
    await beat(test.db, alive, '1')
    await beat(test.db, silent, '1')
    await silence(silent, sql`interval '2 minutes'`)
    expect(await liveNodes(test.db, MINUTE_MS)).toEqual([alive])
  })

  it('shows none whose last heartbeat is of a clock that was put back since, and goes by that of no such one', async () => {
    const [before, here, there] = [node(1), node(2), node(3)]
    for (const each of [before, here, there]) await beat(test.db, each, '1')
    await silence(before, sql`interval '-40 days'`)
    expect(await liveNodes(test.db, MINUTE_MS)).toEqual([here, there])
    expect(await countNodes(test.db, MINUTE_MS)).toBe(2)
    await beat(test.db, before, '1')
    expect(await countNodes(test.db, MINUTE_MS)).toBe(3)
  })

  it('loses a node that stopped, and only that one', async () => {
    const [stopped, other] = [node(1), node(2)]
    await beat(test.db, stopped, '1')
    await beat(test.db, other, '1')
    await removeNode(test.db, stopped)
    await removeNode(test.db, stopped)
    expect(await liveNodes(test.db, MINUTE_MS)).toEqual([other])
  })

  it('forgets nodes that were silent for longer than the given time', async () => {
    const [young, old] = [node(1), node(2)]
    await beat(test.db, young, '1')
    await beat(test.db, old, '1')
    await silence(young, sql`interval '23 hours'`)
    await silence(old, sql`interval '25 hours'`)
    await pruneNodes(test.db, 24 * 3_600_000)
    expect(await liveNodes(test.db, 48 * 3_600_000)).toEqual([young])
  })
})

describe('startHeartbeat', () => {
  let clock: TestClock
  let lines: string[]
  let beats: SteadyBeats
  let started: Heartbeat | undefined
  /** What comes of a look for room. */
  let room: Promise<void>
  /** How often that was looked for: behind each beat, unless the look before is not over. */
  let looks: number

  beforeEach(() => {
    clock = new TestClock()
    lines = []
    beats = new SteadyBeats(clock)
    room = Promise.resolve()
    looks = 0
  })
  afterEach(() => started?.close())

  function start(nodeId: NodeId, db: Db = test.db, sharedClock?: SharedClock): Heartbeat {
    const expectRoom = () => {
      looks += 1
      return room
    }
    const log = makeLog({ level: 'info', secrets: [], destination: { write: (line) => lines.push(line) } })
    started = startHeartbeat({ db, expectRoom, clock, nodeId, version: '1.0.0', log, beats, sharedClock })
    return started
  }

  it('writes at once and then each second', async () => {
    const id = node(1)
    start(id)
    const first = await until(() => heartbeatOf(id), { what: 'the first beat' })
    await silence(id, sql`interval '10 seconds'`)
    // The row of a beat is there before the beat is over, and what is due until then drops out.
    const beganMs = clock.now()
    const isBeatingOn = async () => Number(await heartbeatOf(id)) >= Number(first)
    await passing(clock, isBeatingOn, { what: 'the second beat', stepMs: 1_000 })
    expect(clock.now() - beganMs).toBeLessThan(10_000)
    for (let beat = 1; beat <= 3; beat += 1) {
      const before = looks
      await clock.advance(1_000)
      await until(() => looks > before, { what: 'the beat that is due' })
    }
  })

  it("puts a clock right that is off from the database's, and says so once", async () => {
    // Since then the clock of the test stands still: however late the machine is, it is off by minutes.
    const sharedClock = new SharedClock(new TestClock(systemClock.now() + 600_000))
    start(node(1), test.db, sharedClock)
    await until(() => lines.length > 0, { what: 'the warning' })
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'warn', forward_ms: expect.closeTo(-600_000, -5) })
    expect(Math.abs(sharedClock.now() - systemClock.now())).toBeLessThan(60_000)
  })

  it('is steady anew once the clock of the database was set', async () => {
    const [id, sharedClock] = [node(1), new SharedClock(systemClock)]
    const steadyMs = async () => {
      const before = Number(await heartbeatOf(id))
      let looks = 0
      const isWritten = async () => {
        // What is due while a beat is on its way drops out: then the one after it is waited for.
        if (looks % 40 === 0) await clock.advance(1_000)
        looks += 1
        return Number(await heartbeatOf(id)) > before
      }
      await until(isWritten, { what: 'the next beat', everyMs: 5 })
      return beats.forMs
    }
    start(id, test.db, sharedClock)
    await until(() => heartbeatOf(id), { what: 'the first beat' })
    await until(async () => (await steadyMs()) >= 2_000, { what: 'some beats', everyMs: 5 })
    sharedClock.heard(systemClock.now() - 60_000, sharedClock.monotonicMs())
    const isSet = async () => (await steadyMs()) < 2_000 && lines.length > 0
    await until(isSet, { what: 'the beat by which it is set', everyMs: 5 })
    expect(lines).toHaveLength(1)
  })

  it('forgets the nodes of yesterday', async () => {
    const old = node(1)
    await beat(test.db, old, '1')
    await silence(old, sql`interval '25 hours'`)
    start(node(2))
    const left = () => test.db.selectFrom('nodes').select('node_id').execute()
    await until(async () => !(await left()).some((row) => row.node_id === old), {
      what: 'the old node to be forgotten',
    })
  })

  it('forgets once an hour those that have become so old since', async () => {
    start(node(2))
    await passing(clock, () => looks >= 2, { what: 'two beats', stepMs: 1_000 })
    const old = node(1)
    await beat(test.db, old, '1')
    await silence(old, sql`interval '25 hours'`)
    clock.skip(3_600_000)
    await passing(clock, async () => (await rowOf(old)) === undefined, { what: 'the old node to be forgotten' })
  })

  it('takes the node off the list when it closes, and leaves no timer', async () => {
    const id = node(1)
    const heartbeat = start(id)
    await until(() => heartbeatOf(id), { what: 'the first beat' })
    await Promise.all([heartbeat.close(), heartbeat.close()])
    expect(await heartbeatOf(id)).toBeUndefined()
    expect(clock.pendingTimers).toBe(0)
  })

  it('does not wait for ever to be taken off the list', async () => {
    const id = node(1)
    const heartbeat = start(id)
    await until(() => heartbeatOf(id), { what: 'the first beat' })
    const other = await test.anotherNode()
    await other.db.transaction().execute(async (tx) => {
      if (test.kind === 'server') await sql`lock table nodes`.execute(tx)
      const closed = heartbeat.close()
      await until(() => clock.pendingTimers > 0, { what: 'the bound on the wait' })
      await clock.advance(1_000)
      await closed
    })
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['the heartbeat cannot be written'])
  })

  it('is steady from the first beat on, and anew once the database takes beats again', async () => {
    const steady = () => passing(clock, () => beats.forMs > 0, { what: 'a beat', stepMs: 1_000 })
    start(node(1))
    await steady()
    await sql`alter table nodes rename to away`.execute(test.db)
    for (let second = 0; second < 3; second++) await clock.advance(1_000)
    await until(() => lines.length > 0, { what: 'the warning' })
    expect(beats.forMs).toBe(0)
    await sql`alter table away rename to nodes`.execute(test.db)
    await steady()
    expect(beats.forMs).toBe(1_000)
  })

  it('goes on while a look for room hangs, and while there is none, which is told apart from being heard', async () => {
    const id = node(1)
    const looked = Promise.withResolvers<void>()
    room = looked.promise
    start(id)
    // A second passes once the beat of the one before is written: who is too slow for that is not steady.
    const heardFor = (ms: number) =>
      passing(clock, () => beats.forMs >= ms, { what: `${ms} ms of beats`, stepMs: 1_000 })
    await heardFor(3_000)
    expect([beats.isTaking, looks]).toEqual([true, 1])
    looked.reject(new Error('no room'))
    await until(() => !beats.isTaking, { what: 'the end of the look' })
    await heardFor(6_000)
    room = Promise.resolve()
    await passing(clock, () => beats.isTaking, { what: 'room', stepMs: 1_000 })
    expect(lines).toEqual([])
  })

  it('says once that the database is away and once that it is back', async () => {
    const id = node(1)
    start(id)
    await until(() => heartbeatOf(id), { what: 'the first beat' })
    await sql`alter table nodes rename to away`.execute(test.db)
    for (let second = 0; second < 4; second++) await clock.advance(1_000)
    await until(() => lines.length > 0, { what: 'the warning' })
    await clock.advance(5_000)
    await sql`alter table away rename to nodes`.execute(test.db)
    await until(
      async () => {
        await clock.advance(1_000)
        return lines.length === 2
      },
      { what: 'the news that it is back', everyMs: 5 },
    )
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(['warn', 'info'])
  })

  it('has one write on its way however slow the database is', async () => {
    const id = node(1)
    start(id)
    await until(() => heartbeatOf(id), { what: 'the first beat' })
    let beats = 0
    const counting = test.db.withPlugin({
      transformQuery: ({ node: query }) => {
        beats += 1
        return query
      },
      transformResult: async ({ result }) => result,
    })
    await started?.close()
    await test.db.transaction().execute(async (tx) => {
      await sql`lock table nodes in access exclusive mode`.execute(tx)
      start(id, counting)
      await clock.advance(30_000)
      expect(beats).toBe(1)
    })
  })
})
