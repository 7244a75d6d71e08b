import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { GatedDatabase } from '../../test/harness/gated-database.ts'
import { passing, passingWork } from '../../test/harness/passing.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { makeLog } from '../platform/log.ts'
import type { SessionId } from './call-values.ts'
import { NODE, someCall, someTurn, storedEvents, tenantTold } from './calls.fixture.ts'
import { type CallJournal, Journal } from './journal.ts'
import { JournalFiles } from './journal-file.ts'
import { findLeftBehind } from './journal-left.ts'
import { readEntries } from './journal-waiting.ts'
import { makeSessions } from './sessions.ts'
import { listFunctionCalls, listTurns } from './transcript-store.ts'

const test = useDatabase()
const acme = tenantTold('acme', ['voice.transcript.turn'])
const log = makeLog({ level: 'info', secrets: [], destination: { write: (line) => lines.push(JSON.parse(line)) } })
let lines: Record<string, unknown>[]
let clock: TestClock
let folder: string
let sessionId: SessionId
let opened: { journal: Journal; files: JournalFiles }[]

beforeEach(async () => {
  clock = new TestClock()
  lines = []
  opened = []
  folder = await mkdtemp(join(tmpdir(), 'journal-'))
  await makeTenant(test.db, 'acme')
  const session = await makeSessions({ db: test.db, clock, nodeId: NODE }).open(acme, someCall('CA1'))
  sessionId = session.sessionId
})
afterEach(async () => {
  for (const { journal, files } of opened)
    await passingWork(
      clock,
      journal.close().then(() => files.close()),
    )
  if (clock.pendingTimers > 0) throw new Error('the journal left a timer')
})

type Started = { journal: Journal; files: JournalFiles; call: CallJournal; gate: GatedDatabase }

/** A journal as a process has it, with its files. */
async function startJournal(node: string): Promise<Started> {
  const gate = new GatedDatabase()
  const files = new JournalFiles({ folder, node, clock, log })
  await files.start()
  const journal = new Journal({ db: gate.of(test.database).db, clock, log, files })
  opened.push({ journal, files })
  return { journal, files, gate, call: journal.of({ tenant: acme, callSid: 'CA1', sessionId, epoch: 1 }) }
}

const raiseEpoch = () => test.db.updateTable('call_directory').set({ epoch: 2 }).execute()

/** Moves time until so much stands in the files. */
async function keptLines(count: number): Promise<void> {
  await passing(clock, async () => (await linesInFiles()) === count, { what: `${count} lines in the files` })
}

async function linesInFiles(): Promise<number> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.log'))
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return texts.join('').split('\n').length - 1
}

/** What a killed process leaves: its files, with nobody who holds them. The database is away from it for ever. */
async function die({ journal, files, gate }: Started): Promise<void> {
  gate.isAway = true
  await passingWork(clock, files.close())
  await passingWork(clock, journal.close())
}

/** What the next start does with what is left. */
async function restored(): Promise<void> {
  const { journal } = await startJournal('next')
  for (const left of await findLeftBehind({ folder, log })) {
    await passingWork(clock, journal.restore(await readEntries(left.waiting, async () => acme)))
    await left.remove()
  }
}

async function texts(): Promise<string[]> {
  return (await listTurns(test.db, acme.tenant_id, sessionId)).map(({ text }) => text)
}

