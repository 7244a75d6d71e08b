import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { streamTokenIn, useCallApp } from './harness/call-app.ts'
import { sign } from './harness/carrier-signature.ts'
import { useDatabase } from './harness/database.ts'
import { passingWork } from './harness/passing.ts'
import { ScriptedModel } from './harness/scripted-model.ts'
import { ACCOUNT, ServedApp } from './harness/served-app.ts'
import { StreamClient } from './harness/stream-client.ts'
import { startTalking } from './harness/talking-calls.ts'

const TARGET = '+12025550103'

// An embedded database has no other node.
describe.runIf(inject('databaseTemplate').kind === 'server')('a call whose end its carrier tells another node', () => {
  const test = useDatabase()
  const settings = { PUBLIC_URL: 'https://voice.example.com', DRAIN_SECONDS: '5' }
  const app = useCallApp(test, { settings, document: { transfer_targets: [TARGET] } })

  const session = () => test.db.selectFrom('voice_sessions').select('end_reason').executeTakeFirstOrThrow()
  const states = async () => {
    const { body } = await app.served.call<{ sessions: { state: string }[] }>('acme', 'GET', '/sessions/active')
    return body.sessions.map(({ state }) => state)
  }

  /** The call's carrier has left our stream to ring somebody. */
  async function leaving(): Promise<void> {
    const [call] = await startTalking(app, ['CA1'])
    const body = { action: 'transfer', target: TARGET }
    expect((await app.served.call('acme', 'POST', '/sessions/MZCA1/actions', body)).status).toBe(200)
    call?.client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    await app.pass(async () => (await states())[0] === 'detached', 'the stream to end')
  }

  type Told = (path: string, fields: Record<string, string>) => Promise<string>

  async function otherNode(model: ScriptedModel | null = null): Promise<Told & { address: string }> {
    const { served: besides, clock } = app
    const other = await ServedApp.start(test, {
      settings,
      besides,
      clock,
      model,
      database: await test.anotherNode(),
    })
    onTestFinished(async () => {
      await passingWork(clock, other.app.close())
    })
    const told: Told = async (path, fields) => {
      const form = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, ...fields }
      const headers = { 'x-twilio-signature': sign(other.app.publicUrl() + path, form, ACCOUNT.token) }
      const answer = await fetch(other.address + path, { method: 'POST', headers, body: new URLSearchParams(form) })
      expect(answer.status).toBe(200)
      return answer.text()
    }
    return Object.assign(told, { address: other.address })
  }

  async function isToldElsewhere(CallStatus: string): Promise<void> {
    await (await otherNode())('/api/v1/call-status', { CallStatus })
  }

  it('ends as its caller hangs up while somebody is rung, and counts as put through to nobody', async () => {
    await leaving()
    await isToldElsewhere('completed')
    const overAtMs = app.clock.now()
    expect(await app.pass(async () => (await session()).end_reason, 'the end to be written')).toBe('caller_hangup')
    expect(app.clock.now() - overAtMs).toBeLessThan(10_000)
    expect(await states()).toEqual([])
  })

  it('ends there, too, where the node that has it stops, which waits no longer for it', async () => {
    await leaving()
    let isOver = false
    void app.served.app.drain().then(() => {
      isOver = true
    })
    await app.clock.advance(7_000)
    await isToldElsewhere('completed')
    const overAtMs = app.clock.now()
    await app.pass(() => isOver, 'the end of the drain')
    expect(app.clock.now() - overAtMs).toBeLessThan(10_000)
    expect(await app.pass(async () => (await session()).end_reason, 'the end to be written')).toBe('caller_hangup')
  })

  it('is no hang-up of its caller where that node could not go on with it, and has ended it', async () => {
    const [call] = await startTalking(app, ['CA1'])
    call?.client.terminate()
    await app.pass(async () => (await states())[0] === 'detached', 'the stream to be lost')
    const asked = await (await otherNode())('/api/v1/call-resume', { CallStatus: 'in-progress' })
    expect(asked).toMatch(/<Say>[^<]*<\/Say><Hangup\/>/)
    expect(await app.pass(async () => (await session()).end_reason, 'the end to be written')).toBe('carrier_lost')
  })

  it.each(['before', 'behind'])(
    'counts as put through where that node is told of who answered, and of their end %s that of the call',
    async (order) => {
      await leaving()
      const told = await otherNode()
      const document = app.rest.requests.findLast(({ form }) => form['Twiml']?.includes('<Dial'))?.form['Twiml'] ?? ''
      const status = /statusCallback="([^"]+)"/.exec(document)?.[1] ?? ''
      await Promise.all([told(new URL(status).pathname, { CallStatus: 'in-progress' }), app.clock.advance(10_000)])
      const ends = [
        () => told('/api/v1/call-resume', { CallStatus: 'in-progress', DialCallStatus: 'completed' }),
        () => told('/api/v1/call-status', { CallStatus: 'completed' }),
      ]
      for (const end of order === 'before' ? ends : ends.reverse()) await end()
      expect(await app.pass(async () => (await session()).end_reason, 'the end to be written')).toBe('transferred')
      await app.pass(async () => (await states()).length === 0, 'the end of what is here')
    },
  )

  it('goes on there where that node is told at the last moment that nobody has answered', async () => {
    await leaving()
    const model = new ScriptedModel()
    const told = await otherNode(model)
    await app.clock.advance(43_000)
    const again = await told('/api/v1/call-resume', { CallStatus: 'in-progress', DialCallStatus: 'no-answer' })
    await app.pass(async () => (await states()).length === 0, 'the end of what waited')
    const client = await StreamClient.open(told.address)
    client.start({ callSid: 'CA1', streamSid: 'MZ2', parameters: { stream_token: streamTokenIn(again) } })
    await app.pass(() => model.sessions.length > 0 || client.closeCode !== null, 'the stream to be let in')
    expect([client.closeCode, await session()]).toEqual([null, { end_reason: null }])
  })

  it('goes on while only that it is answered is told', async () => {
    await leaving()
    await isToldElsewhere('in-progress')
    // It asks what others were told every five seconds.
    const untilMs = app.clock.now() + 12_000
    await app.pass(() => app.clock.now() >= untilMs, 'what was told there to be asked for')
    expect(await states()).toEqual(['detached'])
  })
})
