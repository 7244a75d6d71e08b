import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { until } from '../../test/harness/wait.ts'
import { AppError } from '../kernel/errors.ts'
import { noteForCommit } from './db/commits.ts'
import { toAppError } from './db/errors.ts'
import { type LeasedRows, LeasedWorker } from './leased-worker.ts'
import { makeLog } from './log.ts'

type Claim = Awaited<ReturnType<LeasedRows<{ name: string }>['claim']>>

const TOPIC = 'leased_worker_rows'
const test = useDatabase()
let clock: TestClock
let worker: LeasedWorker<{ name: string }>
/** Claims that wait for an answer, oldest first. */
let asking: PromiseWithResolvers<Claim>[]
let claims: number
let said: string[]
/** What is under way, by its name. */
let running: Map<string, PromiseWithResolvers<void>>

beforeEach(() => {
  clock = new TestClock()
  asking = []
  claims = 0
  running = new Map()
  said = []
})
afterEach(async () => {
  for (const { resolve } of asking) resolve('none waits')
  for (const { resolve } of running.values()) resolve()
  await worker.close()
  if (clock.pendingTimers > 0) throw new Error('who works has left a timer')
})

/** Somebody who works on rows of which the test says what each claim finds and how long each takes. */
async function working(rows: Partial<LeasedRows<{ name: string }>> = {}): Promise<void> {
  const destination = { write: (line: string) => void said.push(JSON.parse(line).msg) }
  const log = makeLog({ level: 'info', secrets: [], destination })
  worker = new LeasedWorker(
    { db: test.db, clock, log, isAlone: false },
    {
      topic: TOPIC,
      endLeases: async () => {},
      hasRoom: (count) => count < 2,
      claim() {
        claims += 1
        const asked = Promise.withResolvers<Claim>()
        asking.push(asked)
        return asked.promise
      },
      work({ name }) {
        const work = Promise.withResolvers<void>()
        running.set(name, work)
        return work.promise
      },
      failed: async () => {},
      ...rows,
    },
  )
  await worker.start()
}

/** The next claim finds this; waits until there is one. */
async function finds(claim: Claim | Error): Promise<void> {
  await until(() => asking.length > 0, { what: 'a claim' })
  const asked = asking.shift()
  if (claim instanceof Error) asked?.reject(claim)
  else asked?.resolve(claim)
  await clock.advance(0)
}

async function ends(name: string): Promise<void> {
  running.get(name)?.resolve()
  await clock.advance(0)
}

const commits = () => test.db.transaction().execute(async (tx) => noteForCommit(tx, TOPIC, 'a row'))

describe('Who works on rows', () => {
  it('looks for them at the start, with each commit, every five seconds, and for the next one while there is room', async () => {
    await working()
    await finds('none waits')
    await commits()
    await finds({ name: 'a' })
    await finds({ name: 'b' })
    expect([...running.keys(), claims]).toEqual(['a', 'b', 3])
    await clock.advance(4_999)
    expect(claims).toBe(3)
    await ends('b')
    await finds('none waits')
    await clock.advance(1)
    await finds('none waits')
    expect(claims).toBe(5)
  })

  it('does not look behind the last of them, where none waits', async () => {
    await working()
    await finds({ name: 'a' })
    await finds('none waits')
    await ends('a')
    expect(claims).toBe(2)
  })

  it('looks behind one of them where others wait until it is done', async () => {
    await working()
    await finds({ name: 'a' })
    await finds('some wait')
    await ends('a')
    await finds({ name: 'b' })
    expect(running.has('b')).toBe(true)
  })

  it('looks behind one of them that was done while it was looked, for that one was counted', async () => {
    await working()
    await finds({ name: 'a' })
    await ends('a')
    await finds('some wait')
    await finds({ name: 'b' })
    expect(running.has('b')).toBe(true)
  })

  it('looks behind one of them where the latest look came to nothing', async () => {
    await working()
    await finds({ name: 'a' })
    await finds(new Error('the database is away'))
    await ends('a')
    await finds({ name: 'b' })
    expect(running.has('b')).toBe(true)
  })

  it('says once what keeps it from looking, and once that it looks again; that the database is away others say', async () => {
    await working()
    for (const err of [
      new AppError('unavailable', 'The database is not reachable.'),
      new Error('no'),
      new Error('no'),
    ]) {
      await finds(err)
      worker.look()
    }
    const failing = 'what waits beside the calls is not begun'
    expect(said).toEqual([failing])
    await finds('none waits')
    worker.look()
    await finds('none waits')
    expect(said).toEqual([failing, 'what waits beside the calls is begun again'])
  })

  it('says that a look takes the database too long, which nobody else says', async () => {
    await working()
    const canceled = Object.assign(new pg.DatabaseError('canceled', 8, 'error'), { code: '57014' })
    await finds(toAppError(canceled) as AppError)
    expect(said).toEqual(['what waits beside the calls is not begun'])
  })

  it('does what is to be done regularly at the start and every five seconds, and what failed with the next look', async () => {
    const done: number[] = []
    let isAway = true
    await working({
      async regularly() {
        if (isAway) throw new Error('the database is away')
        done.push(clock.monotonicMs())
      },
    })
    await clock.advance(1_000)
    isAway = false
    await commits()
    await finds('none waits')
    await commits()
    await finds('none waits')
    expect([...done, claims]).toEqual([1_000, 2])
    await clock.advance(4_000)
    await finds('none waits')
    expect(done).toEqual([1_000, 5_000])
  })

  it('does it again that fell due while it was done', async () => {
    const doing: PromiseWithResolvers<void>[] = []
    await working({
      regularly() {
        doing.push(Promise.withResolvers<void>())
        return doing.at(-1)?.promise ?? Promise.resolve()
      },
    })
    await clock.advance(5_000)
    doing[0]?.resolve()
    await finds('none waits')
    await until(() => doing.length === 2, { what: 'it to be done again' })
    doing[1]?.resolve()
    await finds('none waits')
  })

  it('begins nothing more once it is stopped', async () => {
    await working()
    worker.stop()
    await finds({ name: 'a' })
    worker.look()
    await clock.advance(5_000)
    expect([...running.keys(), claims]).toEqual(['a', 1])
  })
})
