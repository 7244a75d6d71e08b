import { describe, expect, it } from 'vitest'
import { useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { ACCOUNT } from './harness/served-app.ts'
import { startTalking } from './harness/talking-calls.ts'

const TARGET = '+12025550103'
const FALLBACK = '+12025550177'
/** Somebody is rung for so long, and a little longer. */
const RUNG_MS = 40_000

describe('a call that was taken to be put through, as its carrier told nothing for so long', () => {
  const test = useDatabase()
  const app = useCallApp(test)

  const session = () => test.db.selectFrom('voice_sessions').select('end_reason').executeTakeFirstOrThrow()

  async function leaves(telephony: Record<string, string>): Promise<void> {
    const account = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token }
    const document = { tenant_id: 'acme', transfer_targets: [TARGET], telephony: { ...account, ...telephony } }
    await app.served.administer('PUT', '/tenants/acme', document)
    const [call] = await startTalking(app, ['CA1'])
    const body = { action: 'transfer', target: TARGET }
    expect((await app.served.call('acme', 'POST', '/sessions/MZCA1/actions', body)).status).toBe(200)
    call?.client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    await call?.client.heard()
    // Most of the time that its carrier is given goes by at once: step by step it takes a busy machine as long as is waited for.
    await app.clock.advance(RUNG_MS)
    expect(await app.pass(async () => (await session()).end_reason, 'the end to be written')).toBe('transferred')
  }

  async function told(DialCallStatus: string): Promise<string> {
    const form = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, CallStatus: 'in-progress', DialCallStatus }
    return (await app.post('/api/v1/call-resume', { form })).text
  }

  it('hears so, and goes to the fallback number, where nobody has answered after all', async () => {
    await leaves({ fallback_number: FALLBACK })
    const text = await told('no-answer')
    expect(text).toMatch(/<Say>[^<]*sorry[^<]*<\/Say><Dial[^>]*>/)
    expect(text).toContain(FALLBACK)
    expect(await told('completed')).toMatch(/<Response><Hangup\/><\/Response>$/)
  })

  it('hears so, too, where there is no such number', async () => {
    await leaves({})
    expect(await told('busy')).toMatch(/<Response><Say>[^<]*sorry[^<]*<\/Say><Hangup\/><\/Response>$/)
  })

  it('is over where they had answered, and where its carrier does not say what came of it', async () => {
    await leaves({ fallback_number: FALLBACK })
    expect(await told('')).toMatch(/<Response><Hangup\/><\/Response>$/)
    expect(await told('completed')).toMatch(/<Response><Hangup\/><\/Response>$/)
  })
})
