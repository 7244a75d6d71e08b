import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { answeringMachine, type CallerScript, listener } from '../../simulator/src/carrier/caller-script.ts'
import type { SimulatedCall } from '../../simulator/src/carrier/simulated-call.ts'
import { useDatabase } from './harness/database.ts'
import { NUMBER, useLiveApp } from './harness/live-app.ts'
import { until } from './harness/wait.ts'

const CALLEE = '+12025550123'
/** A call passes at its own pace: with a message on a machine it takes nine seconds where nothing else is done. */
const OVER_WITHIN_MS = 50_000
const MESSAGE = 'This is Robin from Acme. Please call us back.'
/** A second of a machine's tone. */
const BEEP = Uint8Array.from({ length: 8_000 }, (_, i) => (i % 16 < 8 ? 0x9f : 0x1f))

type Shown = Record<string, unknown>

describe('an outbound call', () => {
  const test = useDatabase()
  const live = useLiveApp(test, { agent: { agent_name: 'Robin', greeting: 'Hello, this is Robin.' } })
  const calls: SimulatedCall[] = []
  beforeAll(() => {
    live.simulator.carrier.faults.rest.listLagMs = 0
    live.simulator.carrier.watch((call) => calls.push(call))
  })
  beforeEach(() => {
    calls.length = 0
    live.simulator.model.scripts.setDefault(null)
  })

  /** Places a call to somebody who answers like this. */
  async function place(script: CallerScript, body: Shown = {}): Promise<SimulatedCall> {
    live.simulator.carrier.subscribe(CALLEE, script)
    const request = { to: CALLEE, from: NUMBER, agent_key: 'desk', ...body }
    const answer = await live.served.call('acme', 'POST', '/make-call', request)
    expect(answer).toMatchObject({ status: 200, body: { ok: true, status: 'queued', to: CALLEE, from: NUMBER } })
    return until(() => calls.find(({ sid }) => sid === answer.body['call_sid']), { what: 'the call' })
  }

  /** What remains of a call once its end was written down. */
  async function recordOf(sid: string): Promise<{ log: Shown; session: Shown }> {
    return until(
      async () => {
        const { body } = await live.served.call<{ call_log: Shown }>('acme', 'GET', `/call-logs/${sid}`)
        const id = String(body.call_log['voice_session_id'])
        const path = `/voice-sessions/${id}`
        const session = (await live.served.call<{ voice_session: Shown }>('acme', 'GET', path)).body.voice_session
        const isDone = body.call_log['status'] === 'completed' && session['ended_at'] !== null
        return isDone ? { log: body.call_log, session } : null
      },
      { what: 'the end of the call to be written down', timeoutMs: OVER_WITHIN_MS },
    )
  }

  it('is answered, hears the greeting that was asked for, and is kept', async () => {
    const call = await place(listener('Hello?'), {
      greeting: 'Good morning, your chair is ready.',
      metadata: { order: 7 },
      org_id: 'org-9',
    })
    await call.until(({ kind }) => kind === 'agent-ended', 30_000)
    call.hangUp()
    const { log, session } = await recordOf(call.sid)
    expect(log).toMatchObject({
      ...{
        direction: 'outbound',
        from: NUMBER,
        to: CALLEE,
        agent_key: 'desk',
        org_id: 'org-9',
        metadata: { order: 7 },
      },
      ...{ error_code: null, status: 'completed' },
    })
    expect(session).toMatchObject({ direction: 'outbound', call_sid: call.sid, end_reason: 'caller_hangup' })
    const transcript = session['transcript'] as { role: string; text: string }[]
    expect(transcript).toContainEqual(
      expect.objectContaining({ role: 'agent', text: expect.stringContaining('Good morning, your chair is ready') }),
    )
    expect(live.served.logLines().filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
    expect(call.notifications).toEqual([])
  })

  it('that a machine takes ends at once', async () => {
    const call = await place(
      answeringMachine(
        'You have reached nobody. Please leave a message after the tone, and we will call you back as soon as we can.',
        BEEP,
      ),
    )
    const { log, session } = await recordOf(call.sid)
    expect(log).toMatchObject({ answered_by: 'machine_start' })
    expect(session).toMatchObject({ end_reason: 'voicemail' })
  })

  it('that a machine takes leaves the message, once it can be left', async () => {
    const { agents } = await live.served.administer<{ agents: { id: string }[] }>('GET', '/tenants/acme/agents')
    const voicemail = { action: 'leave_message', message: MESSAGE }
    await live.served.publish('acme', String(agents[0]?.id), { agent_name: 'Robin', greeting: 'Hello.', voicemail })
    const call = await place(answeringMachine('You have reached nobody. Please leave a message.', BEEP))
    const { log, session } = await recordOf(call.sid)
    expect(log).toMatchObject({ answered_by: 'machine_end_beep' })
    expect(session).toMatchObject({ end_reason: 'voicemail' })
    const transcript = session['transcript'] as { role: string; text: string; interrupted: boolean }[]
    const said = transcript.filter(({ role }) => role === 'agent').at(-1)
    expect(said).toMatchObject({ text: expect.stringContaining('Please call us back'), interrupted: false })
  })

  it('that nobody takes is told to have failed, and has no session left open', async () => {
    const call = await place({ whenRung: 'busy', steps: [] })
    const log = await until(
      async () => {
        const { body } = await live.served.call<{ call_log: Shown }>('acme', 'GET', `/call-logs/${call.sid}`)
        return body.call_log['status'] === 'busy' ? body.call_log : null
      },
      { what: 'the end of the call' },
    )
    const [session] = await test.db.selectFrom('voice_sessions').selectAll().execute()
    expect(session).toMatchObject({ id: log['voice_session_id'], end_reason: 'rejected', direction: 'outbound' })
  })
})
