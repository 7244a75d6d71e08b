import { describe, expect, it } from 'vitest'
import { useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { passing } from './harness/passing.ts'
import { ACCOUNT } from './harness/served-app.ts'

const CALL = { sid: 'CA1', from: '', to: '', duration: null, answered_by: null }

describe('a call that its carrier does not end when it is asked to', () => {
  const test = useDatabase()
  const app = useCallApp(test)
  const carrier = { takesEnds: false }

  const asked = (method: string) => app.rest.requests.filter((request) => request.method === method).length
  const log = () => test.db.selectFrom('call_logs').selectAll().executeTakeFirstOrThrow()
  const session = () => test.db.selectFrom('voice_sessions').selectAll().executeTakeFirstOrThrow()

  /** A supervisor has ended it, and the carrier has answered each of three requests with a 500. */
  async function endedInVain() {
    carrier.takesEnds = false
    app.rest.reply = ({ method }) => {
      if (method === 'GET') return { status: 200, body: { ...CALL, status: 'in-progress' } }
      return carrier.takesEnds ? { status: 200, body: CALL } : { status: 500, body: {} }
    }
    await app.talk({ CallSid: 'CA1' })
    const end = { action: 'end_call', supervisor: 'ann' }
    const acted = app.served.call('acme', 'POST', '/sessions/MZCA1/actions', end)
    const isTried = () => asked('POST') === 3 && !app.rest.isAsked
    await passing(app.clock, isTried, { what: 'the third request to end the call', isBusy: () => app.rest.isAsked })
    const answer = await acted
    await app.pass(async () => (await session()).ended_at, 'the end of the session')
    return answer
  }

  it('stays open though its session has ended, is asked for, hung up again, and is over then', async () => {
    await endedInVain()
    expect([(await session()).end_reason, (await log()).status]).toEqual(['supervisor', 'in-progress'])
    carrier.takesEnds = true
    await app.pass(async () => (await log()).status === 'completed', 'the call to be over')
    expect([asked('POST'), asked('GET')]).toEqual([4, 1])
    expect((await log()).ended_at).not.toBeNull()
  })

  it('is a 502 to the supervisor who ends it, whose action is kept', async () => {
    expect(await endedInVain()).toMatchObject({ status: 502, body: { ok: false, code: 'upstream_failed' } })
    const { actions } = await app.served.administer<{ actions: unknown[] }>('GET', '/supervisor-actions')
    expect(actions).toMatchObject([{ action: 'end_call', call_sid: 'CA1', supervisor: 'ann' }])
  })

  it('is a 200 to the supervisor while the carrier takes its time', async () => {
    await app.talk({ CallSid: 'CA1' })
    app.rest.reply = () => new Promise(() => {})
    let status = 0
    void app.served.call('acme', 'POST', '/sessions/MZCA1/actions', { action: 'end_call' }).then((answer) => {
      status = answer.status
    })
    await app.pass(() => status !== 0, 'the answer')
    expect(status).toBe(200)
  })

  it('is over as soon as the carrier tells so, and is not asked for any more', async () => {
    await endedInVain()
    const before = asked('GET')
    const form = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, CallStatus: 'completed', CallDuration: '42' }
    expect((await app.post('/api/v1/call-status', { form })).status).toBe(200)
    expect(await log()).toMatchObject({ status: 'completed', duration_seconds: 42 })
    await app.clock.advance(20_000)
    expect([asked('POST'), asked('GET')]).toEqual([3, before])
  })
})
