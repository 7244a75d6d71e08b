import { describe, expect, it } from 'vitest'
import { systemClock } from '../src/kernel/clock.ts'
import { CoarseClock } from '../src/kernel/coarse-clock.ts'
import { CALLER, NUMBER, streamTokenIn, useCallApp } from './harness/call-app.ts'
import { sign } from './harness/carrier-signature.ts'
import { useDatabase } from './harness/database.ts'
import { ScriptedModel } from './harness/scripted-model.ts'
import { ACCOUNT, ServedApp } from './harness/served-app.ts'
import { StreamClient } from './harness/stream-client.ts'
import { PLAYED_MS, startTalking } from './harness/talking-calls.ts'
import { until } from './harness/wait.ts'

const MINUTES_MS = 60_000
const RING = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER, CallStatus: 'ringing' }
const BLOCKED_MS = 500
const STOOD_STILL_MS = 2_100
const FRAMES = 25

describe('a process', () => {
  const test = useDatabase()

  const stored = async (callSid: string) => {
    const session = test.db.selectFrom('voice_sessions').selectAll().where('call_sid', '=', callSid)
    const turns = test.db.selectFrom('transcript_turns').select('text').orderBy('seq')
    return { session: await session.executeTakeFirstOrThrow(), turns: (await turns.execute()).map(({ text }) => text) }
  }

  describe('whose clock is set', () => {
    const app = useCallApp(test, { document: { limits: { idle_seconds: 600 } } })

    it.each([
      ['F75: ten minutes on', 10],
      ['F75: ten minutes back', -10],
    ])('%s goes on with its calls, and writes them down in their order', async (_what, minutes) => {
      const [call] = await startTalking(app, ['CT1'])
      if (!call) throw new Error('no call began')
      app.clock.jump(minutes * MINUTES_MS)
      for (let round = 0; round < 3; round += 1) {
        call.talk()
        await app.clock.advance(PLAYED_MS)
        await call.played()
        await app.clock.advance(3_000)
      }
      // A call that comes in is none of the past.
      await app.talk({ CallSid: 'CA2' })
      expect([call.client.closeCode, app.rest.requests.filter(({ method }) => method === 'POST')]).toEqual([null, []])
      call.client.send({ event: 'stop', streamSid: 'MZCT1', stop: {} })
      await app.pass(async () => (await stored('CT1')).session.ended_at, 'the end to be written down')
      const { session, turns } = await stored('CT1')
      expect(session.end_reason).toBe('caller_hangup')
      expect(session.ended_at?.getTime()).toBeGreaterThanOrEqual(session.started_at?.getTime() ?? 0)
      expect(turns).toEqual(call.said)
    })
  })

  it('F74: that is held up for 500 ms loses no frame and no call', async () => {
    const model = new ScriptedModel()
    const served = await ServedApp.start(test, { clock: new CoarseClock(systemClock), model })
    try {
      await served.furnish('acme', { number: NUMBER })
      const client = await talking(served)
      await until(() => model.sessions.length === 1, { what: 'the session to begin' })
      for (let frame = 0; frame < FRAMES; frame += 1) client.media()
      holdUp(BLOCKED_MS)
      for (let frame = 0; frame < FRAMES; frame += 1) client.media()
      await until(() => model.last.appended.length === 2 * FRAMES, { what: 'the audio' })
      model.last.tell({ type: 'response_started', responseId: 'r1' })
      model.last.speak('r1', 'i1', Buffer.alloc(160, 0x10).toString('base64'))
      await until(() => client.messages.some(({ event }) => event === 'media'), { what: 'the answer' })
      expect(client.closeCode).toBeNull()
      client.send({ event: 'stop', streamSid: 'MZ1', stop: {} })
      await until(async () => (await stored('CA1')).session.ended_at, { what: 'the end to be written down' })
      expect((await stored('CA1')).session.end_reason).toBe('caller_hangup')
    } finally {
      await served.app.close()
    }
  })

  it('that stood still for two seconds says so, with the calls that heard nothing, which go on', async () => {
    const model = new ScriptedModel()
    const clock = new CoarseClock(systemClock)
    const served = await ServedApp.start(test, { clock, model, tellsStandstills: true })
    try {
      await served.furnish('acme', { number: NUMBER })
      const client = await talking(served)
      await until(() => model.sessions.length === 1, { what: 'the session to begin' })
      holdUp(STOOD_STILL_MS)
      const told = () =>
        served.logLines().find(({ msg, ...line }) => msg === 'this process stood still' && line['live_calls'] === 1)
      await until(told, { what: 'the line' })
      client.media()
      await until(() => model.last.appended.length === 1, { what: 'the audio' })
      client.send({ event: 'stop', streamSid: 'MZ1', stop: {} })
      await until(async () => (await stored('CA1')).session.ended_at, { what: 'the end to be written down' })
      expect((await stored('CA1')).session.end_reason).toBe('caller_hangup')
    } finally {
      await served.app.close()
    }
  })

  async function talking(served: ServedApp): Promise<StreamClient> {
    const path = '/api/v1/incoming-call'
    const headers = { 'x-twilio-signature': sign(served.app.publicUrl() + path, RING, ACCOUNT.token) }
    const answer = await fetch(served.address + path, { method: 'POST', headers, body: new URLSearchParams(RING) })
    const client = await StreamClient.open(served.address)
    client.start({ callSid: 'CA1', parameters: { stream_token: streamTokenIn(await answer.text()) } })
    return client
  }
})

/** Nothing else of the process runs meanwhile. */
function holdUp(ms: number): void {
  const endMs = performance.now() + ms
  while (performance.now() < endMs) JSON.stringify(endMs)
}
