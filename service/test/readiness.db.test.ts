import { afterEach, describe, expect, it } from 'vitest'
import { CALLER, NUMBER, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { refuseRows, refuseTables, takeAgain } from './harness/full-disk.ts'
import { ACCOUNT } from './harness/served-app.ts'

const FALLBACK = '+12025550150'
const document = { telephony: { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, fallback_number: FALLBACK } }
const form = { CallSid: 'CA7', AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER, CallStatus: 'ringing' }

describe('a service whose database answers who reads, and takes no writes', () => {
  const test = useDatabase()
  const app = useCallApp(test, { document })

  afterEach(() => takeAgain(test.db))

  const statusOf = async (path: string) => (await fetch(app.served.address + path)).status
  const isReady = async (status: number) => (await statusOf('/readyz')) === status
  const failures = () => app.served.logLines().filter(({ msg }) => msg === 'check failed')

  const databaseUp = async () =>
    /^database_up (\d)$/m.exec(await (await fetch(`${app.served.address}/metrics`)).text())?.[1]

  it('F59: is not ready while the disk of its database is full, says so in the log, and is ready once there is room', async () => {
    await app.ring()
    await refuseRows(test.db, 'call_logs')
    await refuseTables(test.db)
    const { status, text } = await app.post('/api/v1/incoming-call', { form })
    expect([status, text]).toEqual([200, expect.stringContaining(`<Number>${FALLBACK}</Number>`)])
    expect((await app.served.call('acme', 'POST', '/browser-calls', { agent_key: 'desk' })).status).toBe(503)
    await app.pass(() => isReady(503), 'the probes to be told')
    expect(await statusOf('/health')).toBe(503)
    await app.pass(async () => (await databaseUp()) === '0', 'the metrics to say so')
    const err = { message: 'The disk of the database is full. Try again.' }
    expect(failures()).toEqual([expect.objectContaining({ check: 'database', err: expect.objectContaining(err) })])
    await app.clock.advance(5_000)
    expect(await isReady(503)).toBe(true)
    await takeAgain(test.db)
    await app.pass(async () => (await databaseUp()) === '1', 'the metrics to be told that there is room')
    await app.pass(() => isReady(200), 'the probes to be told that there is room')
  })

  it('is not ready while its own heartbeat is not taken', async () => {
    await app.pass(() => isReady(200), 'the service to be ready')
    await refuseRows(test.db, 'nodes', '42501')
    await app.pass(() => isReady(503), 'the probes to be told')
    await takeAgain(test.db)
    await app.pass(() => isReady(200), 'the heartbeat to be taken')
  })
})
