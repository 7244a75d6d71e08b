import { describe, expect, it } from 'vitest'
import { CALLER, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { ACCOUNT } from './harness/served-app.ts'

type Checked = { allowed: boolean; refusals: { code: string }[] }

describe('the dial gate of the whole service', () => {
  const app = useCallApp(useDatabase(), { document: { limits: { max_concurrent_calls: 1 } } })

  const ask = async (to: string) => {
    const { status, body } = await app.served.call<Checked>('acme', 'POST', '/dial-check', { to })
    return [status, body.allowed, ...body.refusals.map(({ code }) => code)]
  }

  it('knows the list from the next question on', async () => {
    expect(await ask(CALLER)).toEqual([200, true])
    expect(await app.served.call('acme', 'POST', '/dnc', { phone: CALLER })).toMatchObject({ status: 200 })
    expect(await app.served.call('acme', 'GET', '/dnc')).toMatchObject({ status: 200, body: { count: 1 } })
    expect(await ask(CALLER)).toEqual([200, false, 'dnc_listed'])
    expect(await app.served.call('acme', 'DELETE', `/dnc/${CALLER}`)).toMatchObject({ status: 200 })
    expect(await ask(CALLER)).toEqual([200, true])
  })

  it('takes whole lists as they come', async () => {
    const headers = { 'content-type': 'text/csv', authorization: `Bearer ${app.served.tokenOf('acme')}` }
    const pieces = ['phone,rea', `son\n${CALLER},"Wrote`, ' a letter"', '\n1,x\n'].map((text) => Buffer.from(text))
    const body = new ReadableStream({
      pull(to) {
        const next = pieces.shift()
        if (next) to.enqueue(next)
        else to.close()
      },
    })
    const url = `${app.served.address}/api/v1/dnc/import`
    const response = await fetch(url, { method: 'POST', headers, body, duplex: 'half' })
    expect([response.status, await response.json()]).toMatchObject([200, { imported: 1, errors: [{ line: 3 }] }])
    expect(await ask(CALLER)).toEqual([200, false, 'dnc_listed'])
    await app.served.call('acme', 'DELETE', `/dnc/${CALLER}`)
  })

  it('counts a call that comes in until it is over', async () => {
    await app.ring({ CallSid: 'CA1' })
    expect(await ask(CALLER)).toEqual([200, false, 'tenant_busy'])
    await app.post('/api/v1/call-status', {
      form: { CallSid: 'CA1', AccountSid: ACCOUNT.sid, CallStatus: 'completed' },
    })
    expect(await ask(CALLER)).toEqual([200, true])
  })
})
