import { describe, expect, inject, it } from 'vitest'
import type { Database } from '../src/platform/db/schema.ts'
import { CALLER, NUMBER, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { ACCOUNT } from './harness/served-app.ts'
import { until } from './harness/wait.ts'

const FORM = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER, CallStatus: 'ringing' }
const FALLBACK = '+12025550150'
/** Two rounds of the sweeps, and many of what is done more often. */
const OUTAGE_SECONDS = 80

/** On a server, where the service can have a connection of its own that is taken from it. */
describe.runIf(inject('databaseTemplate').kind === 'server')('while the database is away', () => {
  const test = useDatabase()
  let database: Database
  const app = useCallApp(test, {
    settings: { SWEEP_INTERVAL_SECONDS: '30' },
    document: { telephony: { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, fallback_number: FALLBACK } },
    async database() {
      database = await test.anotherNode()
      return database
    },
  })

  it('a call to a known number goes to the fallback number, and an unknown caller is told a sentence', async () => {
    await app.ring()
    await database.close()
    await app.clock.advance(5_000)
    const { status, text } = await app.post('/api/v1/incoming-call', { form: { ...FORM, CallSid: 'CA7' } })
    expect([status, text]).toEqual([200, expect.stringContaining(`<Number>${FALLBACK}</Number>`)])
    const unknown = await app.post('/api/v1/incoming-call', { form: { ...FORM, To: '+12025550199' } })
    expect([unknown.status, unknown.text]).toEqual([200, expect.stringMatching(/<Say>[^<]+<\/Say><Hangup\/>/)])
    const unsigned = await app.post('/api/v1/incoming-call', { form: FORM, token: null })
    expect(unsigned.status).toBe(401)
  })

  it('a carrier that asks what comes next is told a sentence, and one that tells something is asked to come again', async () => {
    await app.ring()
    await database.close()
    const next = await app.post('/api/v1/call-resume', { form: FORM })
    expect([next.status, next.text]).toEqual([200, expect.stringMatching(/<Say>[^<]+<\/Say><Hangup\/>/)])
    const told = await app.post('/api/v1/call-status', { form: { ...FORM, CallStatus: 'completed' } })
    expect(told.status).toBe(503)
  })

  it.each([
    ['no signature', {}],
    ['what can be none', { 'x-twilio-signature': 'junk' }],
  ])('who sends %s is refused before the database is asked', async (_what, headers) => {
    await database.close()
    for (const path of ['incoming-call', 'call-resume', 'call-status']) {
      const form = { ...FORM, CallSid: 'CA8', To: '+12025550199', CallStatus: 'completed' }
      expect([path, (await app.post(`/api/v1/${path}`, { form, token: null, headers })).status]).toEqual([path, 401])
    }
  })

  it('the metrics say so, and how much is kept on the disk until it is back', async () => {
    const numberOf = async (name: string) => {
      const text = await (await fetch(`${app.served.address}/metrics`)).text()
      return Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')[1],
      )
    }
    const client = await app.talk()
    await app.pass(async () => (await numberOf('database_up')) === 1, 'a heartbeat')
    expect(await numberOf('journal_kept_waiting')).toBe(0)
    await database.close()
    client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    await app.pass(async () => (await numberOf('database_up')) === 0, 'the loss to be seen')
    await app.pass(async () => (await numberOf('journal_kept_waiting')) > 0, 'the end of the call to be kept')
    expect(await numberOf('journal_entries_waiting')).not.toBeNaN()
  })

  it('calls go on', async () => {
    const client = await app.talk()
    await database.close()
    client.media()
    await until(() => app.model.last.appended.length === 1, { what: 'the audio' })
    await app.clock.advance(5_000)
    client.media()
    await until(() => app.model.last.appended.length === 2, { what: 'the audio' })
    expect(client.closeCode).toBeNull()
  })

  it('says once of each thing that is done again and again that it cannot be done, and not for as long as that lasts', async () => {
    await database.close()
    const said = () =>
      app.served
        .logLines()
        .filter(({ level }) => level === 'warn')
        .map(({ msg, sweep, table, check }) => [msg, sweep, table, check].filter(Boolean).join(' '))
    const ofSweeps = () => said().filter((line) => line.startsWith('a sweep failed'))
    await app.pass(() => ofSweeps().length >= 10, 'the sweeps to fail')
    for (let seconds = 0; seconds < OUTAGE_SECONDS; seconds++) await app.clock.advance(1_000)
    expect(said().filter((line, at) => said().indexOf(line) !== at)).toEqual([])
  })
})
