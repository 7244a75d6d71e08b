import { describe, expect, it, onTestFinished } from 'vitest'
import { type CarrierRest, startCarrierRest } from '../../test/harness/carrier-rest.ts'
import { TestClock } from '../../test/harness/clock.ts'
import { until } from '../../test/harness/wait.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import { makeBus } from '../platform/bus/bus.ts'
import { memoryWire } from '../platform/bus/memory.ts'
import { unreachable } from '../platform/db/errors.ts'
import { makeLog } from '../platform/log.ts'
import { makeCarriers } from '../platform/telephony/registry.ts'
import { mediaStreamsCodec } from '../platform/telephony/twilio/codec.ts'
import type { SessionId } from '../records/call-values.ts'
import { agentConfigDefaults } from '../tenancy/agent-config-defaults.ts'
import { toRuntime } from '../tenancy/tenant-defaults.ts'
import { CarrierRequests } from './carrier-requests.ts'
import { transfersTopic } from './transfer-callbacks.ts'
import { makeTransfers } from './transfers.ts'

const NODE = 'n1' as NodeId
const ACCOUNT = { account_sid: 'AC1', auth_token: 'token', from_number: null }
const HANG_UP = { type: 'hangup' }
const AGENT = { agentId: null, agentKey: null, versionId: null, versionNumber: null, agentName: 'Robin' }

/** A warm transfer of which the target is rung. */
async function begun({
  summary = '',
  isWanted = true,
  flush = async (): Promise<void> => undefined,
  // A database that hangs.
  note = (): Promise<void> => new Promise(() => {}),
  isHeld = async () => true,
} = {}) {
  const [clock, rest, log] = [new TestClock(), await startCarrierRest(), makeLog({ level: 'silent', secrets: [] })]
  onTestFinished(() => rest.close())
  rest.reply = () => ({ status: 200, body: { sid: 'CA-target' } })
  const told: string[] = []
  const bus = makeBus({ wire: memoryWire(), clock, log, onDropped: () => {} })
  const transfers = makeTransfers({
    ...{ clock, log, bus, nodeId: NODE },
    requests: new CarrierRequests({ clock, carriers: makeCarriers({ apiBaseUrl: rest.baseUrl }) }),
    tokens: () => ({ issueTransfer: () => 'x' }),
    flush,
    putThrough() {
      told.push('noted')
      return note()
    },
    isHeld,
    resumeUrl: () => 'https://voice.example.com/api/v1/call-resume',
    publicUrl: () => 'https://voice.example.com',
  })
  onTestFinished(() => transfers.close())
  const news = {
    sent: () => told.push('sent') > 0 && isWanted,
    through: () => void told.push('through'),
    failed: (why: string) => void told.push(why),
    gone: () => void told.push('gone'),
  }
  const call = transfers.of({
    ...{ tenant: toRuntime({ tenant_id: 'acme' as TenantId }, ACCOUNT), callSid: 'CA1', streamSid: 'MZ1', epoch: 1 },
    ...{ direction: 'inbound', from: '+12025550101', to: '+12025550100', orgId: null, codec: mediaStreamsCodec },
    sessionId: '018f0000-0000-7000-8000-000000000001' as SessionId,
    agent: { ...AGENT, config: agentConfigDefaults({}) },
    carrier: { send: () => {}, sendAll: () => {}, bufferedBytes: () => 0, close: () => {} },
  })
  const { cancel, leave } = await call.begin('t1', { target: '+12025550103', summary, isWarm: true }, news)
  const ask = (question: object) => bus.ask(transfersTopic(NODE), { ...question, id: 't1' }, 8_000)
  const putThrough = () => told.filter((each) => each === 'noted').length
  return { clock, rest, told, cancel, leave, ask, putThrough, isTakenToBe: call.putThrough }
}

it('brings who takes a call to its caller at once, however long the records take', async () => {
  const { ask, told } = await begun()
  const verbs = await ask({ type: 'key', digits: '1' })
  expect(verbs).toEqual([{ type: 'conference', room: 'transfer-t1' }, HANG_UP])
  expect(told).toEqual(['sent'])
})