describe('what waits for the database', () => {
  it('is in a file a second later, and in none once it is stored', async () => {
    const { call, gate } = await startJournal('n1')
    gate.isAway = true
    call.append(someTurn(1))
    await keptLines(1)
    call.append(someTurn(2))
    await keptLines(2)
    gate.isAway = false
    const areGone = async () => (await readdir(folder)).every((name) => !name.endsWith('.log'))
    await passing(clock, areGone, { what: 'the files to go' })
    expect(await texts()).toEqual(['Sentence 1.', 'Sentence 2.'])
  })

  it('makes no file while the database takes it', async () => {
    const { journal, call } = await startJournal('n1')
    for (let seq = 1; seq <= 12; seq += 1) {
      call.append(someTurn(seq))
      await passingWork(clock, journal.flush())
    }
    expect(await linesInFiles()).toBe(0)
  })

  it('is stored once by the next start when its process dies, as it was last said, and told once', async () => {
    const dying = await startJournal('n1')
    const { call } = dying
    call.append(someTurn(1))
    await passingWork(clock, dying.journal.flush())
    dying.gate.isAway = true
    call.append(someTurn(2, { text: 'Hel' }))
    call.append(someTurn(3))
    call.append(someTurn(4))
    await keptLines(3)
    call.append(someTurn(2, { text: 'Hello.' }))
    call.forget('item_3')
    const tool = { callId: 'call_1', seq: 1, name: 'find_slot', argumentsText: '{}', result: 'ok' }
    call.tool({ ...tool, status: 'ok', startMs: 1, durationMs: 2 })
    await keptLines(6)
    await die(dying)
    await restored()
    expect(await texts()).toEqual(['Sentence 1.', 'Hello.', 'Sentence 4.'])
    expect(await listFunctionCalls(test.db, acme.tenant_id, sessionId)).toMatchObject([{ call_id: 'call_1' }])
    await restored()
    expect((await storedEvents(test.db)).map(({ body }) => body['payload'])).toMatchObject([
      { turn: { text: 'Sentence 1.' } },
      { turn: { text: 'Hello.' } },
      { turn: { text: 'Sentence 4.' } },
    ])
  })

  it('tells what a tool answered whose beginning alone is stored, also when another stream has the call', async () => {
    const dying = await startJournal('n1')
    const tool = { callId: 'call_1', seq: 1, name: 'refund', argumentsText: '{}', startMs: 1 }
    dying.call.tool({ ...tool, result: null, status: 'timeout', durationMs: 0 })
    await passingWork(clock, dying.journal.flush())
    dying.gate.isAway = true
    dying.call.tool({ ...tool, result: '{"paid":true}', status: 'ok', durationMs: 2 })
    await keptLines(1)
    await die(dying)
    await raiseEpoch()
    await restored()
    const calls = await listFunctionCalls(test.db, acme.tenant_id, sessionId)
    expect(calls).toMatchObject([{ call_id: 'call_1', status: 'ok', result: '{"paid":true}' }])
  })

  it('does not come back over what was said later, when its process dies after the database was back', async () => {
    const dying = await startJournal('n1')
    dying.gate.isAway = true
    dying.call.append(someTurn(1, { text: 'before' }))
    await keptLines(1)
    dying.gate.isAway = false
    await passingWork(clock, dying.journal.flush())
    dying.call.append(someTurn(1, { text: 'after' }))
    await passingWork(clock, dying.journal.flush())
    await die(dying)
    await restored()
    expect(await texts()).toEqual(['after'])
  })

  it('is left to the next start by a process that is told to stop', async () => {
    const { journal, files, call, gate } = await startJournal('n1')
    gate.isAway = true
    call.append(someTurn(1))
    await passingWork(clock, journal.close())
    await passingWork(clock, files.close())
    expect(lines.at(-1)).toMatchObject({ level: 'warn', msg: 'journal entries are left to the next start', entries: 1 })
    gate.isAway = false
    await restored()
    expect(await texts()).toEqual(['Sentence 1.'])
  })
})

describe('what a former owner of a call said', () => {
  /** The new owner knows of the first turn alone. */
  async function taken(): Promise<void> {
    await raiseEpoch()
    const { journal } = await startJournal('owner')
    const call = journal.of({ tenant: acme, callSid: 'CA1', sessionId, epoch: 2 })
    call.append(someTurn(2, { itemId: 'new_1', text: 'Here I am again.', startMs: 60_000, endMs: 61_000 }))
    call.append(someTurn(3, { itemId: 'new_2', text: 'Good.', startMs: 62_000, endMs: 63_000 }))
    await passingWork(clock, journal.flush())
  }

  it('while the database was away is kept, where it was said, when its process died', async () => {
    const dying = await startJournal('n1')
    dying.call.append(someTurn(1))
    await passingWork(clock, dying.journal.flush())
    dying.gate.isAway = true
    for (const seq of [2, 3]) dying.call.append(someTurn(seq))
    await keptLines(2)
    await die(dying)
    await taken()
    await restored()
    await restored()
    expect(await texts()).toEqual(['Sentence 1.', 'Sentence 2.', 'Sentence 3.', 'Here I am again.', 'Good.'])
  })

  it('before anything was stored stands before what its successor said', async () => {
    const dying = await startJournal('n1')
    dying.gate.isAway = true
    for (const seq of [1, 2, 3, 4, 5]) dying.call.append(someTurn(seq))
    await keptLines(5)
    await die(dying)
    await taken()
    await restored()
    expect((await texts()).slice(4)).toEqual(['Sentence 5.', 'Here I am again.', 'Good.'])
  })

  it('changes and takes out nothing that stands there', async () => {
    const { journal, call, gate } = await startJournal('n1')
    for (const seq of [1, 2]) call.append(someTurn(seq))
    await passingWork(clock, journal.flush())
    gate.isAway = true
    call.append(someTurn(1, { text: 'changed' }))
    call.forget('item_2')
    await keptLines(2)
    gate.isAway = false
    await raiseEpoch()
    await passingWork(clock, journal.flush())
    expect(await texts()).toEqual(['Sentence 1.', 'Sentence 2.'])
  })

  it('once the database answers again counts for nothing', async () => {
    const { journal, call, gate } = await startJournal('n1')
    gate.isAway = true
    call.append(someTurn(1))
    await keptLines(1)
    gate.isAway = false
    await raiseEpoch()
    await passingWork(clock, journal.flush())
    call.append(someTurn(2))
    await passingWork(clock, journal.flush())
    expect(await texts()).toEqual(['Sentence 1.'])
    expect(lines).toContainEqual(expect.objectContaining({ level: 'warn', entries: 1 }))
  })
})
