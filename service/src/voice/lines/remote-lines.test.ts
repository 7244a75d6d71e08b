import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import type { NodeId, TenantId } from '../../kernel/ids.ts'
import { makeBus } from '../../platform/bus/bus.ts'
import { memoryWire } from '../../platform/bus/memory.ts'
import type { Bus, Wire } from '../../platform/bus/port.ts'
import { makeLog } from '../../platform/log.ts'
import { answerRemoteLines } from './answer-remote-lines.ts'
import type { Line, LineEnd, WantedLine } from './line.ts'
import type { NoteTakeover } from './line-socket.ts'
import { makeRemoteLines, type RemoteLines } from './remote-lines.ts'

const [HERE, THERE] = ['node-1', 'node-2'] as [NodeId, NodeId]
const WANTED = { tenantId: 'acme' as TenantId, streamSid: 'MZ1', kind: 'listen' as const }
const LINE: Line = { callSid: 'CA1', speak() {}, close() {} }

let clock: TestClock
let bus: Bus
let busHere: Bus
/** Whether the node at which people are is gone, without a word. */
let isGone: boolean
let remote: RemoteLines
/** The other node opens the line when this is resolved. */
let opening: PromiseWithResolvers<Line>
let stopAnswers: () => void
const over: LineEnd[] = []
const noted: Parameters<NoteTakeover>[0][] = []

beforeEach(() => {
  clock = new TestClock()
  isGone = false
  const wire = memoryWire()
  const send: Wire['send'] = async (channel, text) => (isGone ? 0 : wire.send(channel, text))
  const shared = { clock, log: makeLog({ level: 'silent', secrets: [] }), onDropped: () => {} }
  bus = makeBus({ ...shared, wire })
  busHere = makeBus({ ...shared, wire: { ...wire, send } })
  opening = Promise.withResolvers<Line>()
  over.length = 0
  noted.length = 0
  stopAnswers = answerRemoteLines({ bus, clock, nodeId: THERE, here: () => opening.promise, note })
  remote = makeRemoteLines({ bus: busHere, clock, nodeId: HERE })
})
afterEach(() => {
  remote.close()
  busHere.close()
  bus.close()
})

const note: NoteTakeover = async (done) => void noted.push(done)
const open = (wanted: WantedLine = WANTED) => remote.open(THERE, wanted, { audio() {}, over: (why) => over.push(why) })

describe('a line into a call of another node', () => {
  it('is not taken for broken while that node opens it, for which it takes more than a second', async () => {
    const line = open()
    await clock.advance(1_500)
    opening.resolve(LINE)
    expect((await line).callSid).toBe('CA1')
    await clock.advance(10_000)
    expect(over).toEqual([])
    stopAnswers()
  })

  it('is broken when that node does not know it any more', async () => {
    opening.resolve(LINE)
    await open()
    stopAnswers()
    await clock.advance(3_000)
    expect(over).toEqual(['broken'])
  })

  it('of a person who has the call is noted as left there, once and by its own name, when their node is gone', async () => {
    const left: string[] = []
    opening.resolve({ ...LINE, close: (how) => left.push(how) })
    const line = await open({ ...WANTED, kind: 'takeover', supervisor: 'ada' })
    await clock.advance(10_000)
    expect(noted).toEqual([])
    isGone = true
    await clock.advance(10_000)
    const grant = { kind: 'takeover', tenant: 'acme', stream_sid: 'MZ1', supervisor: 'ada' }
    const release = { action: 'release', grant, callSid: 'CA1', reason: 'the connection was lost', id: line.lineId }
    expect({ noted, left }).toEqual({ noted: [release], left: ['lost'] })
    stopAnswers()
  })

  it('of who only listens is not noted', async () => {
    opening.resolve(LINE)
    await open()
    isGone = true
    await clock.advance(10_000)
    expect(noted).toEqual([])
    stopAnswers()
  })
})
