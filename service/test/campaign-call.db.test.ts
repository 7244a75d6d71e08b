import { beforeAll, describe, expect, it } from 'vitest'
import { answeringMachine, listener } from '../../simulator/src/carrier/caller-script.ts'
import type { SimulatedCall } from '../../simulator/src/carrier/simulated-call.ts'
import { useDatabase } from './harness/database.ts'
import { NUMBER, useLiveApp } from './harness/live-app.ts'
import { until } from './harness/wait.ts'

const PERSON = '+12025550171'
const MACHINE = '+12025550172'
const MESSAGE = 'This is Robin from Acme. Please call us back.'
/** A second of a machine's tone. */
const BEEP = Uint8Array.from({ length: 8_000 }, (_, i) => (i % 16 < 8 ? 0x9f : 0x1f))

describe('a campaign on the simulator', () => {
  const test = useDatabase()
  const live = useLiveApp(test, {
    agent: {
      agent_name: 'Robin',
      greeting: 'Hello, this is Robin.',
      voicemail: { action: 'leave_message', message: MESSAGE },
    },
    document: { compliance: { calling_hours: { start: '00:00', end: '24:00' } } },
  })
  const calls: SimulatedCall[] = []
  beforeAll(() => {
    live.simulator.carrier.faults.rest.listLagMs = 0
    live.simulator.carrier.watch((call) => calls.push(call))
  })

  it('talks to a person, and leaves a machine its message', { timeout: 120_000 }, async () => {
    const { served, simulator } = live
    simulator.carrier.subscribe(PERSON, listener('Hello?'))
    simulator.carrier.subscribe(MACHINE, answeringMachine('Please leave a message after the tone.', BEEP))
    const contacts = [{ phone: PERSON }, { phone: MACHINE }]
    const wanted = { name: 'Spring', agent_key: 'desk', from: NUMBER, contacts, on_machine: 'leave_message' }
    const made = await served.call<{ campaign: { id: string } }>('acme', 'POST', '/campaigns', wanted)
    const path = `/campaigns/${made.body.campaign.id}`
    expect(await served.call('acme', 'POST', `${path}/start`)).toMatchObject({ status: 200 })
    const person = await until(() => calls.find(({ to }) => to === PERSON), { what: 'the call to a person' })
    await person.until(({ kind }) => kind === 'agent-ended', 30_000)
    person.hangUp()
    await until(
      async () => {
        const { body } = await served.call<{ campaign: { status: string } }>('acme', 'GET', path)
        return body.campaign.status === 'completed'
      },
      { what: 'the end of the campaign', timeoutMs: 60_000 },
    )
    const { body } = await served.call<{ calls: { phone: string }[] }>('acme', 'GET', `${path}/calls`)
    expect(body.calls.toSorted((a, b) => (a.phone < b.phone ? -1 : 1))).toMatchObject([
      { phone: PERSON, status: 'completed', outcome: 'reached', attempts: 1, call_status: 'completed' },
      { phone: MACHINE, status: 'completed', outcome: 'message_left', attempts: 1 },
    ])
    const logs = await served.call<{ call_logs: object[] }>('acme', 'GET', '/call-logs')
    expect(logs.body.call_logs).toMatchObject([
      { campaign_id: made.body.campaign.id },
      { campaign_id: made.body.campaign.id },
    ])
  })
})
