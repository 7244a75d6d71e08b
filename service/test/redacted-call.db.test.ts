import { describe, expect, it } from 'vitest'
import { useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { watchEvents } from './harness/event-watcher.ts'
import { filesWith, rowsWith, unmade } from './harness/everything.ts'
import type { ScriptedSession } from './harness/scripted-model.ts'
import { until } from './harness/wait.ts'

/** What was said, in pieces that would show in whatever form it was kept. */
const PLANTED = ['4111', '1881', 'four one', 'one eight', 'ana.diaz', '5550142', '555-0142', '4719', '8888']
const CARD = 'four one one one, double one double one, 1111 1111'
const AUDIO = Buffer.alloc(1_600).toString('base64')
const WEBHOOK = {
  url: 'https://hooks.example.com/parley',
  secret: 'whsec_c2VjcmV0LW9mLXRoZS10ZXN0cy1vZi1jYWxscw==',
  events: [
    ...['voice.transcript.turn', 'voice.session.completed', 'voice.call.completed', 'callback.task.created'],
    'voice.evaluation.completed',
  ],
}

const test = useDatabase()
const app = useCallApp(test, {
  agent: {
    greeting: 'Hello.',
    tools: ['schedule_callback', 'record_outcome', 'escalate_to_human'],
  },
  document: { webhook: WEBHOOK, compliance: { redact_pii: true } },
})

function callerSays(model: ScriptedSession, itemId: string, previousItemId: string | null, text: string): void {
  model.tell({ type: 'speech_started', itemId, audioStartMs: 2_000 })
  model.tell({ type: 'speech_stopped', itemId, audioEndMs: 2_900 })
  model.tell({ type: 'committed', itemId, previousItemId })
  model.tell({ type: 'caller_transcript', itemId, text })
}

function agentSays(model: ScriptedSession, itemId: string, previousItemId: string | null, pieces: string[]): void {
  const responseId = `r-${itemId}`
  model.tell({ type: 'response_started', responseId })
  model.tell({ type: 'item_added', itemId, previousItemId, role: 'agent' })
  for (const text of pieces) model.tell({ type: 'agent_transcript', responseId, itemId, text, final: false })
  model.tell({ type: 'agent_transcript', responseId, itemId, text: pieces.join(''), final: true })
  model.speak(responseId, itemId, AUDIO)
  model.tell({ type: 'audio_done', responseId, itemId })
}

function isDone(model: ScriptedSession, responseId: string): void {
  const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, audioSeconds: 0.2 }
  model.tell({ type: 'response_done', responseId, status: 'completed', errorCode: null, fault: null, usage })
}

function calls(model: ScriptedSession, name: string, given: object): void {
  const argumentsText = JSON.stringify(given)
  model.tell({ type: 'tool_call', responseId: 'r-a1', itemId: `f-${name}`, callId: `c-${name}`, name, argumentsText })
}

describe('a call of a tenant that wants no personal data kept', () => {
  it('leaves none of what was dictated, read back, typed, passed to tools and noted, wherever one looks', async () => {
    const client = await app.talk({ CallSid: 'CA1' })
    const { address, dataDir } = app.served
    const token = app.served.tokenOf('acme')
    const watcher = await watchEvents(`${address}/api/v1/sessions/MZCA1/events`, token)
    const model = app.model.last
    agentSays(model, 'a0', null, ['Hello.'])
    isDone(model, 'r-a0')
    await app.clock.advance(300)
    const marks = () => client.messages.filter(({ event }) => event === 'mark')
    await until(() => marks().length > 0, { what: 'the mark behind the greeting' })
    for (const mark of marks()) client.send(mark)
    // What is said right at the beginning does not stop the greeting.
    await app.clock.advance(2_000)
    callerSays(model, 'c1', 'a0', `My card is ${CARD}, and I am at ana.diaz@example.org.`)
    agentSays(model, 'a1', 'c1', ['I have four one one one, 11', '11, 8888 1881', '. Is that right?'])
    calls(model, 'schedule_callback', { phone: '+12025550142', summary: `Wants ${CARD} charged; 202-555-0142.` })
    calls(model, 'record_outcome', { tags: ['card 4111111111111111'], outcome: 'paid', notes: `Said ${CARD}.` })
    isDone(model, 'r-a1')
    for (const digit of '4719#') client.send({ event: 'dtmf', streamSid: 'MZCA1', dtmf: { digit } })
    const noted = { action: 'note', note: `Card ${CARD}`, reason: 'Reach ana.diaz@example.org' }
    expect((await app.served.call('acme', 'POST', '/sessions/MZCA1/actions', noted)).status).toBe(200)
    const tools = () => test.db.selectFrom('function_calls').selectAll().execute()
    await app.pass(async () => (await tools()).length === 2, 'the tools to be written down')
    client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    const session = () => test.db.selectFrom('voice_sessions').selectAll().executeTakeFirstOrThrow()
    await app.pass(async () => (await session()).ended_at !== null, 'the end to be written down')
    const { id } = await session()
    const scored = { score: 0.5, criteria: [{ name: 'tone', score: 1, reason: `Read ${CARD} back` }], summary: CARD }
    expect((await app.served.call('acme', 'POST', `/voice-sessions/${id}/evaluations`, scored)).status).toBe(200)
    await until(() => watcher.isOver(), { what: 'the events to end' })

    const { body } = await app.served.call('acme', 'GET', `/voice-sessions/${id}`)
    expect(body).toMatchObject({
      voice_session: {
        transcript: expect.arrayContaining([
          expect.objectContaining({ role: 'caller', text: 'My card is [card], and I am at [email].' }),
          expect.objectContaining({ role: 'system', text: 'The caller pressed these keys: [digits]' }),
        ]),
        summary: '[card]',
        tags: ['card [card]'],
        outcome: 'paid',
      },
    })
    const agent = (await test.db.selectFrom('transcript_turns').selectAll().execute()).find(
      ({ item_id }) => item_id === 'a1',
    )
    expect(`${agent?.text} ${agent?.unheard}`.trim()).toBe('I have [digits]. Is that right?')
    const [task] = await test.db.selectFrom('callback_tasks').selectAll().execute()
    expect(task).toMatchObject({ customer_phone: '+12025550142', summary: 'Wants [card] charged; [phone].' })
    expect(watcher.told.map(({ event }) => event)).not.toContain('turn_delta')

    // The number to call is what a task is for.
    const whole = await rowsWith(test.db, PLANTED)
    const left = whole
      .filter((row) => !row.startsWith('callback_tasks:'))
      .map((row) => row.replaceAll('+12025550142', ''))
    expect(left.filter((row) => PLANTED.some((word) => row.includes(word)))).toEqual([])
    const told = unmade(JSON.stringify([watcher.told, app.served.logLines()]))
    expect(PLANTED.filter((word) => told.includes(word))).toEqual([])
    expect(await filesWith(dataDir, PLANTED)).toEqual([])
  })
})
