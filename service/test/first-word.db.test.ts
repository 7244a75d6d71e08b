import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TenantId } from '../src/kernel/ids.ts'
import { openaiSpeech } from '../src/platform/speech/openai.ts'
import { streamTokenIn, useCallApp } from './harness/call-app.ts'
import { sign } from './harness/carrier-signature.ts'
import { useDatabase } from './harness/database.ts'
import { ScriptedModel } from './harness/scripted-model.ts'
import { ACCOUNT, ServedApp } from './harness/served-app.ts'
import { type SpeechServer, startSpeechServer } from './harness/speech-server.ts'
import { StreamClient } from './harness/stream-client.ts'
import { until } from './harness/wait.ts'

const GREETING = 'Hello, this is Acme. How can I help you?'
const DISCLOSURE = 'You are talking to a machine.'
const CLIP_MS = 2_000
const USAGE = { inputTokens: 7, outputTokens: 9, cachedTokens: 0, audioSeconds: 2 }

let provider: SpeechServer
beforeAll(async () => {
  provider = await startSpeechServer()
  provider.answer({ ms: CLIP_MS })
})
afterAll(() => provider.close())

const speech = () => openaiSpeech({ baseUrl: provider.baseUrl, apiKey: 'sk-key-of-the-tests' })

const test = useDatabase()
const clips = () =>
  test.db
    .selectFrom('clips')
    .selectAll()
    .where('tenant_id', '=', 'acme' as TenantId)
    .execute()

/** The audio that the caller was sent, as ms of it. */
function heardMs({ messages }: StreamClient): number {
  const media = messages.filter(({ event }) => event === 'media').map(({ media }) => media as { payload: string })
  return media.reduce((sum, { payload }) => sum + Buffer.from(payload, 'base64').length / 8, 0)
}

async function turns() {
  const rows = await test.db.selectFrom('transcript_turns').selectAll().orderBy('seq').execute()
  return rows.map(({ role, text, unheard }) => ({ role, text, unheard }))
}

describe('the first word of a call', () => {
  const document = { compliance: { ai_disclosure: DISCLOSURE } }
  const app = useCallApp(test, { agent: { greeting: GREETING }, document, speech })

  beforeEach(async () => {
    app.model.isReadyAtOnce = false
    await until(async () => (await clips()).length === 2, { what: 'the clips that publishing makes' })
  })

  it('is there before the model is, which is told what the caller hears, and does not say it again', async () => {
    const client = await app.talk({ CallSid: 'CA1' })
    await until(() => heardMs(client) >= 2 * CLIP_MS, { what: 'the clips' })
    const model = app.model.last
    expect(model.commands).toEqual([
      { type: 'system_message', text: expect.stringContaining(`agent: ${DISCLOSURE}\nagent: ${GREETING}`) },
    ])
    client.media(Buffer.alloc(160, 0x10).toString('base64'), 'MZCA1')
    model.tell({ type: 'ready' })
    await until(() => model.appended.length > 0, { what: "the caller's audio that was kept" })
    expect(model.commands).toHaveLength(1)

    await app.clock.advance(2 * CLIP_MS + 1_000)
    for (const mark of client.messages.filter(({ event }) => event === 'mark')) client.send(mark)
    await app.pass(async () => (await turns()).length === 2, 'what was heard to be kept')
    expect(await turns()).toEqual([
      { role: 'agent', text: DISCLOSURE, unheard: '' },
      { role: 'agent', text: GREETING, unheard: '' },
    ])
  })

  it('is stopped by a caller who speaks over it, and what was heard of it is kept', async () => {
    const client = await app.talk({ CallSid: 'CA1' })
    await until(() => heardMs(client) >= 2 * CLIP_MS, { what: 'the clips' })
    const model = app.model.last
    model.tell({ type: 'ready' })
    await app.clock.advance(CLIP_MS + 1_300)
    model.tell({ type: 'speech_started', itemId: 'c1', audioStartMs: 0 })
    for (let frame = 0; frame < 20; frame += 1) client.media(Buffer.alloc(160, 0x10).toString('base64'), 'MZCA1')
    await until(() => client.messages.some(({ event }) => event === 'clear'), { what: 'the line to be cleared' })
    await app.pass(async () => (await turns()).length === 2, 'what was heard to be kept')
    const [, greeting] = await turns()
    expect(greeting?.unheard).not.toBe('')
    expect(`${greeting?.text} ${greeting?.unheard}`).toBe(GREETING)
    expect(model.commands.at(-1)).toMatchObject({ type: 'system_message', text: expect.stringContaining('heard only') })
  })

  it('is heard again at another node when the call is lost in it', async () => {
    const client = await app.talk({ CallSid: 'CA1' })
    await until(() => heardMs(client) >= 2 * CLIP_MS, { what: 'the clips' })
    const [first] = client.messages.filter(({ event }) => event === 'mark')
    await app.clock.advance(500)
    if (first) client.send(first)
    client.terminate()
    await app.pass(async () => (await turns()).length === 2, 'what was heard to be kept')
    const model = new ScriptedModel()
    const settings = { TELEPHONY_API_BASE_URL: app.rest.baseUrl }
    const other = await ServedApp.start(test, {
      ...{ clock: app.clock, model, settings, speech: speech(), besides: app.served },
    })
    try {
      const form = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, CallStatus: 'in-progress' }
      const headers = { 'x-twilio-signature': sign(`${other.app.publicUrl()}/api/v1/call-resume`, form, ACCOUNT.token) }
      const asked = { method: 'POST', headers, body: new URLSearchParams(form) }
      const answer = await (await fetch(`${other.address}/api/v1/call-resume`, asked)).text()
      const again = await StreamClient.open(other.address)
      again.start({ callSid: 'CA1', streamSid: 'MZ2', parameters: { stream_token: streamTokenIn(answer) } })
      await until(() => heardMs(again) >= 2 * CLIP_MS, { what: 'the clips' })
      await until(() => model.sessions.length === 1, { what: 'the model' })
      expect(model.last.commands.filter(({ type }) => type === 'respond')).toEqual([])
    } finally {
      let isClosed = false
      void other.app.close().then(() => {
        isClosed = true
      })
      await app.pass(() => isClosed, 'the other node to stop')
    }
  })
})

describe('a call without a clip', () => {
  const app = useCallApp(test, { agent: { greeting: GREETING }, speech })
  beforeAll(() => provider.answer('nothing'))
  afterAll(() => provider.answer({ ms: CLIP_MS }))

  it('is greeted by the model, and whoever published its agent did not wait for one', async () => {
    const client = await app.talk({ CallSid: 'CA1' })
    const model = app.model.last
    await until(() => model.commands.some(({ type }) => type === 'respond'), { what: 'the greeting' })
    expect(model.commands).toMatchObject([{ type: 'respond', instructions: expect.stringContaining(GREETING) }])
    model.tell({ type: 'response_started', responseId: 'r1' })
    model.speak('r1', 'i1', Buffer.alloc(1_600).toString('base64'))
    const done = { responseId: 'r1', status: 'completed', errorCode: null, fault: null, usage: USAGE } as const
    model.tell({ type: 'response_done', ...done })
    await until(() => heardMs(client) > 0, { what: 'the greeting' })
    expect(await clips()).toEqual([])
  })
})