it.each([
  ['Wants a refund', 'A caller is waiting for you. Wants a refund. Press 1 to take the call.'],
  ['Wants a refund.', 'A caller is waiting for you. Wants a refund. Press 1 to take the call.'],
  ['Asks: "When?"', 'A caller is waiting for you. Asks: "When?" Press 1 to take the call.'],
  [' ', 'A caller is waiting for you. Press 1 to take the call.'],
])('tells the target apart what the call is about, and what to press: %j', async (summary, text) => {
  const { ask } = await begun({ summary })
  expect(await ask({ type: 'answered' })).toEqual([
    expect.objectContaining({ type: 'ask_key', text }),
    expect.objectContaining({ type: 'ask_key', text }),
    HANG_UP,
  ])
})

it('brings nobody to who takes a call that is not to be put through any more, though its carrier has not said yet that they are rung', async () => {
  const { ask, rest } = await begun({ isWanted: false })
  const verbs = await ask({ type: 'key', digits: '1' })
  expect(verbs).toEqual([expect.objectContaining({ type: 'say' }), { type: 'hangup' }])
  expect(rest.requests).toHaveLength(1)
})

it('does not note that somebody has the call whose caller is back with the agent before all was written down', async () => {
  const { promise, resolve: written } = Promise.withResolvers<void>()
  const flush = () => promise
  const [back, stays] = [await begun({ flush }), await begun({ flush })]
  for (const { ask, clock } of [back, stays]) {
    await ask({ type: 'key', digits: '1' })
    await clock.advance(3_000)
  }
  back.cancel()
  written()
  await until(() => stays.told.includes('noted'), { what: 'the other call to be noted' })
  expect(back.told).toEqual(['sent'])
})

it('fetches back whose target has gone before all was written down that was said: nobody is in the room with them', async () => {
  const { promise, resolve: written } = Promise.withResolvers<void>()
  const { ask, clock, rest, told } = await begun({ flush: () => promise })
  await ask({ type: 'key', digits: '1' })
  await clock.advance(3_000)
  await ask({ type: 'status', status: 'completed' })
  written()
  await clock.advance(2_000)
  const last = () => rest.requests.at(-1)?.form['Twiml']
  await until(() => last()?.includes('<Redirect') === true, { what: 'the caller to be fetched back' })
  expect(told).toEqual(['sent', 'gone'])
})

it.each([
  ['never told', []],
  ['told much later', ['completed']],
])(
  'fetches back whose target was gone before it was in the room, though that was %s',
  async (_when, toldLater) => {
    const { ask, clock, rest, told } = await begun()
    rest.reply = ({ method }) => ({
      status: 200,
      body: { sid: 'CA-target', ...(method === 'GET' && { status: 'completed' }) },
    })
    await ask({ type: 'key', digits: '1' })
    await clock.advance(3_000)
    const askedBack = () => rest.requests.filter(({ form }) => form['Twiml']?.includes('<Redirect'))
    const looked = async () => {
      await clock.advance(500)
      return askedBack().length > 0
    }
    await until(looked, { what: 'the caller to be fetched back' })
    for (const status of toldLater) await ask({ type: 'status', status })
    await clock.advance(60_000)
    expect([told, askedBack().length]).toEqual([['sent', 'gone'], 1])
  },
  5_000,
)

it.each([
  ['is there', { status: 200, body: { sid: 'CA-target', status: 'in-progress' } }, 1],
  ['cannot be asked for', { status: 503, body: {} }, 2],
])(
  'takes a call to be put through to a target that %s',
  async (_what, answer, times) => {
    const { ask, clock, rest, told } = await begun()
    rest.reply = ({ method }) => (method === 'GET' ? answer : { status: 200, body: {} })
    await ask({ type: 'key', digits: '1' })
    await clock.advance(3_000)
    await until(() => told.includes('noted'), { what: 'that to be noted' })
    expect(rest.requests.filter(({ path, method }) => method === 'GET' && path.includes('/CA-target'))).toHaveLength(
      times,
    )
  },
  5_000,
)

