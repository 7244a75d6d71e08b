import { describe, expect, inject, it } from 'vitest'
import { CALLER, NUMBER, useCallApp } from '../test/harness/call-app.ts'
import { useDatabase } from '../test/harness/database.ts'
import { ACCOUNT } from '../test/harness/served-app.ts'
import { forgetAcrossTenants } from './forget-store.ts'

const test = useDatabase()
const app = useCallApp(test)

const TABLES = ['call_logs', 'voice_sessions', 'call_directory', 'webhook_outbox', 'audit_log'] as const

async function counts(): Promise<number[]> {
  return Promise.all(TABLES.map(async (table) => (await test.db.selectFrom(table).selectAll().execute()).length))
}

/** Where it is done there is one connection; with more it would get into the way of what writes meanwhile. */
describe.runIf(inject('databaseTemplate').kind === 'embedded')('forgetting', () => {
  it('leaves nothing of a call that is over, and all of one that is not', async () => {
    await app.talk({ CallSid: 'CA1' })
    await app.ring({ CallSid: 'CA2' })
    const form = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER, CallStatus: 'completed' }
    await app.post('/api/v1/call-status', { form })
    const ended = () => test.db.selectFrom('call_logs').select('call_sid').where('ended_at', 'is not', null).execute()
    await app.pass(async () => (await ended()).length === 1, 'the end to be written down')
    const later = new Date(app.clock.now() + 1_000)
    await forgetAcrossTenants(test.db, { overSince: later, writtenSince: later })
    expect(await counts()).toEqual([1, 1, 1, 0, 0])
    const left = await test.db.selectFrom('voice_sessions').select('call_sid').execute()
    expect(left).toEqual([{ call_sid: 'CA2' }])
  })
})
