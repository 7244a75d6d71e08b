import { describe, expect, it } from 'vitest'
import { CALLER, NUMBER, useCallApp } from '../../test/harness/call-app.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { ACCOUNT } from '../../test/harness/served-app.ts'
import { until } from '../../test/harness/wait.ts'

const FORM = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER, CallStatus: 'ringing' }

describe('POST /api/v1/call-status', () => {
  const test = useDatabase()
  const app = useCallApp(test)
  const STATUS = '/api/v1/call-status'
  const status = async () => (await test.db.selectFrom('call_logs').select('status').executeTakeFirst())?.status

  it("completes the call's log", async () => {
    await app.ring(FORM)
    const form = { ...FORM, CallStatus: 'completed', CallDuration: '7', Timestamp: 'Tue, 01 Jan 2030 00:00:05 +0000' }
    const { status: code, text } = await app.post(STATUS, { form })
    expect([code, JSON.parse(text)]).toEqual([200, { ok: true }])
    expect(await test.db.selectFrom('call_logs').selectAll().executeTakeFirst()).toMatchObject({
      ...{ status: 'completed', duration_seconds: 7 },
    })
  })

  it('ends the session of a call whose stream has not noticed', async () => {
    const client = await app.talk(FORM)
    await app.post(STATUS, { form: { ...FORM, CallStatus: 'completed' } })
    expect(await app.pass(() => client.closeCode, 'the end of the stream')).toBe(1000)
    expect(app.model.last.isClosed).toBe(true)
  })

  it('gives back the room of a call that never got a stream', async () => {
    await app.served.administer('PUT', '/tenants/acme', {
      tenant_id: 'acme',
      telephony: { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token },
      limits: { max_concurrent_calls: 1 },
    })
    await app.ring(FORM)
    expect(await app.ring({ CallSid: 'CA2' })).not.toContain('<Connect>')
    await app.post(STATUS, { form: { ...FORM, CallStatus: 'no-answer' } })
    expect(await app.ring({ CallSid: 'CA3' })).toContain('<Connect>')
  })

  it('takes what is told of a stream, and of calls that are not known, and keeps none of it', async () => {
    await app.ring(FORM)
    const stream = { ...FORM, StreamSid: 'MZ1', StreamEvent: 'stream-stopped', CallStatus: 'completed' }
    expect((await app.post(STATUS, { form: stream })).status).toBe(200)
    expect((await app.post(STATUS, { form: { ...FORM, CallSid: 'CA99', CallStatus: 'completed' } })).status).toBe(200)
    expect(await status()).toBe('ringing')
  })

  it('says in the log why a stream could not be opened, and whose call that was', async () => {
    await app.ring(FORM)
    const StreamError = 'Stream - TLS handshake error (31920)'
    const form = { ...FORM, StreamSid: 'MZ1', StreamEvent: 'stream-error', StreamError }
    expect((await app.post(STATUS, { form, token: 'another-token' })).status).toBe(401)
    expect((await app.post(STATUS, { form: { ...form, StreamEvent: 'stream-started', StreamError: '' } })).status).toBe(
      200,
    )
    expect((await app.post(STATUS, { form })).status).toBe(200)
    expect(app.served.logLines().filter((line) => 'stream_error' in line)).toMatchObject([
      { level: 'warn', tenant_id: 'acme', call_sid: 'CA1', stream_error: StreamError },
    ])
  })

  it('F29: refuses what the carrier of the call did not sign', async () => {
    await app.ring(FORM)
    const telephony = { account_sid: 'AC2', auth_token: 'token-of-the-thief' }
    await app.served.administer('PUT', '/tenants/thief', { tenant_id: 'thief', telephony })
    const form = { ...FORM, CallStatus: 'completed' }
    const codes = [null, 'another-token', 'token-of-the-thief'].map(async (token) => {
      return (await app.post(STATUS, { form: { ...form, AccountSid: 'AC2' }, token })).status
    })
    expect(await Promise.all(codes)).toEqual([401, 401, 401])
    expect(await status()).toBe('ringing')
  })

  it('gives the same call however often and in whatever order it comes', async () => {
    await app.ring(FORM)
    const statuses = ['completed', 'in-progress', 'ringing', 'completed', 'failed']
    for (const CallStatus of statuses) await app.post(STATUS, { form: { ...FORM, CallStatus } })
    expect(await status()).toBe('completed')
  })
})

describe('POST /api/v1/call-resume', () => {
  const test = useDatabase()
  const app = useCallApp(test)
  const RESUME = '/api/v1/call-resume'
  const HANG_UP = '<Response><Hangup/></Response>'

  it('hangs up a call whose conversation is over', async () => {
    const client = await app.talk(FORM)
    client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    await app.pass(() => client.closeCode, 'the end of the stream')
    // Whoever asks before the end is written down waits for that by the clock, which has to go on.
    let next: string | undefined
    void app.post(RESUME, { form: FORM }).then(({ text }) => {
      next = text
    })
    expect(await app.pass(() => next, 'what comes next')).toContain(HANG_UP)
    await until(
      async () => (await test.db.selectFrom('voice_sessions').select('ended_at').executeTakeFirst())?.ended_at,
      { what: 'the end to be written down' },
    )
    expect((await app.post(RESUME, { form: FORM })).text).toContain(HANG_UP)
  })

  it('hangs up a call that is not known', async () => {
    expect((await app.post(RESUME, { form: FORM })).text).toContain(HANG_UP)
  })

  it('tells a caller who never got an agent that it is sorry, and closes the call', async () => {
    await app.ring(FORM)
    const { text } = await app.post(RESUME, { form: FORM })
    expect(text).toMatch(/<Say>[^<]*sorry[^<]*<\/Say><Hangup\/>/)
    expect(await test.db.selectFrom('call_logs').select('status').executeTakeFirst()).toEqual({ status: 'completed' })
    expect((await app.post(RESUME, { form: FORM })).text).toContain(HANG_UP)
  })

  it('connects the fallback number when there is one', async () => {
    await app.ring(FORM)
    const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, fallback_number: '+12025550150' }
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony })
    expect((await app.post(RESUME, { form: FORM })).text).toContain(`<Number>+12025550150</Number>`)
  })

  it('refuses what the carrier did not sign', async () => {
    await app.ring(FORM)
    expect((await app.post(RESUME, { form: FORM, token: null })).status).toBe(401)
    expect((await app.post(RESUME, { form: FORM, token: 'another-token' })).status).toBe(401)
  })
})
