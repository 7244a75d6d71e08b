import { beforeEach, describe, expect, it } from 'vitest'
import { CarrierError, type TelephonyDriver } from '../src/platform/telephony/port.ts'
import { makeCarriers } from '../src/platform/telephony/registry.ts'
import { useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { GatedDatabase } from './harness/gated-database.ts'
import { ACCOUNT } from './harness/served-app.ts'
import type { StreamClient } from './harness/stream-client.ts'
import { until } from './harness/wait.ts'

const RESUME = { form: { CallSid: 'CA1', AccountSid: ACCOUNT.sid, CallStatus: 'in-progress' } }
const HANG_UP = '<Response><Hangup/></Response>'

describe('a call that its agent has ended', () => {
  const test = useDatabase()
  const gate = new GatedDatabase()
  const carrier = { asked: 0, answer: () => {} }
  const { twilio } = makeCarriers({ apiBaseUrl: 'http://127.0.0.1:9' })
  const endCall: TelephonyDriver['endCall'] = (_account, _callSid, signal) => {
    carrier.asked += 1
    return new Promise<void>((resolve, reject) => {
      carrier.answer = resolve
      const giveUp = () => reject(new CarrierError('unknown', 'no answer'))
      if (signal.aborted) giveUp()
      signal.addEventListener('abort', giveUp)
    })
  }
  const app = useCallApp(test, {
    agent: { tools: ['end_call'] },
    document: { telephony: { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, fallback_number: '+12025550150' } },
    carriers: { twilio: { ...twilio, endCall } },
    database: async () => gate.of(test.database),
  })
  beforeEach(() => {
    carrier.asked = 0
    gate.isAway = false
  })

  /** Up to the moment at which its carrier is asked to end it, and does not answer. */
  async function saidGoodbye(): Promise<StreamClient> {
    const client = await app.talk({ CallSid: 'CA1' })
    const { last: model } = app.model
    model.tell({ type: 'response_started', responseId: 'r' })
    model.tell({ type: 'agent_transcript', responseId: 'r', itemId: 'i', text: 'Goodbye.', final: true })
    model.speak('r', 'i', Buffer.alloc(1600).toString('base64'))
    model.tell({ type: 'audio_done', responseId: 'r', itemId: 'i' })
    const call = { itemId: 'f', callId: 'c', name: 'end_call', argumentsText: '{}' }
    model.tell({ type: 'tool_call', responseId: 'r', ...call })
    const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, audioSeconds: 1 }
    const done = { responseId: 'r', status: 'completed', errorCode: null, fault: null, usage } as const
    model.tell({ type: 'response_done', ...done })
    const marks = await until(() => atLeastOne(client), { what: 'a mark' })
    await app.clock.advance(300)
    for (const mark of marks) client.send(mark)
    await until(() => carrier.asked === 1, { what: 'the request to end the call' })
    await until(() => app.model.last.isClosed, { what: 'the end of the session' })
    return client
  }

  async function next(): Promise<string> {
    return (await app.post('/api/v1/call-resume', RESUME)).text
  }

  it('keeps its stream until the carrier has answered', async () => {
    const client = await saidGoodbye()
    await app.clock.advance(4_000)
    expect(client.closeCode).toBeNull()
    carrier.answer()
    expect(await client.closed()).toBe(1000)
  })

  it('is over for a carrier that goes on with it all the same, before the end is written down', async () => {
    await saidGoodbye()
    expect(await next()).toContain(HANG_UP)
    carrier.answer()
    expect(await next()).toContain(HANG_UP)
  })

  it('loses its stream after five seconds without an answer, and is over', async () => {
    const client = await saidGoodbye()
    await app.clock.advance(5_000)
    expect(await client.closed()).toBe(1000)
    expect(await next()).toContain(HANG_UP)
    carrier.answer()
  })

  const written = () =>
    app.pass(
      async () => (await test.db.selectFrom('voice_sessions').select('ended_at').executeTakeFirst())?.ended_at,
      'the end to be written down',
    )

  /** A minute later it is forgotten here. */
  async function forgotten(): Promise<void> {
    await written()
    await app.clock.advance(61_000)
  }

  it.each([
    ['here', async () => {}],
    ['a node that knows it from the records alone', forgotten],
  ])(
    'goes to the fallback number when it has lost its model and its carrier asks %s, not having been told',
    async (_where, later) => {
      const client = await app.talk({ CallSid: 'CA1' })
      app.model.last.tell({ type: 'closed', code: 'invalid_api_key', message: '', fault: 'fatal' })
      client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
      await app.pass(() => client.closeCode, 'the end of the stream')
      await later()
      expect(await next()).toContain('<Number>+12025550150</Number>')
    },
  )

  it('holds a service that is to stop up for seconds only, though its carrier never answers', async () => {
    await saidGoodbye()
    const startMs = app.clock.monotonicMs()
    let isClosed = false
    void app.served.app.close().then(() => {
      isClosed = true
    })
    await app.pass(() => isClosed, 'the end of the service')
    expect(app.clock.monotonicMs() - startMs).toBeLessThan(app.served.app.closeWithinMs)
    const session = await test.db.selectFrom('voice_sessions').select('ended_at').executeTakeFirst()
    expect(session?.ended_at).not.toBeNull()
  })

  it('is over while the database is away, and once it is back', async () => {
    await saidGoodbye()
    gate.isAway = true
    carrier.answer()
    await app.clock.advance(1_000)
    expect(await next()).toContain(HANG_UP)
    gate.isAway = false
    await forgotten()
    expect(await next()).toContain(HANG_UP)
  })
})

function atLeastOne({ messages }: StreamClient) {
  const marks = messages.filter(({ event }) => event === 'mark')
  return marks.length > 0 ? marks : null
}
