import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CallerScript } from '../../simulator/src/carrier/caller-script.ts'
import type { SimulatedCall } from '../../simulator/src/carrier/simulated-call.ts'
import type { Script } from '../../simulator/src/model/script.ts'
import { STORED_HEADER_BYTES } from '../src/records/recording-wav.ts'
import { useDataFolder } from './harness/data-folder.ts'
import { useDatabase } from './harness/database.ts'
import { NUMBER, useLiveApp } from './harness/live-app.ts'
import { onOneDatabase } from './harness/once.ts'
import { StreamClient } from './harness/stream-client.ts'
import { until } from './harness/wait.ts'

const TARGET = '+12025550103'
const GREETING = 'Hello, this is Robin. How can I help you?'
const FRAME_MS = 20
const FRAME_BYTES = 160
/** In real time, on a machine that may be busy. */
const WITHIN_MS = 45_000

type Turn = { role: string; text: string }
type Session = { id: string; end_reason: string | null; transcript: Turn[] }

describe('a call in which people speak', () => {
  const test = useDatabase()
  const settings = useDataFolder()
  const live = useLiveApp(test, {
    settings,
    document: {
      compliance: { record_calls: true },
      transfer_targets: [TARGET],
      webhook: { url: 'https://hooks.example.com/parley', events: ['voice.recording.ready'] },
    },
    agent: { agent_name: 'Robin', greeting: GREETING, tools: ['transfer_call'] },
  })

  /** A call whose agent has greeted. */
  async function ring(caller: CallerScript, script: Script): Promise<SimulatedCall> {
    const { carrier, model } = live.simulator
    model.scripts.setDefault(script, { isShared: true })
    const call = carrier.ring({ from: '+12025550123', to: NUMBER, caller, ...live.urls })
    if (!(await call.until(({ kind }) => kind === 'agent-ended', WITHIN_MS))) throw new Error('nobody greeted')
    return call
  }

  async function streamSid(): Promise<string> {
    const { body } = await live.served.call<{ sessions: { stream_sid: string }[] }>('acme', 'GET', '/sessions/active')
    return body.sessions[0]?.stream_sid ?? ''
  }

  async function session(): Promise<Session> {
    const { body } = await live.served.call<{ voice_sessions: Session[] }>('acme', 'GET', '/voice-sessions')
    const path = `/voice-sessions/${body.voice_sessions[0]?.id}`
    return (await live.served.call<{ voice_session: Session }>('acme', 'GET', path)).body.voice_session
  }

  const act = (sid: string, body: object) => live.served.call('acme', 'POST', `/sessions/${sid}/actions`, body)
  const words = (audio: Uint8Array) => live.simulator.phraseBook.recognise(audio)?.text ?? ''

  /** A person's line into the call. */
  async function open(kind: 'listen' | 'takeover', sid: string): Promise<StreamClient> {
    const { body } = await live.served.call<{ stream_token: string }>('acme', 'POST', `/sessions/${sid}/${kind}`)
    return StreamClient.open(live.served.address, `/media-stream?stream_token=${body.stream_token}`)
  }

  /** The person says something, as fast as time passes. */
  async function say(person: StreamClient, sid: string, text: string): Promise<void> {
    const audio = Buffer.concat([await live.simulator.speech.say(text, 'rms'), Buffer.alloc(800 * 8, 0xff)])
    const startMs = performance.now()
    for (let at = 0; at < audio.length; at += FRAME_BYTES) {
      person.media(audio.subarray(at, at + FRAME_BYTES).toString('base64'), sid)
      const dueMs = startMs + (at / FRAME_BYTES) * FRAME_MS
      await until(() => performance.now() >= dueMs, { what: 'the time of the next frame' })
    }
  }

  function heardBy(client: StreamClient, track?: string): Uint8Array {
    const medias = client.messages.filter(({ event }) => event === 'media').map(({ media }) => media as Media)
    return Buffer.concat(medias.filter((m) => m.track === track).map(({ payload }) => Buffer.from(payload, 'base64')))
  }
  type Media = { track?: string; payload: string }

  it('is taken over and given back: each hears what is for them, and all of it is kept', async () => {
    const call = await ring(
      { steps: [], hangsUpAtEnd: false, patienceMs: 60_000 },
      {
        rules: [
          { when: { greeting: true }, say: GREETING },
          { when: { instructed: true }, say: 'I am back with you now.' },
        ],
      },
    )
    const sid = await streamSid()
    const listener = await open('listen', sid)
    await act(sid, { action: 'whisper', text: 'Offer them a golden umbrella.' })
    const person = await open('takeover', sid)
    person.start({ callSid: call.sid, streamSid: sid })
    await until(async () => (await act(sid, { action: 'say', text: 'x' })).status === 409, { what: 'the takeover' })
    await say(person, sid, 'I am Ada, and your refund is on its way.')
    await call.say('Thank you for the good news.')
    await until(() => words(heardBy(person)).includes('good news'), { what: 'the caller', timeoutMs: WITHIN_MS })
    // An agent who comes back while its caller speaks answers that.
    const isWritten = async () => (await session()).transcript.some(({ text }) => text.includes('good news'))
    await until(isWritten, { what: 'their words to be written down', timeoutMs: WITHIN_MS })
    expect((await act(sid, { action: 'release' })).status).toBe(200)
    const caller = () => words(call.recording?.agent ?? new Uint8Array())
    await until(() => caller().includes('I am back'), { what: 'the agent', timeoutMs: WITHIN_MS })
    await until(() => words(heardBy(listener, 'outbound')).includes('I am back'), {
      what: 'that for who listens',
      timeoutMs: WITHIN_MS,
    })
    call.hangUp()
    await call.settled

    expect(caller()).toContain('refund is on its way')
    expect(caller()).not.toContain('umbrella')
    expect(words(heardBy(listener, 'outbound'))).toContain('refund is on its way')
    // Who only listens loses what is said while the process stands still, as it does for half a second on a busy machine.
    expect(words(heardBy(listener, 'inbound'))).toMatch(/Thank you|good news/)
    const { transcript } = await until(
      async () => {
        const one = await session()
        return one.end_reason === null ? null : one
      },
      { what: 'the end' },
    )
    expect(transcript).toContainEqual(
      expect.objectContaining({ role: 'supervisor', text: 'I am Ada, and your refund is on its way.' }),
    )
    expect(transcript).toContainEqual(expect.objectContaining({ role: 'caller', text: 'Thank you for the good news.' }))

    const row = await until(
      () => test.db.selectFrom('recordings').selectAll().where('state', '=', 'ready').executeTakeFirst(),
      { what: 'the recording' },
    )
    const file = await readFile(join(settings.DATA_DIR, 'recordings', row.path))
    const side = (channel: 0 | 1) =>
      Uint8Array.from(
        { length: (file.length - STORED_HEADER_BYTES) / 2 },
        (_, n) => file[STORED_HEADER_BYTES + 2 * n + channel] ?? 0,
      )
    expect(words(side(1))).toContain('refund is on its way')
    expect(words(side(0))).toContain('good news')
  })

  it.runIf(onOneDatabase())(
    'is put through, warm, to somebody who presses 1: then the two hear each other',
    async () => {
      live.simulator.carrier.subscribe(TARGET, {
        steps: [
          { when: { kind: 'after-agent', quietMs: 1_000 }, does: { kind: 'press', keys: '1' } },
          { when: { kind: 'then', delayMs: 1_500 }, does: { kind: 'say', text: 'This is Grace in billing.' } },
        ],
        patienceMs: 60_000,
      })
      const call = await ring(
        {
          steps: [
            { when: { kind: 'then', delayMs: 100 }, does: { kind: 'say', text: 'I want to talk about a refund.' } },
          ],
          patienceMs: 60_000,
        },
        {
          rules: [
            { when: { greeting: true }, say: GREETING },
            {
              when: { says: 'refund' },
              say: 'One moment, please.',
              call: {
                name: 'transfer_call',
                arguments: { target: TARGET, summary: 'A refund is wanted.', warm: true },
              },
            },
          ],
        },
      )
      const heard = () => words(call.recording?.agent ?? new Uint8Array())
      await until(() => heard().includes('Grace in billing'), { what: 'the target', timeoutMs: 2 * WITHIN_MS })
      expect(heard()).toContain('One moment')
      await until(async () => (await session()).end_reason === 'transferred', { what: 'the end of our part' })
      const target = live.simulator.carrier.calls.find(({ to }) => to === TARGET)
      expect(words(target?.recording?.agent ?? new Uint8Array())).toContain('A refund is wanted')
      call.hangUp()
      await call.settled
      expect(call.notifications).toEqual([])
    },
  )

  it.runIf(onOneDatabase())(
    'is put through, cold, to a line that is busy: the agent has the caller again',
    async () => {
      live.simulator.carrier.subscribe(TARGET, { whenRung: 'busy', steps: [] })
      const call = await ring(
        { steps: [], hangsUpAtEnd: false, patienceMs: 60_000 },
        {
          rules: [
            { when: { greeting: true }, say: GREETING },
            { when: { instructed: true }, say: 'Nobody could take your call.' },
          ],
        },
      )
      expect((await act(await streamSid(), { action: 'transfer', target: TARGET })).status).toBe(200)
      const heard = () => words(call.recording?.agent ?? new Uint8Array())
      await until(() => heard().includes('Nobody could take'), { what: 'the agent', timeoutMs: WITHIN_MS })
      expect((await session()).end_reason).toBeNull()
      call.hangUp()
      await call.settled
      expect(call.notifications).toEqual([])
    },
  )
})
