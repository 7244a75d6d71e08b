import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import type { ModelCommand } from '../src/platform/realtime/port.ts'
import { NUMBER, streamTokenIn, useCallApp } from './harness/call-app.ts'
import { sign } from './harness/carrier-signature.ts'
import { useDatabase } from './harness/database.ts'
import { ScriptedModel, type ScriptedSession } from './harness/scripted-model.ts'
import { ACCOUNT, ServedApp } from './harness/served-app.ts'
import { StreamClient } from './harness/stream-client.ts'
import { until } from './harness/wait.ts'
import { startWebhookTarget } from './harness/webhook-target.ts'

const RESUME = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, CallStatus: 'in-progress' }
const HANG_UP = '<Response><Hangup/></Response>'
const POLICY = 1008
const TARGET = '+12025550103'
/** A call without a stream waits so long for another one. */
const WAITS_MS = 15_000
/** The caller's sound, and 20 ms of it. */
const SOUND = 0x80
const FRAME = Buffer.alloc(160, SOUND).toString('base64')
const USAGE = { inputTokens: 7, outputTokens: 9, cachedTokens: 0, audioSeconds: 2 }

describe('a call that loses its stream', () => {
  const test = useDatabase()
  const app = useCallApp(test, {
    settings: { OUTBOUND_ALLOW_PRIVATE_NETWORKS: 'true' },
    agent: { tools: ['pause_recording', 'refund'] },
  })

  const resume = async () => (await app.post('/api/v1/call-resume', { form: RESUME })).text
  const resumeAt = async ({ app: node, address }: ServedApp, query = '', told: Record<string, string> = {}) => {
    const path = `/api/v1/call-resume${query}`
    const form = { ...RESUME, ...told }
    const headers = { 'x-twilio-signature': sign(node.publicUrl() + path, form, ACCOUNT.token) }
    return (await fetch(address + path, { method: 'POST', headers, body: new URLSearchParams(form) })).text()
  }
  const session = () => test.db.selectFrom('voice_sessions').selectAll().executeTakeFirstOrThrow()
  const entry = () => test.db.selectFrom('call_directory').selectAll().executeTakeFirstOrThrow()
  const ended = () => app.pass(async () => (await session()).ended_at, 'the end of the session')
  const requests = () => app.rest.requests.filter(({ method, path }) => method === 'POST' && path.includes('CA1'))

  /** Another stream of the call, at the service or at another node of it. */
  async function streamOf(document: string, streamSid: string, address = app.served.address): Promise<StreamClient> {
    const client = await StreamClient.open(address)
    client.start({ callSid: 'CA1', streamSid, parameters: { stream_token: streamTokenIn(document) } })
    return client
  }

  /** The agent has said its greeting, which was heard. */
  async function greeted(): Promise<StreamClient> {
    const client = await app.talk({ CallSid: 'CA1' })
    await until(() => commands(app.model.last, 'respond').length === 1, { what: 'the greeting' })
    await says(client, { responseId: 'r1', itemId: 'i1', text: 'Hello there.' })
    return client
  }

  /** The agent has said its greeting, and the caller something, all of which was heard and kept. */
  async function talked(): Promise<StreamClient> {
    const client = await greeted()
    const model = app.model.last
    model.tell({ type: 'committed', itemId: 't1', previousItemId: 'i1' })
    model.tell({ type: 'caller_transcript', itemId: 't1', text: 'What do chairs cost?' })
    await until(() => commands(model, 'respond').length === 2, { what: 'the question for an answer' })
    return client
  }

  async function says(
    client: StreamClient,
    { responseId, itemId, text }: Record<'responseId' | 'itemId' | 'text', string>,
  ) {
    const model = app.model.last
    const before = client.messages.length
    model.tell({ type: 'response_started', responseId })
    model.tell({ type: 'item_added', itemId, previousItemId: null, role: 'agent' })
    model.tell({ type: 'agent_transcript', responseId, itemId, text, final: true })
    model.speak(responseId, itemId, Buffer.alloc(1600).toString('base64'))
    model.tell({ type: 'audio_done', responseId, itemId })
    const done = { responseId, status: 'completed', errorCode: null, fault: null, usage: USAGE } as const
    model.tell({ type: 'response_done', ...done })
    const marks = await until(
      () => {
        const news = client.messages.slice(before).filter(({ event }) => event === 'mark')
        return news.length > 0 ? news : null
      },
      { what: 'a mark' },
    )
    await app.clock.advance(300)
    for (const mark of marks) client.send(mark)
  }

  async function isDetached(): Promise<void> {
    await app.pass(async () => (await states())[0] === 'detached', 'the session to notice')
  }

  async function states(): Promise<string[]> {
    const { body } = await app.served.call<{ sessions: { state: string }[] }>('acme', 'GET', '/sessions/active')
    return body.sessions.map(({ state }) => state)
  }

  /** In steps: whose a call is that cannot be found out within a second is taken to be ours, and the database takes its own time. */
  async function halfAMinute(): Promise<void> {
    const untilMs = app.clock.now() + 30_000
    await app.pass(() => app.clock.now() >= untilMs, 'half a minute to pass')
  }

  async function transcript(): Promise<string[]> {
    const rows = await test.db.selectFrom('transcript_turns').select(['role', 'text', 'seq']).orderBy('seq').execute()
    return rows.map(({ seq, role, text }) => `${seq} ${role}: ${text}`)
  }

  it('goes on with the next one, the same model session and one transcript', async () => {
    const client = await talked()
    client.terminate()
    await isDetached()
    const document = await resume()
    expect(document).toMatch(/<Connect>.*<Redirect/)
    const next = await streamOf(document, 'MZ2')
    const model = app.model.last
    await app.pass(async () => (await states())[0] === 'talking', 'the session to go on')
    expect(app.model.sessions).toHaveLength(1)
    model.tell({ type: 'response_started', responseId: 'gone' })
    model.tell({
      type: 'response_done',
      responseId: 'gone',
      status: 'cancelled',
      errorCode: null,
      fault: null,
      usage: USAGE,
    })
    await until(() => commands(model, 'respond').length === 3, { what: 'the answer to be asked for again' })
    await says(next, { responseId: 'r2', itemId: 'i2', text: 'Ten each.' })
    next.media()
    await until(() => model.appended.length > 0, { what: 'the audio' })
    await app.pass(async () => (await transcript()).length === 3, 'the turns')
    expect(await transcript()).toEqual([
      '1 agent: Hello there.',
      '2 caller: What do chairs cost?',
      '3 agent: Ten each.',
    ])
    expect(await session()).toMatchObject({ resumed_count: 1, stream_sid: 'MZ2', ended_at: null })
    expect(await entry()).toMatchObject({ epoch: 2 })
    next.send({ event: 'stop', streamSid: 'MZ2', stop: {} })
    await ended()
    expect(await session()).toMatchObject({ end_reason: 'caller_hangup', usage: { input_tokens: 21 } })
    expect(await resume()).toContain(HANG_UP)
  })

  it('is ended at its carrier when nobody brings it back', async () => {
    const client = await talked()
    const lostMs = app.clock.now()
    client.terminate()
    await app.pass(() => requests().length > 0, 'its carrier to be told')
    expect(app.clock.now()).toBeGreaterThanOrEqual(lostMs + WAITS_MS)
    await ended()
    expect(await session()).toMatchObject({ end_reason: 'carrier_lost' })
    expect(requests()).toMatchObject([{ form: { Status: 'completed' } }])
    expect(await resume()).toContain(HANG_UP)
  })

  it('is over when its carrier says so meanwhile', async () => {
    const client = await talked()
    client.terminate()
    await isDetached()
    await app.post('/api/v1/call-status', { form: { ...RESUME, CallStatus: 'completed' } })
    await ended()
    expect(await session()).toMatchObject({ end_reason: 'caller_hangup' })
    expect([requests(), await resume()]).toEqual([[], expect.stringContaining(HANG_UP)])
  })

  it('is taken from a stream that stands yet, which is closed, but not by one of the same epoch', async () => {
    const client = await talked()
    // Both are promised before either stream has the call, and are of one epoch.
    const [document, second] = [await resume(), await resume()]
    const first = await streamOf(document, 'MZ2')
    expect(await client.closed()).toBe(1000)
    await until(async () => (await entry()).epoch === 2, { what: 'the take-over' })
    expect(await (await streamOf(second, 'MZ3')).closed()).toBe(POLICY)
    expect([first.closeCode, await states()]).toEqual([null, ['talking']])
    expect(requests()).toEqual([])
  })

  it('is given up when it is lost again and again', async () => {
    const client = await talked()
    client.terminate()
    await isDetached()
    const pauses: string[] = []
    for (let times = 0; times < 5; times += 1) {
      const document = await resume()
      expect(document).toContain('<Connect>')
      pauses.push(document.match(/<Response>(.*?)<Connect>/s)?.[1] ?? '')
    }
    // Whoever passes streams on to our nodes has ten seconds to see that one of them is gone.
    expect(pauses).toEqual(['', ...[1, 2, 3, 4].map((seconds) => `<Pause length="${seconds}"/>`)])
    expect(await resume()).toMatch(/<Say>[^<]*sorry[^<]*<\/Say><Hangup\/>/)
    await ended()
    expect((await session()).end_reason).toBe('carrier_lost')
    expect(await resume()).toContain(HANG_UP)
  })

  it('goes to the fallback number then, and is not ended there by us', async () => {
    const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, fallback_number: '+12025550150' }
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony })
    const client = await talked()
    client.terminate()
    await isDetached()
    for (let times = 0; times < 5; times += 1) await resume()
    const { text } = await app.post('/api/v1/call-resume', { form: { ...RESUME, From: 'anonymous', To: NUMBER } })
    expect(text).toContain('<Number>+12025550150</Number>')
    // Carriers may ring nobody in the name of who withholds theirs.
    expect(text).toContain(` callerId="${NUMBER}"`)
    await app.pass(async () => (await states()).length === 0, 'the session to be gone')
    await halfAMinute()
    expect(requests()).toEqual([])
  })

  describe.runIf(inject('databaseTemplate').kind === 'server')('with another node', () => {
    let other: { served: ServedApp; model: ScriptedModel; nodeId: string | null }
    let isClosed = false

    beforeEach(async () => {
      const model = new ScriptedModel()
      isClosed = false
      const settings = { TELEPHONY_API_BASE_URL: app.rest.baseUrl }
      const options = { clock: app.clock, model, settings, besides: app.served }
      other = { served: await ServedApp.start(test, options), model, nodeId: null }
      return async () => {
        void other.served.app.close().then(() => {
          isClosed = true
        })
        await app.pass(() => isClosed, 'the other node to stop')
      }
    })

    /** Each has just been heard from, by the database's clock: the other one's silence is no reason for what a node does. */
    async function heard(): Promise<void> {
      const { rows } = await sql<{ at: Date }>`select now() as at`.execute(test.db)
      const since = rows[0]?.at ?? new Date()
      const alive = test.db.selectFrom('nodes').select('node_id').where('heartbeat_at', '>', since)
      await app.pass(async () => (await alive.execute()).length === 2, 'both nodes to be heard from')
    }

    /** The agent pauses the recording, or goes on with it. */
    function pause(model: ScriptedSession, isPaused: boolean): void {
      const called = { responseId: 'r1', itemId: 'i1', callId: `pause ${isPaused}`, name: 'pause_recording' }
      model.tell({ type: 'tool_call', ...called, argumentsText: JSON.stringify({ paused: isPaused }) })
    }

    /** Whether so many tools were called. */
    async function calls(count: number): Promise<boolean> {
      return (await test.db.selectFrom('function_calls').select('call_id').execute()).length === count
    }

    /** The caller makes a sound for so many frames of 20 ms. */
    async function sounds(client: StreamClient, frames: number): Promise<void> {
      const { appended } = other.model.last
      for (let n = 0; n < frames; n += 1) {
        const before = appended.length
        await app.clock.advance(20)
        client.media(FRAME)
        await until(() => appended.length > before, { what: 'the frame to arrive' })
      }
    }

    it('goes to the fallback number where there is no room, and is not ended there by the first', async () => {
      const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, fallback_number: '+12025550150' }
      await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony })
      const client = await talked()
      client.terminate()
      await isDetached()
      void other.served.app.drain()
      await heard()
      // The first node would take it, but was not the one that is asked for long.
      expect(await resumeAt(other.served)).toContain('call-resume?again=1#')
      expect(await resumeAt(other.served, '?again=5')).toContain('<Number>+12025550150</Number>')
      expect(await session()).toMatchObject({ end_reason: 'transferred' })
      await app.pass(async () => (await states()).length === 0, 'the first node to let it go')
      await halfAMinute()
      expect(requests()).toEqual([])
    })

    it.each([
      ['the node that has it', () => ({ address: app.served.address, model: app.model })],
      ['another one', () => ({ address: other.served.address, model: other.model })],
    ] as const)(
      'is told why it could not be put through, which another node hears, where its stream comes to %s',
      async (_, to) => {
        const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token }
        const document = { tenant_id: 'acme', telephony, transfer_targets: [TARGET] }
        await app.served.administer('PUT', '/tenants/acme', document)
        const client = await greeted()
        await app.pass(async () => (await transcript()).length === 1, 'the greeting')
        const transfer = { action: 'transfer', target: TARGET }
        expect((await app.served.call('acme', 'POST', '/sessions/MZCA1/actions', transfer)).status).toBe(200)
        client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
        await until(() => client.closeCode !== null, { what: 'the end of the stream' })
        await app.pass(async () => (await transcript()).length === 2, 'that it is put through')
        const { address, model } = to()
        await streamOf(await resumeAt(other.served, '', { DialCallStatus: 'busy' }), 'MZ2', address)
        const isBusy = (words: string | null) =>
          words?.includes('could not be put through to +12025550103: the line is busy')
        const asked = () => model.sessions.flatMap((one) => commands(one, 'respond'))
        await until(() => asked().some(({ instructions }) => isBusy(instructions)), { what: 'the agent to be told' })
        await app.pass(async () => (await transcript()).length === 3, 'that it was not')
        expect((await transcript()).at(-1)).toBe('3 system: The call could not be put through: the line is busy.')
      },
    )

    it('is escalated there still, and not recorded where its agent had paused that, until it goes on with it', async () => {
      const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token }
      const compliance = { record_calls: true }
      await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony, compliance })
      const client = await app.talk({ CallSid: 'CA1' })
      pause(app.model.last, true)
      await app.pass(() => calls(1), 'the pause to be kept')
      const escalated = { action: 'escalate', target: 'billing' }
      await app.served.call('acme', 'POST', '/sessions/MZCA1/actions', escalated)
      client.terminate()
      await isDetached()
      const next = await streamOf(await resume(), 'MZ2', other.served.address)
      await until(() => other.model.sessions.length === 1, { what: 'the session on the other node' })
      const model = other.model.last
      await until(() => model.commands.length > 0, { what: 'the agent to be told' })
      expect(commands(model, 'system_message')[0]?.text).toContain('system: The recording of the call is paused.')
      const { body } = await other.served.call('acme', 'GET', '/sessions/active')
      expect(body).toMatchObject({ sessions: [{ stream_sid: 'MZ2', escalated: true, escalation_target: 'billing' }] })
      await sounds(next, 25)
      pause(model, false)
      await app.pass(() => calls(2), 'the recording to go on')
      await sounds(next, 25)
      next.send({ event: 'stop', streamSid: 'MZ2', stop: {} })
      await ended()
      const parts = test.db.selectFrom('recordings').select('path').where('part', '=', 2)
      const part = await app.pass(() => parts.where('state', '=', 'ready').executeTakeFirst(), 'the second part')
      const recorded = await readFile(join(other.served.dataDir, 'recordings', part.path))
      expect(Math.round(recorded.filter((byte) => byte === SOUND).length / 160)).toBe(25)
    })

    it('knows there what its tools have done, and of which that is not known, and calls none of them again', async () => {
      const target = await startWebhookTarget()
      try {
        target.answer({ status: 200, body: '{"paid": 12}' }, 'hang')
        const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token }
        const refund = { type: 'http', name: 'refund', description: 'Pays back.', method: 'POST', url: target.url }
        const tools = [{ ...refund, parameters: { type: 'object', properties: { order: { type: 'integer' } } } }]
        await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony, tools })
        const client = await talked()
        const refunds = async (order: number) => {
          const called = { responseId: 'r2', itemId: `i${order}`, callId: `c${order}`, name: 'refund' }
          app.model.last.tell({ type: 'tool_call', ...called, argumentsText: `{"order":${order}}` })
          await target.receive(order)
        }
        await refunds(1)
        await until(() => commands(app.model.last, 'tool_result').length === 1, { what: 'the answer' })
        await refunds(2)
        await app.pass(() => calls(2), 'the beginning to be kept')
        client.terminate()
        await isDetached()
        await streamOf(await resume(), 'MZ2', other.served.address)
        await until(() => other.model.sessions.length === 1, { what: 'the session on the other node' })
        await until(() => other.model.last.commands.length > 0, { what: 'the agent to be told' })
        const told = commands(other.model.last, 'system_message')[0]?.text.split('\n') ?? []
        expect(told.slice(-5)).toEqual([
          'caller: What do chairs cost?',
          'system: The tool refund was called with {"order":1}',
          'system: The tool refund has answered: {"status":200,"body":{"paid":12}}',
          'system: The tool refund was called with {"order":2}',
          expect.stringContaining('The tool refund has not answered: it is not known whether it was done.'),
        ])
        const { id } = await session()
        const shown = await other.served.call('acme', 'GET', `/voice-sessions/${id}`)
        const [done, unknown] = [
          { seq: 1, status: 'ok' },
          { seq: 2, status: 'timeout', result: null },
        ]
        expect(shown.body).toMatchObject({ voice_session: { function_calls: [done, unknown] } })
        expect(target.received).toHaveLength(2)
      } finally {
        await target.close()
      }
    })

    it('goes on there from what was said, once and in order, and the first node lets it go', async () => {
      const client = await talked()
      const owner = (await entry()).owner
      client.terminate()
      await isDetached()
      await app.pass(async () => (await transcript()).length === 2, 'the turns')
      await app.pass(async () => (await session()).usage.input_tokens === 7, 'what it cost so far')
      const next = await streamOf(await resume(), 'MZ2', other.served.address)
      await until(() => other.model.sessions.length === 1, { what: 'the session on the other node' })
      const model = other.model.last
      await until(() => commands(model, 'respond').length === 1, { what: 'the agent to be asked on' })
      expect(commands(model, 'system_message')[0]?.text).toContain('agent: Hello there.\ncaller: What do chairs cost?')
      expect(commands(model, 'respond')[0]?.instructions).toMatch(/sorry.*answer/)
      const begunAt = (await session()).started_at?.toISOString()
      expect(model.setup.instructions).toContain(`"started_at":"${begunAt}"`)
      expect(await entry()).toMatchObject({ epoch: 2 })
      expect((await entry()).owner).not.toBe(owner)
      model.tell({ type: 'response_started', responseId: 'r1' })
      model.tell({ type: 'item_added', itemId: 'i1', previousItemId: null, role: 'agent' })
      model.tell({ type: 'agent_transcript', responseId: 'r1', itemId: 'i1', text: 'Sorry. Ten each.', final: true })
      model.speak('r1', 'i1', Buffer.alloc(1600).toString('base64'))
      model.tell({
        type: 'response_done',
        responseId: 'r1',
        status: 'completed',
        errorCode: null,
        fault: null,
        usage: USAGE,
      })
      await until(() => next.messages.some(({ event }) => event === 'mark'), { what: 'a mark' })
      await app.clock.advance(300)
      for (const mark of next.messages.filter(({ event }) => event === 'mark')) next.send(mark)
      await app.pass(async () => (await transcript()).length === 3, 'the turns')
      // The first node waits in vain, and neither ends the call nor writes of it.
      await app.pass(async () => (await states()).length === 0, 'the first node to let go')
      expect([requests(), (await session()).ended_at]).toEqual([[], null])
      expect(await transcript()).toEqual([
        ...['1 agent: Hello there.', '2 caller: What do chairs cost?', '3 agent: Sorry. Ten each.'],
      ])
      next.send({ event: 'stop', streamSid: 'MZ2', stop: {} })
      await ended()
      expect(await session()).toMatchObject({
        ...{ end_reason: 'caller_hangup', resumed_count: 1 },
        usage: { input_tokens: 14, output_tokens: 18 },
      })
      expect([requests(), await resume()]).toEqual([[], expect.stringContaining(HANG_UP)])
    })
  })
})

function commands<T extends ModelCommand['type']>(model: ScriptedSession, type: T) {
  return model.commands.filter((command): command is Extract<ModelCommand, { type: T }> => command.type === type)
}
