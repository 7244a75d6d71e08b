import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SimulatedCall } from '../../simulator/src/carrier/simulated-call.ts'
import type { Script } from '../../simulator/src/model/script.ts'
import { chooseShare } from '../src/agents/rollout-shares.ts'
import { systemClock } from '../src/kernel/clock.ts'
import type { AgentVersionId } from '../src/kernel/ids.ts'
import { tenantTold } from '../src/records/calls.fixture.ts'
import { endedCall } from '../src/records/evaluations/evaluations.fixture.ts'
import { TestClock } from './harness/clock.ts'
import { useDatabase } from './harness/database.ts'
import { type LiveApp, NUMBER, useLiveApp } from './harness/live-app.ts'
import { until } from './harness/wait.ts'

/** Calls pass in real time, on a machine that does much else. */
const AT_LEISURE = { timeout: 120_000 }
const SHARE = 30
const SECOND_MS = 1_000

const POLITE: Script = {
  rules: [
    { when: { greeting: true }, say: 'Hello, how can I help you?' },
    { when: { turn: 1 }, say: 'Yes, until six. Goodbye.', end: true },
  ],
}
const RUDE: Script = {
  rules: [
    { when: { greeting: true }, say: 'What do you want?' },
    { when: { turn: 1 }, say: 'I do not care. Go away.', end: true },
  ],
}
const PUBLISHED = { agent_name: 'Robin', greeting: 'Hello.', instructions: '[script: polite]' }

type Evaluated = { evaluations: { source: string; score: number; voice_session_id: string }[]; count: number }
type Swept = { result: { items: { status: string; applied: boolean; reasons: string[] }[]; rollbacks_applied: number } }

const test = useDatabase()

/** An agent whose second version, a rude one, answers 30 % of its calls and is judged by twenty. */
function useRollout(live: LiveApp) {
  const ids = { agent: '', second: '' }
  const calls: SimulatedCall[] = []
  beforeEach(async () => {
    const { served, simulator } = live
    simulator.model.scripts.set('polite', POLITE)
    simulator.model.scripts.set('rude', RUDE)
    const { agents } = await served.administer<{ agents: { id: string }[] }>('GET', '/tenants/acme/agents')
    ids.agent = agents[0]?.id ?? ''
    const config = { agent_name: 'Robin', greeting: 'Hello.', instructions: '[script: rude]' }
    const draft = { agent_id: ids.agent, config }
    const made = await served.administer<{ version: { id: string } }>('POST', '/tenants/acme/agent-versions', draft)
    ids.second = made.version.id
    const entries = [{ agent_version_id: ids.second, traffic_percentage: SHARE }]
    await served.administer('PUT', `/tenants/acme/agents/${ids.agent}/rollouts`, { entries })
    await served.administer('PUT', `/tenants/acme/agents/${ids.agent}/rollout-policy`, { enabled: true })
  })
  afterEach(() => {
    for (const call of calls.splice(0)) call.hangUp()
  })

  /** Numbers whose calls the second version answers, or the published one. */
  function callersOf(isSecond: boolean, count: number): string[] {
    const numbers = Array.from({ length: 200 }, (_, index) => `+1202555${1_000 + index}`)
    const share = [{ percentage: SHARE, startsAt: null }]
    return numbers
      .filter((caller) => (chooseShare(share, { agentId: ids.agent, caller }) !== null) === isSecond)
      .slice(0, count)
  }

  function ring(from: string): SimulatedCall {
    const ask = {
      when: { kind: 'after-agent', quietMs: 400 },
      does: { kind: 'say', text: 'Are you open today?' },
    } as const
    const call = live.simulator.carrier.ring({ from, to: NUMBER, caller: { steps: [ask] }, ...live.urls })
    calls.push(call)
    return call
  }

  return {
    ...{ ids, callersOf, ring },
    /** Calls that a person has listened to, each of which that found bad. */
    async listenedTo(count: number): Promise<void> {
      // They are of a node that lives, so that nobody takes them from it.
      const { node_id: nodeId } = await test.db.selectFrom('nodes').select('node_id').executeTakeFirstOrThrow()
      const clock = new TestClock(systemClock.now() - count * SECOND_MS)
      const versionId = ids.second as AgentVersionId
      const agent = { agentKey: 'desk', agentName: 'Robin', versionId, versionNumber: 2 }
      for (let made = 0; made < count; made += 1) {
        const told = { tenant: tenantTold('acme', null), facts: { agent }, lastsMs: SECOND_MS, nodeId }
        const id = await endedCall(test.db, clock, `CAheard${made}`, told)
        const { status } = await live.served.call('acme', 'POST', `/voice-sessions/${id}/evaluations`, { score: 0.2 })
        expect(status).toBe(200)
      }
    },
    scoredByModel: (versionId: string, count: number) =>
      until(
        async () => {
          const path = `/evaluations?source=model&agent_version_id=${versionId}`
          const { body } = await live.served.call<Evaluated>('acme', 'GET', path)
          return body.count >= count ? body.evaluations : null
        },
        { what: 'calls to be scored', timeoutMs: 60_000, everyMs: 100 },
      ),
    async sweep() {
      const { result } = await live.served.administer<Swept>('POST', '/rollout-governance/sweep', { apply: true })
      return result
    },
    async shares(): Promise<number[]> {
      type Shares = { rollouts: { traffic_percentage: number }[] }
      const path = `/tenants/acme/agents/${ids.agent}/rollouts`
      const { rollouts } = await live.served.administer<Shares>('GET', path)
      return rollouts.map(({ traffic_percentage }) => traffic_percentage)
    },
  }
}