it('notes that a call was put through once the database is back, and tells its session at once', async () => {
  const answers = [unreachable(), unreachable()]
  const note = async () => {
    const answer = answers.shift()
    if (answer) throw answer
  }
  const { ask, clock, told } = await begun({ note })
  await ask({ type: 'key', digits: '1' })
  await clock.advance(3_000)
  await until(() => told.includes('through'), { what: 'the session to be told' })
  expect(told).toEqual(['sent', 'noted', 'through'])
  await clock.advance(60_000)
  expect(told).toEqual(['sent', 'noted', 'through', 'noted', 'noted'])
})

describe('A target whose transfer is called off', () => {
  const asked = ({ requests }: CarrierRest) => requests.slice(1).map(({ path, form }) => ({ path, form }))
  const path = expect.stringContaining('/Calls/CA-target')
  const isOver = { path, form: { Status: 'completed' } }
  const isTold = { path, form: expect.objectContaining({ Twiml: expect.stringContaining('not there any more') }) }

  it('is rung no more', async () => {
    const { rest, cancel } = await begun()
    cancel()
    await until(() => rest.requests.length > 1, { what: 'the carrier to be asked' })
    expect(asked(rest)).toEqual([isOver])
  })

  it('hears so when it has answered by then', async () => {
    const { rest, cancel, ask } = await begun()
    await ask({ type: 'answered' })
    cancel()
    await until(() => rest.requests.length > 1, { what: 'the carrier to be asked' })
    expect(asked(rest)).toEqual([isTold])
  })

  it('hears so in place of the room when the caller hangs up while they are brought there', async () => {
    const { rest, cancel, ask } = await begun()
    await ask({ type: 'answered' })
    rest.reply = () => {
      cancel()
      return { status: 200, body: {} }
    }
    const verbs = await ask({ type: 'key', digits: '1' })
    expect(verbs).toEqual([expect.objectContaining({ text: expect.stringContaining('not there any more') }), HANG_UP])
    expect(rest.requests.map(({ path }) => path)).not.toContainEqual(path)
  })

  it('leaves no caller alone in the room who had another stream by then: they are fetched back', async () => {
    const { rest, cancel, ask } = await begun()
    await ask({ type: 'answered' })
    rest.reply = () => {
      cancel()
      return { status: 200, body: {} }
    }
    await ask({ type: 'key', digits: '1' })
    await until(() => rest.requests.length > 2, { what: 'the carrier to be asked' })
    const path = expect.stringContaining('/Calls/CA1')
    expect(asked(rest)).toMatchObject(
      ['<Conference', '<Redirect'].map((verb) => ({ path, form: { Twiml: expect.stringContaining(verb) } })),
    )
  })

  it('hears so in the room, too, where it may be alone', async () => {
    const { rest, cancel, ask } = await begun()
    await ask({ type: 'answered' })
    await ask({ type: 'key', digits: '1' })
    cancel()
    await until(() => rest.requests.length > 2, { what: 'the carrier to be asked' })
    expect(asked(rest).slice(1)).toEqual([isTold])
  })

  it('is rung off where its carrier does not tell it', async () => {
    const { rest, cancel, ask } = await begun()
    await ask({ type: 'answered' })
    rest.reply = ({ form }) => ({ status: form['Twiml'] ? 400 : 200, body: {} })
    cancel()
    await until(() => rest.requests.length > 2, { what: 'the carrier to be asked again' })
    expect(asked(rest)).toEqual([isTold, isOver])
  })
})

describe('A target whose transfer is followed here no more, as its call goes on elsewhere', () => {
  it('is rung no more', async () => {
    const { rest, leave } = await begun()
    leave()
    await until(() => rest.requests.length > 1, { what: 'the carrier to be asked' })
    expect(rest.requests.at(-1)).toMatchObject({ path: expect.stringContaining('/Calls/CA-target') })
  })

  it('keeps the caller whom it has, or is about to have', async () => {
    const { rest, leave, ask } = await begun()
    rest.reply = () => {
      leave()
      return { status: 200, body: {} }
    }
    const verbs = await ask({ type: 'key', digits: '1' })
    leave()
    expect(verbs).toEqual([{ type: 'conference', room: 'transfer-t1' }, HANG_UP])
    expect(rest.requests).toHaveLength(2)
  })
})

