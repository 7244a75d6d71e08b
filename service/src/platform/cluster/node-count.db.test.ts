import { sql } from 'kysely'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { until } from '../../../test/harness/wait.ts'
import { type NodeId, newId } from '../../kernel/ids.ts'
import { beat, removeNode } from '../nodes/heartbeat-store.ts'
import { watchNodeCount } from './node-count.ts'

const test = useDatabase()
const NODES = [1, 2, 3].map((n) => newId<NodeId>(n)) as [NodeId, NodeId, NodeId]
let clock: TestClock

beforeEach(async () => {
  clock = new TestClock()
  for (const node of NODES) await beat(test.db, node, '1')
  // However long that took, none is silent for longer than the others.
  await sql`update nodes set heartbeat_at = now()`.execute(test.db)
})

function watch() {
  const count = watchNodeCount({ db: test.db, clock })
  onTestFinished(() => count.stop())
  return count
}

/** The database has taken no heartbeats for so long. */
async function withoutBeats(seconds: number): Promise<void> {
  await sql`update nodes set heartbeat_at = heartbeat_at - ${seconds} * interval '1 second'`.execute(test.db)
}

/** Looks as often, each time with what the database says then. */
async function looks(times: number): Promise<void> {
  for (let look = 0; look < times; look++) {
    await clock.advance(1_000)
    // What was asked before is answered before, on one connection and nearly always on several.
    await sql`select 1`.execute(test.db)
  }
}

describe('the nodes among which a limit is shared', () => {
  it('are those that are heard from', async () => {
    const count = watch()
    await until(() => count.nodes === 3, { what: 'all of them' })
  })

  it('are as many as there were while the database takes no heartbeats, and when the first comes again', async () => {
    const count = watch()
    await until(() => count.nodes === 3, { what: 'all of them' })
    await withoutBeats(3_600)
    await looks(20)
    expect(count.nodes).toBe(3)
    await beat(test.db, NODES[0], '1')
    await looks(2)
    expect(count.nodes).toBe(3)
  })

  it('are fewer ten seconds after one has stopped or was last heard from', async () => {
    const count = watch()
    await until(() => count.nodes === 3, { what: 'all of them' })
    await withoutBeats(60)
    await beat(test.db, NODES[0], '1')
    await beat(test.db, NODES[1], '1')
    await removeNode(test.db, NODES[1])
    await until(
      async () => {
        await looks(1)
        return count.nodes === 1
      },
      { what: 'the one that is left', everyMs: 5 },
    )
  })
})
