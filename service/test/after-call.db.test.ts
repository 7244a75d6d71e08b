import { describe, expect, it } from 'vitest'
import type { Script } from '../../simulator/src/model/script.ts'
import { useDatabase } from './harness/database.ts'
import { NUMBER, useLiveApp } from './harness/live-app.ts'
import { until } from './harness/wait.ts'

/** A call passes in real time, on a machine that does much else. */
const AT_LEISURE = { timeout: 120_000 }

const BOOKING: Script = {
  rules: [
    { when: { greeting: true }, say: 'Hello, how can I help you?' },
    { when: { turn: 1 }, say: 'A booking for you. Goodbye.', end: true },
  ],
}
const EXTRACTION = {
  type: 'object',
  properties: { topic: { enum: ['complaint', 'booking'] }, email: { type: ['string', 'null'] } },
  required: ['topic', 'email'],
}
const AGENT = { greeting: 'Hello.', instructions: '[script: booking]', extraction: EXTRACTION }
const WEBHOOK = { url: 'https://hooks.example.com/parley', secret: 'whsec_c2VjcmV0LW9mLXRoZS10ZXN0cy1vZi1jYWxscw==' }

type Delivered = { deliveries: { body: { payload: { voice_session: Record<string, unknown> } } }[] }

/** What a session cost, and each of its turns. */
type Costed = { cost_usd: number; transcript: { role: string; cost_usd: number | null }[] }

const test = useDatabase()

describe('a call of an agent that wants something taken from it', () => {
  const live = useLiveApp(test, { agent: AGENT, document: { webhook: WEBHOOK } })

  it('has it, with a summary, in its end as that is told and in the API', AT_LEISURE, async () => {
    live.simulator.model.scripts.set('booking', BOOKING)
    const ask = {
      when: { kind: 'after-agent', quietMs: 400 },
      does: { kind: 'say', text: 'I want to book a table.' },
    } as const
    live.simulator.carrier.ring({ from: '+12025550123', to: NUMBER, caller: { steps: [ask] }, ...live.urls })
    const told = await until(
      async () => {
        const path = '/webhook-deliveries?event=voice.session.completed'
        const { body } = await live.served.call<Delivered>('acme', 'GET', path)
        return body.deliveries[0]?.body.payload.voice_session
      },
      { what: 'its end to be told', timeoutMs: 60_000, everyMs: 100 },
    )
    const made = {
      ...{ extraction: { topic: 'booking', email: null }, extraction_status: 'filled', extraction_reason: null },
      summary: expect.stringContaining('A rehearsal'),
    }
    expect(told).toMatchObject({ ...made, end_reason: 'agent_hangup', qa_status: 'scored' })
    const { body } = await live.served.call('acme', 'GET', `/voice-sessions/${String(told['id'])}`)
    expect(body).toMatchObject({ voice_session: made })
    const { cost_usd: cost, transcript } = (body as { voice_session: Costed }).voice_session
    expect(cost).toBeGreaterThan(0)
    const agents = transcript.filter(({ role }) => role === 'agent').map(({ cost_usd }) => cost_usd ?? 0)
    expect(Math.min(...agents)).toBeGreaterThan(0)
    expect(agents.reduce((sum, each) => sum + each, 0)).toBeCloseTo(cost, 5)
    const logs = await live.served.call('acme', 'GET', '/call-logs')
    expect(logs.body).toMatchObject({ call_logs: [{ summary: made.summary, cost_usd: cost }] })
  })
})
