import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import type { NodeId, TenantId } from '../../kernel/ids.ts'
import { makeBus } from '../../platform/bus/bus.ts'
import { memoryWire } from '../../platform/bus/memory.ts'
import type { Bus } from '../../platform/bus/port.ts'
import { makeLog } from '../../platform/log.ts'
import { answerRemoteLines } from './answer-remote-lines.ts'
import type { Line, LineEnd } from './line.ts'
import { makeRemoteLines, type RemoteLines } from './remote-lines.ts'

const [HERE, THERE] = ['node-1', 'node-2'] as [NodeId, NodeId]
const WANTED = { tenantId: 'acme' as TenantId, streamSid: 'MZ1', kind: 'listen' as const }
const LINE: Line = { callSid: 'CA1', speak() {}, close() {} }

let clock: TestClock
let bus: Bus
let remote: RemoteLines
/** The other node opens the line when this is resolved. */
let opening: PromiseWithResolvers<Line>
let stopAnswers: () => void
const over: LineEnd[] = []

beforeEach(() => {
  clock = new TestClock()
  bus = makeBus({ wire: memoryWire(), clock, log: makeLog({ level: 'silent', secrets: [] }), onDropped: () => {} })
  opening = Promise.withResolvers<Line>()
  over.length = 0
  stopAnswers = answerRemoteLines({ bus, clock, nodeId: THERE, here: () => opening.promise })
  remote = makeRemoteLines({ bus, clock, nodeId: HERE })
})
afterEach(() => {
  remote.close()
  bus.close()
})

const open = () => remote.open(THERE, WANTED, { audio() {}, over: (why) => over.push(why) })

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
})