describe('A caller whom another node has again, of which this one has not heard yet', () => {
  const bringing = ({ requests }: CarrierRest) => requests.filter(({ form }) => form['Twiml']?.includes('<Redirect'))
  const asked = () => ({ count: 0, isHeld: false })
  const lookingIn = (records: ReturnType<typeof asked>) => async () => {
    records.count += 1
    return records.isHeld
  }

  async function joined(records: ReturnType<typeof asked>) {
    const target = await begun({ isHeld: lookingIn(records) })
    await target.ask({ type: 'key', digits: '1' })
    /** Until the records were asked so often. */
    const looked = async (count: number) => {
      for (let seconds = 0; records.count < count && seconds < 20; seconds += 1) await target.clock.advance(1_000)
      await target.clock.advance(0)
      expect(records.count).toBe(count)
    }
    return { ...target, looked }
  }

  it('is not fetched back, which would end the stream that they are back with', async () => {
    const records = asked()
    const { ask, clock, looked, leave, rest } = await joined(records)
    await ask({ type: 'status', status: 'completed' })
    await looked(2)
    leave()
    records.isHeld = true
    await clock.advance(20_000)
    expect([records.count, bringing(rest)]).toEqual([2, []])
  })

  it('is fetched back all the same where the stream that was on its way does not come', async () => {
    const records = asked()
    const { ask, looked, rest } = await joined(records)
    await ask({ type: 'status', status: 'completed' })
    await looked(1)
    records.isHeld = true
    await looked(2)
    await until(() => bringing(rest).length > 0, { what: 'the carrier to be asked' })
  })

  it('counts as put through only once the call is ours', async () => {
    const records = asked()
    const { looked, putThrough } = await joined(records)
    await looked(2)
    expect(putThrough()).toBe(0)
    records.isHeld = true
    await looked(3)
    await until(() => putThrough() === 1, { what: 'that to be noted' })
  })

  it('does not count as put through where it got them only while the carrier was asked who has taken the call', async () => {
    const records = { count: 0, isHeld: true }
    const { ask, clock, rest, putThrough } = await begun({ isHeld: lookingIn(records) })
    let asked = 0
    rest.reply = ({ method }) => {
      if (method === 'GET') asked += 1
      if (asked === 1) records.isHeld = false
      return { status: 200, body: { sid: 'CA-target', status: 'in-progress' } }
    }
    await ask({ type: 'key', digits: '1' })
    const isSettled = async () => {
      await clock.advance(1_000)
      return records.count >= 3 || putThrough() > 0
    }
    await until(isSettled, { what: 'the records to be asked again' })
    expect(putThrough()).toBe(0)
    asked = 2
    records.isHeld = true
    const isNoted = async () => {
      await clock.advance(1_000)
      return putThrough() === 1
    }
    await until(isNoted, { what: 'that to be noted' })
  })

  it('does not count as put through for want of other news, but where the stream that was on its way does not come', async () => {
    for (const comes of [true, false]) {
      const records = asked()
      const { clock, isTakenToBe, putThrough } = await begun({ isHeld: lookingIn(records) })
      isTakenToBe()
      await until(() => records.count === 1, { what: 'the records to be asked' })
      await clock.advance(10_000)
      expect(putThrough()).toBe(0)
      records.isHeld = !comes
      await clock.advance(60_000)
      expect([records.count, putThrough()]).toEqual([2, comes ? 0 : 1])
    }
  })

  it('is looked for no more where the call was left as they were brought to the room', async () => {
    const records = asked()
    const target = await begun({ isHeld: lookingIn(records) })
    // Nobody tells of it again: it would be looked for as long as the node is up.
    target.rest.reply = () => {
      target.leave()
      return { status: 200, body: {} }
    }
    await target.ask({ type: 'key', digits: '1' })
    await target.clock.advance(60_000)
    expect(records.count).toBe(0)
  })
})
