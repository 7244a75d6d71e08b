import { beforeEach, describe, expect, inject, it } from 'vitest'
import { streamTokenIn, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { ScriptedModel } from './harness/scripted-model.ts'
import { ACCOUNT, ServedApp } from './harness/served-app.ts'
import { StreamClient } from './harness/stream-client.ts'
import { until } from './harness/wait.ts'

const TRY_AGAIN = 1013
const FALLBACK = '+12025550150'

// An embedded database has no other node: where a call was taken it has its place.
describe.runIf(inject('databaseTemplate').kind === 'server')('a call whose stream comes to a node without room', () => {
  const test = useDatabase()
  const app = useCallApp(test)
  let full: ServedApp

  beforeEach(async () => {
    const settings = { TELEPHONY_API_BASE_URL: app.rest.baseUrl, MAX_CALLS: '1' }
    full = await ServedApp.start(test, { clock: app.clock, model: new ScriptedModel(), settings, besides: app.served })
    await streamed('CA9')
    await until(async () => (await log('CA9')).status === 'in-progress', { what: 'the call that takes its room' })
    return async () => {
      let isClosed = false
      void full.app.close().then(() => {
        isClosed = true
      })
      await app.pass(() => isClosed, 'the node to stop')
    }
  })

  async function streamed(callSid: string): Promise<StreamClient> {
    const token = streamTokenIn(await app.ring({ CallSid: callSid }))
    const client = await StreamClient.open(full.address)
    client.start({ callSid, streamSid: `MZ${callSid}`, parameters: { stream_token: token } })
    return client
  }

  async function refused(): Promise<void> {
    const client = await streamed('CA1')
    expect(await client.closed()).toBe(TRY_AGAIN)
  }

  const form = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, CallStatus: 'in-progress' }
  const resume = async (more = {}) => (await app.post('/api/v1/call-resume', { form: { ...form, ...more } })).text
  const log = (callSid: string) =>
    test.db.selectFrom('call_logs').selectAll().where('call_sid', '=', callSid).executeTakeFirstOrThrow()
  const endReason = async () =>
    (await test.db.selectFrom('voice_sessions').selectAll().where('call_sid', '=', 'CA1').executeTakeFirstOrThrow())
      .end_reason

  it('hears that all lines are busy, and is written down so, whatever its carrier tells of the sentence', async () => {
    await refused()
    expect(await resume()).toMatch(/<Say[^>]*>All our lines are busy[^<]*<\/Say><Hangup\/>/)
    const busy = { status: 'busy', error_code: 'process_full' }
    expect([await log('CA1'), await endReason()]).toMatchObject([busy, 'rejected'])
    await app.post('/api/v1/call-status', { form: { ...form, CallStatus: 'completed', CallDuration: '4' } })
    expect(await log('CA1')).toMatchObject(busy)
  })

  it('goes to the fallback number without a word, and was not missed where somebody answers there', async () => {
    const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, fallback_number: FALLBACK }
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony })
    await refused()
    expect(await resume()).toMatch(/<Response><Dial [^>]*action="[^"]+"[^>]*><Number>\+12025550150<\/Number>/)
    expect([(await log('CA1')).status, await endReason()]).toEqual(['busy', 'rejected'])
    expect(await resume({ DialCallStatus: 'completed', DialCallDuration: '9' })).toContain(
      '<Response><Hangup/></Response>',
    )
    expect(await endReason()).toBe('transferred')
  })
})
