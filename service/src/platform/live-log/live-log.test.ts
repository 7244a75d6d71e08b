import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import type { NodeId, TenantId } from '../../kernel/ids.ts'
import { makeBus } from '../bus/bus.ts'
import { memoryWire } from '../bus/memory.ts'
import { type Log, makeLog } from '../log.ts'
import { makeLiveLog } from './live-log.ts'
import { type LineFilter, type LogLine, shownTo } from './log-line.ts'
import { RecentLines } from './recent-lines.ts'

const ALL: LineFilter = { tenantId: null, level: 'debug', callSid: null, text: null }
const ACME = { ...ALL, tenantId: 'acme' as TenantId }

/** Nodes on one wire, which carries their messages as that of a cluster does. */
function nodes(...names: string[]) {
  const clock = new TestClock()
  const wire = { ...memoryWire(), reachesOthers: true }
  const alive = names.map((name) => name as NodeId)
  return {
    clock,
    nodes: alive.map((nodeId) => {
      const log = makeLog({ level: 'debug', secrets: ['swordfish'], destination: { write() {} } })
      const bus = makeBus({ wire, clock, log, onDropped() {} })
      return { log, live: makeLiveLog({ log, clock, bus, nodeId, nodes: async () => alive }) }
    }),
  }
}

function reader() {
  const lines: LogLine[] = []
  const told = { lines, lost: 0 }
  return {
    told,
    follower: {
      line: (line: LogLine) => void lines.push(line),
      lost(count: number) {
        told.lost += count
      },
    },
  }
}

const write = (log: Log, count: number, fields: object = { tenant_id: 'acme' }) => {
  for (let n = 0; n < count; n += 1) log.info({ ...fields, n }, 'happened')
}

describe('a log that is followed', () => {
  it('is told as it is written: without secrets, and with the fields of its children', () => {
    const [here] = nodes('one').nodes
    const { told, follower } = reader()
    const stop = here?.live.follow(ACME, follower)
    here?.log.child({ tenant_id: 'acme', call_sid: 'CA1' }).warn({ to: '+12025550123', why: 'swordfish' }, 'happened')
    expect(told.lines).toMatchObject([{ tenant_id: 'acme', call_sid: 'CA1', to: '+*******0123', why: '***' }])
    stop?.()
    here?.log.info({ tenant_id: 'acme' }, 'happened')
    expect(told.lines).toHaveLength(1)
  })

  it('comes from other nodes too, and only what is wanted', async () => {
    const { clock, nodes: made } = nodes('one', 'two')
    const [one, two] = made
    const { told, follower } = reader()
    const stop = one?.live.follow(ACME, follower)
    await clock.advance(100)
    write(two?.log as Log, 2)
    write(two?.log as Log, 2, { tenant_id: 'globex' })
    write(two?.log as Log, 2, {})
    await clock.advance(200)
    expect(told.lines.map(({ n }) => n)).toEqual([0, 1])
    stop?.()
    await clock.advance(100)
    write(two?.log as Log, 2)
    await clock.advance(200)
    expect(told.lines).toHaveLength(2)
  })

  it('tells how many lines were lost on the way, when there are more than the way takes', async () => {
    const { clock, nodes: made } = nodes('one', 'two')
    const [one, two] = made
    const { told, follower } = reader()
    one?.live.follow(ALL, follower)
    await clock.advance(100)
    write(two?.log as Log, 600)
    await clock.advance(200)
    expect([told.lines.length, told.lost]).toEqual([500, 100])
  })

  it('is read of all nodes, newest first', async () => {
    const { nodes: made } = nodes('one', 'two')
    for (const { log } of made) write(log, 3)
    const lines = await made[0]?.live.recent(ACME, 4)
    expect(lines).toHaveLength(4)
    const times = lines?.map(({ time }) => time) ?? []
    expect(times).toEqual([...times].sort().reverse())
  })
})

describe('RecentLines', () => {
  const line = (n: number, size = 0) =>
    `${JSON.stringify({ time: '2026-01-01T00:00:00.000Z', level: 'info', msg: 'x', n, text: 'x'.repeat(size) })}\n`

  it('keeps the last 5,000 lines', () => {
    const lines = new RecentLines()
    for (let n = 0; n < 12_000; n += 1) lines.add(line(n))
    const found = lines.find(ALL, 10_000)
    expect([found.length, found[0]?.['n'], found.at(-1)?.['n']]).toEqual([5_000, 11_999, 7_000])
  })

  it('keeps 4 Mi characters', () => {
    const lines = new RecentLines()
    for (let n = 0; n < 10; n += 1) lines.add(line(n, 1024 * 1024 - 200))
    expect(lines.find(ALL, 100).map(({ n }) => n)).toEqual([9, 8, 7, 6])
  })

  it('finds by level, call and words', () => {
    const lines = new RecentLines()
    const facts = { time: '2026-01-01T00:00:00.000Z', msg: 'Call ended' }
    lines.add(`${JSON.stringify({ ...facts, level: 'info', call_sid: 'CA1' })}\n`)
    lines.add(`${JSON.stringify({ ...facts, level: 'error', call_sid: 'CA2' })}\n`)
    const sids = (filter: Partial<LineFilter>) =>
      lines.find({ ...ALL, ...filter }, 10).map((found) => found['call_sid'])
    expect(sids({})).toEqual(['CA2', 'CA1'])
    expect(sids({ level: 'warn' })).toEqual(['CA2'])
    expect(sids({ callSid: 'CA1' })).toEqual(['CA1'])
    expect(sids({ text: 'call ENDED' })).toEqual(['CA2', 'CA1'])
    expect(sids({ text: 'nothing' })).toEqual([])
  })
})

describe('an error in a line', () => {
  it('is told a tenant by its name and code alone', () => {
    const err = { name: 'AppError', code: 'unavailable', message: 'connect 10.0.0.5:5432', stack: 'at …', cause: {} }
    const line = { time: '', level: 'error', msg: 'x', tenant_id: 'acme' as TenantId, err } as LogLine
    expect(shownTo('acme' as TenantId, line)['err']).toEqual({ name: 'AppError', code: 'unavailable' })
    expect(shownTo(null, line)['err']).toEqual(err)
  })
})
