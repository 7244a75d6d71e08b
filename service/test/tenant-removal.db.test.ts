import { describe, expect, it } from 'vitest'
import { CALLER, NUMBER, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { ACCOUNT } from './harness/served-app.ts'

const test = useDatabase()
const app = useCallApp(test)

const remove = (query = '') => app.served.administer('DELETE', `/tenants/acme${query}`)

const read = () => app.served.administer('GET', '/tenants/acme')

/** What the carrier says when a call is over. */
const tellEnd = (CallSid: string) =>
  app.post('/api/v1/call-status', {
    form: { CallSid, AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER, CallStatus: 'completed' },
  })

describe('a tenant with a live call', () => {
  it('is not deleted, until the call is over', async () => {
    await app.talk({ CallSid: 'CA1' })
    await expect(remove()).rejects.toThrow(/409.*a live call.*force=true/)
    await expect(remove('?force=false')).rejects.toThrow('409')
    await expect(remove('?force=maybe')).rejects.toThrow('400')
    expect(await read()).toMatchObject({ tenant_id: 'acme' })
    await tellEnd('CA1')
    const ended = () => test.db.selectFrom('voice_sessions').select('id').where('ended_at', 'is not', null).execute()
    await app.pass(async () => (await ended()).length === 1, 'the end to be written down')
    expect(await remove()).toEqual({ ok: true, tenant_id: 'acme' })
  })

  it('is not deleted while one rings, either', async () => {
    await app.ring()
    await expect(remove()).rejects.toThrow('409')
  })

  it('is deleted by force: the agent is cut short and the carrier is told to end the call', async () => {
    const client = await app.talk({ CallSid: 'CA1' })
    await app.ring({ CallSid: 'CA2' })
    let done: unknown = null
    void remove('?force=true').then(
      (answer) => {
        done = answer
      },
      (error: unknown) => {
        done = error
      },
    )
    await app.pass(() => done, 'the tenant to be deleted')
    expect(done).toEqual({ ok: true, tenant_id: 'acme' })
    for (const sid of ['CA1', 'CA2']) {
      const ending = app.rest.requests.filter(({ path, form }) => path.includes(sid) && form['Status'] === 'completed')
      expect([sid, ending.length > 0]).toEqual([sid, true])
    }
    await expect(read()).rejects.toThrow('404')
    await app.pass(() => client.closeCode, 'the end of the stream')
    expect((await app.post('/api/v1/incoming-call', { form: { AccountSid: ACCOUNT.sid, To: NUMBER } })).status).toBe(
      401,
    )
  })

  it('is deleted by force at once where the page of its call from a browser never came', async () => {
    await app.served.call('acme', 'POST', '/browser-calls', { agent_key: 'desk' })
    await expect(remove()).rejects.toThrow('409')
    expect(await remove('?force=true')).toEqual({ ok: true, tenant_id: 'acme' })
  })

  it('is unknown by force, too, when there is none', async () => {
    await expect(app.served.administer('DELETE', '/tenants/nobody?force=true')).rejects.toThrow('404')
  })
})
