import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { runScenario } from '../../simulator/src/scenario/run-scenario.ts'
import type { Scenario } from '../../simulator/src/scenario/scenario-shape.ts'
import type { VoiceFaultPlan } from '../../simulator/src/voices/voice-faults.ts'
import { useDatabase } from './harness/database.ts'
import { NUMBER, useLiveApp } from './harness/live-app.ts'
import { onOneDatabase } from './harness/once.ts'
import { until } from './harness/wait.ts'

const GREETING = 'Hello, this is Robin. How can I help you?'
const LONG =
  'We have many kinds of chairs. There are wooden ones, and there are metal ones, and there are some that fold, for the garden or the balcony.'
/** Long enough to break off in the middle of. */
const SHORT = 'We have many kinds of chairs. There are wooden ones, and some that fold.'

/** The caller takes no pause for the agent's end while a tool is called, or the model goes on for a voice that has failed. */
const PATIENT_MS = 2_000

const SCENARIO: Scenario = {
  name: 'a caller rings, and a second voice answers',
  call: { from: '+12025550123', to: NUMBER },
  caller: {
    steps: [
      { say: 'I would like to know what a chair costs.' },
      { say: 'Stop. Please have somebody call me back.', over_agent_ms: 2_000 },
      { say: 'No, thank you. Goodbye.', after_agent_ms: PATIENT_MS },
    ],
    stays: true,
  },
  agent: {
    rules: [
      { when: { greeting: true }, say: GREETING },
      { when: { turn: 1 }, say: LONG },
      {
        when: { turn: 2 },
        say: 'I will see to it.',
        call: { name: 'schedule_callback', arguments: { summary: 'The price of a chair' } },
      },
      { when: { after_tool: 'schedule_callback' }, say: 'Somebody will call you back. Is there anything else?' },
      { when: { says: 'goodbye' }, say: 'Thank you for calling. Goodbye.', end: true },
    ],
  },
  expect: {
    status: 'completed',
    ended_by: 'rest',
    heard: ['Hello, this is Robin', 'We have many kinds', 'I will see to it', 'Somebody will call you back', 'Goodbye'],
    not_heard: ['for the garden or the balcony'],
    clears: 1,
    truncations: 0,
    clicks: 0,
    model_sessions: 1,
    tools: [{ name: 'schedule_callback' }, { name: 'end_call' }],
  },
}

const SAID = SCENARIO.agent?.rules.flatMap(({ say = [] }) => say) ?? []

const wordsIn = (text: string) => text.split(/\s+/u).filter((word) => word !== '').length

type Turn = { role: string; text: string; interrupted: boolean }