describe('a version that speaks badly', () => {
  const live = useLiveApp(test, { agent: PUBLISHED })
  const rollout = useRollout(live)

  it(
    'is scored by what it said, left alone with 19 of 20 scores, and taken out by the sweep with 20',
    AT_LEISURE,
    async () => {
      const [first = '', second = '', third = '', last = ''] = rollout.callersOf(true, 4)
      for (const caller of [first, second, third, ...rollout.callersOf(false, 1)]) rollout.ring(caller)
      await rollout.listenedTo(16)
      // The model has scored those that a person has listened to as well; the person counts.
      const rude = await rollout.scoredByModel(rollout.ids.second, 16 + 3)
      expect(rude.filter(({ score }) => score < 0.7)).toHaveLength(3)
      expect(await rollout.sweep()).toMatchObject({
        rollbacks_applied: 0,
        items: [{ status: 'insufficient_data', reasons: [expect.stringContaining('has 19 of the 20 scored calls')] }],
      })
      expect(await rollout.shares()).toEqual([SHARE])

      rollout.ring(last)
      await rollout.scoredByModel(rollout.ids.second, 16 + 4)
      const swept = await rollout.sweep()
      expect(swept).toMatchObject({ rollbacks_applied: 1, items: [{ status: 'rolled_back', applied: true }] })
      expect(swept.items[0]?.reasons.at(-1)).toBe('The share of version 2, 30%, went to the published version 1.')
      expect(await rollout.shares()).toEqual([])

      const answeredBy = async () => {
        const { sid } = rollout.ring(last)
        const log = await until(
          async () => {
            const path = `/call-logs/${sid}`
            const { status, body } = await live.served.call<{ call_log: { version_number: number } }>(
              'acme',
              'GET',
              path,
            )
            return status === 200 ? body.call_log : null
          },
          { what: 'the call to be answered' },
        )
        return log.version_number
      }
      // What is known of a rollout is a second old at most.
      await until(async () => (await answeredBy()) === 1, { what: 'the published version to answer', everyMs: 500 })
      expect(live.served.logLines().filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
    },
  )
})

describe('while the chat model is down', () => {
  const live = useLiveApp(test, { agent: PUBLISHED, settings: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' } })
  const rollout = useRollout(live)

  it('nothing is scored, whatever was said, and nothing acts', AT_LEISURE, async () => {
    for (const caller of rollout.callersOf(true, 2)) rollout.ring(caller)
    const heuristics = async () => {
      const { body } = await live.served.call<Evaluated>('acme', 'GET', '/evaluations')
      return body.count === 2 ? body.evaluations : null
    }
    const found = await until(heuristics, { what: 'what the records say', timeoutMs: 60_000, everyMs: 100 })
    expect(found.map(({ source }) => source)).toEqual(['heuristic', 'heuristic'])
    const refused = () => live.served.logLines().some(({ msg }) => msg.includes('the chat model does not answer'))
    await until(refused, { what: 'the model to be asked' })
    expect(await rollout.sweep()).toMatchObject({ rollbacks_applied: 0, items: [{ status: 'insufficient_data' }] })
    expect(await rollout.shares()).toEqual([SHARE])
    for (const { voice_session_id: id } of found) {
      const { body } = await live.served.call('acme', 'GET', `/voice-sessions/${id}`)
      expect(body).toMatchObject({ voice_session: { qa: null, qa_status: 'pending' } })
      expect((await live.served.call('acme', 'POST', `/voice-sessions/${id}/evaluations`, {})).status).toBe(503)
    }
  })
})
