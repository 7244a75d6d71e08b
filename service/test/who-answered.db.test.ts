import { beforeEach, describe, expect, it } from 'vitest'
import type { SimulatedCall } from '../../simulator/src/carrier/simulated-call.ts'
import { callerOf } from '../../simulator/src/scenario/caller-of.ts'
import { readScenario } from '../../simulator/src/scenario/read-scenario.ts'
import { useDatabase } from './harness/database.ts'
import { NUMBER, useLiveApp } from './harness/live-app.ts'
import { onOneDatabase } from './harness/once.ts'
import { until } from './harness/wait.ts'

const SCENARIOS = ['mailbox-undetected', 'call-screening', 'phone-menu', 'fax', 'person-with-much-to-say'] as const
type Name = (typeof SCENARIOS)[number]

const MESSAGE = 'This is Robin from Acme. Please call us back.'
const AGENT = {
  ...{ agent_name: 'Robin', greeting: 'Hello, this is Robin from Acme.', tools: ['send_dtmf', 'end_call'] },
  voicemail: { action: 'leave_message', message: MESSAGE },
}

type Shown = Record<string, unknown>
type Placed = {
  call: SimulatedCall
  log: Shown
  said: { role: string; text: string; interrupted: boolean }[]
  end: unknown
}

describe('who answers a call that was placed', () => {
  const test = useDatabase()
  const live = useLiveApp(test, { agent: AGENT })
  const calls: SimulatedCall[] = []
  beforeEach(() => {
    calls.length = 0
    live.simulator.carrier.faults.rest.listLagMs = 0
  })

  const numberOf = (name: Name) => `+1202555016${SCENARIOS.indexOf(name)}`

  /** All of them answer at numbers of their own, and one brain has the words for each. */
  async function furnish(): Promise<void> {
    const scenarios = await Promise.all(
      SCENARIOS.map((name) => readScenario(`${import.meta.dirname}/../../simulator/scenarios/${name}.yaml`)),
    )
    for (const [at, scenario] of scenarios.entries()) {
      live.simulator.carrier.subscribe(numberOf(SCENARIOS[at] as Name), callerOf(scenario.caller))
    }
    const rules = scenarios.flatMap(({ agent }) => agent?.rules.filter(({ when }) => when?.says !== undefined) ?? [])
    live.simulator.model.scripts.setDefault({ name: 'who answers', rules })
  }

  async function place(name: Name): Promise<Placed> {
    const request = { to: numberOf(name), from: NUMBER, agent_key: 'desk' }
    const { body } = await live.served.call<Shown>('acme', 'POST', '/make-call', request)
    const call = await until(() => calls.find(({ sid }) => sid === body['call_sid']), { what: `the call to ${name}` })
    const log = await until(
      async () => {
        const told = await live.served.call<{ call_log: Shown }>('acme', 'GET', `/call-logs/${call.sid}`)
        if (told.status !== 200) throw new Error(`the call to ${name} is not shown: ${JSON.stringify(told)}`)
        return told.body.call_log['status'] === 'completed' ? told.body.call_log : null
      },
      { what: `the end of the call to ${name}`, timeoutMs: 90_000 },
    )
    const path = `/voice-sessions/${String(log['voice_session_id'])}`
    const session = await until(
      async () => {
        const told = await live.served.call<{ voice_session: Shown }>('acme', 'GET', path)
        return told.body.voice_session['ended_at'] === null ? null : told.body.voice_session
      },
      { what: `the end of the session of ${name}` },
    )
    return { call, log, said: session['transcript'] as Placed['said'], end: session['end_reason'] }
  }

  it.runIf(onOneDatabase())(
    'is found out beside the carrier, acted upon, and written down',
    { timeout: 150_000 },
    async () => {
      await furnish()
      live.simulator.carrier.watch((call) => calls.push(call))
      const placed = await Promise.all(SCENARIOS.map(place))
      const of = (name: Name) => placed[SCENARIOS.indexOf(name)] as Placed
      const who = ({ log, end }: Placed) => [log['answered_by'], log['answered_by_source'], end]
      const agents = ({ said }: Placed) => said.filter(({ role }) => role === 'agent')

      const mailbox = of('mailbox-undetected')
      expect([mailbox.log['answered_by'], mailbox.end]).toEqual(['machine_end_beep', 'voicemail'])
      // Whichever is there first: what it said, or its beep.
      expect(['words', 'tone']).toContain(mailbox.log['answered_by_source'])
      expect(agents(mailbox).at(-1)).toMatchObject({
        text: expect.stringContaining('Please call us back'),
        interrupted: false,
      })
      const { events } = mailbox.call
      const beepAt = events.findLastIndex((event) => event.kind === 'caller-began' && event.text === null)
      const endOfBeep = events.findIndex((event, at) => at > beepAt && event.kind === 'caller-ended')
      const message = events.findLastIndex((event) => event.kind === 'agent-began')
      expect([beepAt > 0, message > endOfBeep]).toEqual([true, true])

      const screened = of('call-screening')
      expect(who(screened)).toEqual(['human', 'words', 'caller_hangup'])
      expect(
        agents(screened)
          .map(({ text }) => text)
          .join(' '),
      ).toMatch(/about the chair that was ordered.*Good morning Ada/)

      const menu = of('phone-menu')
      expect(who(menu)).toEqual(['ivr', 'words', 'caller_hangup'])
      // The key that the menu asked for, in its tones, at its own end of the line; then a person was behind it.
      expect(menu.call.events.flatMap((event) => (event.kind === 'heard-key' ? [event.key] : []))).toEqual(['2'])
      expect(
        agents(menu)
          .slice(1)
          .map(({ text }) => text),
      ).toEqual(['Good morning Ada, your chair is ready.'])

      expect(who(of('fax'))).toEqual(['fax', 'tone', 'voicemail'])

      const person = of('person-with-much-to-say')
      expect([person.log['answered_by'], person.end]).toEqual(['human', 'caller_hangup'])
      expect(
        agents(person)
          .map(({ text }) => text)
          .join(' '),
      ).toContain('his chair is ready')
    },
  )
})