describe('a call that the secondary provider speaks in', () => {
  const test = useDatabase()
  const live = useLiveApp(test, {
    agent: { agent_name: 'Robin', greeting: GREETING },
    document: { audio_output: { provider: 'secondary', voice_id: 'a-voice' } },
    settings: () => ({
      SECONDARY_AUDIO_API_KEY: 'key-of-the-voices',
      SECONDARY_AUDIO_URL: live.simulator.model.voiceUrl,
    }),
  })
  /** Each sentence is made once, which takes a busy machine a second: nobody in a call waits for that. */
  beforeAll(async () => {
    for (const text of [...SAID, SHORT]) await live.simulator.speech.say(text)
  })
  afterEach(() => live.simulator.model.voices.setFaults([]))

  /** The greeting was spoken when the version was published, in the second voice, too. */
  const isGreetingMade = () =>
    until(() => live.served.logLines().some(({ msg }) => msg === 'a clip was made'), {
      what: 'the clip of the greeting',
    })

  async function sessionOf(sid: string) {
    const log = await until(
      async () => {
        const { body } = await live.served.call<{ call_log: Record<string, unknown> }>(
          'acme',
          'GET',
          `/call-logs/${sid}`,
        )
        return body.call_log?.['status'] === 'completed' ? body.call_log : null
      },
      { what: 'the end of the call to be written down' },
    )
    const { body } = await until(
      async () => {
        const path = `/voice-sessions/${String(log['voice_session_id'])}`
        const answer = await live.served.call<{ voice_session: Record<string, unknown> }>('acme', 'GET', path)
        return answer.body.voice_session?.['ended_at'] ? answer : null
      },
      { what: 'the end of the session to be written down' },
    )
    return body.voice_session
  }

  /** All that the agent says in a call of one question, by its record, while the provider is like this. */
  async function saidUnder(fault: VoiceFaultPlan): Promise<string> {
    await isGreetingMade()
    live.simulator.model.voices.setFaults([fault])
    const scenario: Scenario = {
      ...SCENARIO,
      caller: {
        steps: [{ say: 'What is a chair?' }, { say: 'Goodbye.', after_agent_ms: PATIENT_MS }],
        stays: true,
      },
      agent: {
        rules: [
          // It has said nothing itself yet when it is asked for the rest.
          { when: { greeting: true }, say: '{words}' },
          { when: { turn: 1 }, say: SHORT },
          { when: { says: 'goodbye' }, say: 'Thank you. Goodbye.', end: true },
        ],
      },
      expect: { status: 'completed', ended_by: 'rest', heard: ['Goodbye'], model_sessions: 1 },
    }
    const report = await runScenario(live.simulator, scenario, live.urls)
    expect(report.findings.filter(({ state }) => state === 'failed')).toEqual([])
    const session = await sessionOf(report.facts.sid)
    const turns = (session['transcript'] as Turn[]).filter(({ role }) => role === 'agent')
    return turns.map(({ text }) => text).join(' ')
  }

  it('is greeted, answered, interrupted, served by a tool and ended in that voice', { timeout: 120_000 }, async () => {
    const { voices } = live.simulator.model
    await isGreetingMade()
    const clip = voices.streams.at(-1)
    expect([clip?.voiceId, clip?.texts.join('')]).toEqual(['a-voice', `${GREETING} `])
    const before = voices.streams.length
    const report = await runScenario(live.simulator, SCENARIO, live.urls)
    expect(report.findings.filter(({ state }) => state === 'failed')).toEqual([])
    const session = await sessionOf(report.facts.sid)
    const transcript = session['transcript'] as Turn[]
    expect(transcript.map(({ role }) => role)).toEqual([
      ...['agent', 'caller', 'agent', 'caller', 'agent', 'agent', 'caller', 'agent'],
    ])
    const [cut] = transcript.filter(({ interrupted }) => interrupted)
    expect(LONG.startsWith(cut?.text ?? '-')).toBe(true)
    expect(cut?.text).toMatch(/^We have many kinds/)
    // What really sounded on the caller's line, to within a word.
    const sounded = / (We have many.*) I will see to it/.exec(report.facts.heard)?.[1] ?? ''
    expect(Math.abs(wordsIn(sounded) - wordsIn(cut?.text ?? ''))).toBeLessThanOrEqual(1)
    expect(session['function_calls']).toMatchObject([
      { name: 'schedule_callback', status: 'ok' },
      { name: 'end_call', status: 'ok' },
    ])
    const spoken = voices.streams
      .slice(before)
      .map(({ texts }) => texts.join('').trim())
      .filter((text) => text !== '')
    const [greeting, ...said] = transcript.filter(({ role }) => role === 'agent')
    expect(greeting?.text).toBe(GREETING)
    expect(spoken).toEqual(said.map(({ text, interrupted }) => (interrupted ? LONG : text)))
    expect(live.served.logLines().filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
  })

  it.runIf(onOneDatabase()).each<[string, VoiceFaultPlan]>([
    ['refuses the connection', { refuse: true }],
    ['refuses the handshake', { handshake_status: 401 }],
    ['hangs in the handshake', { handshake_delay_ms: 60_000 }],
    ['takes text and says nothing', { silent_after: 0 }],
    ['falls silent in the middle', { silent_after: 3 }],
    ['drops the connection in the middle', { drop_after: 2 }],
    ['tells of an error in the middle', { error_after: { messages: 2, error: 'quota_exceeded' } }],
  ])(
    'is gone on with by the model when it %s, with no word lost or said twice',
    { timeout: 120_000 },
    async (_, fault) => {
      expect(await saidUnder(fault)).toBe(`${GREETING} ${SHORT} Thank you. Goodbye.`)
    },
  )

  it.runIf(onOneDatabase())(
    'is spoken to its end by a provider that takes its time',
    { timeout: 120_000 },
    async () => {
      const said = await saidUnder({ slow_first_byte_ms: 1_000 })
      expect(said).toBe(`${GREETING} ${SHORT} Thank you. Goodbye.`)
      const spoken = live.simulator.model.voices.streams.map(({ texts }) => texts.join('').trim())
      expect(spoken.slice(-2)).toEqual([SHORT, 'Thank you. Goodbye.'])
    },
  )

  it.runIf(onOneDatabase())(
    'is the model speaking, and diagnostics say why, once the provider has failed too often',
    async () => {
      await isGreetingMade()
      type Audio = { items: Record<string, unknown>[] }
      const audio = async () => (await live.served.administer<Audio>('GET', '/tenants/audio-providers')).items[0]
      const isReady = async () => {
        const { tenants } = await live.served.administer<{ tenants: Record<string, unknown>[] }>(
          'GET',
          '/tenants/cached',
        )
        return [tenants[0]?.['secondary_audio_configured'], tenants[0]?.['secondary_audio_ready']]
      }
      expect(await audio()).toMatchObject({ configured: 'secondary', effective: 'secondary', fallback_reason: null })
      expect(await isReady()).toEqual([true, true])
      live.simulator.model.voices.setFaults([{ refuse: true }])
      const { agents } = await live.served.administer<{ agents: { id: string }[] }>('GET', '/tenants/acme/agents')
      const phrases = ['One moment.', 'Just a second.', 'I am looking.']
      await live.served.publish('acme', agents[0]?.id ?? '', { greeting: GREETING, fillers: { phrases } })
      const reason = async () => (await audio())?.['fallback_reason']
      await until(async () => (await reason()) === 'unavailable', { what: 'the circuit to open' })
      expect(await audio()).toMatchObject({ configured: 'secondary', effective: 'primary' })
      expect(await isReady()).toEqual([true, false])
      const { streams } = live.simulator.model.voices
      const report = await runScenario(
        live.simulator,
        { ...SCENARIO, expect: { ...SCENARIO.expect, truncations: 1 } },
        live.urls,
      )
      expect(report.findings.filter(({ state }) => state === 'failed')).toEqual([])
      expect(live.simulator.model.voices.streams).toEqual(streams)
    },
  )
})
