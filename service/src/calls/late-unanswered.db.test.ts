import { createHmac } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useCallApp } from '../../test/harness/call-app.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { GatedDatabase } from '../../test/harness/gated-database.ts'
import { ACCOUNT } from '../../test/harness/served-app.ts'

const PATH = '/api/v1/call-resume'
const PUBLIC_URL = 'https://voice.example.com'
const test = useDatabase()
const gate = new GatedDatabase()

/** Somebody answers a call while the database is away, and the carrier asks for it with these headers. What is noted of that later. */
async function noted(
  app: ReturnType<typeof useCallApp>,
  by: (form: Record<string, string>) => { token: string | null; headers?: Record<string, string> },
) {
  const hasWaiting = async () => {
    return (await readdir(join(app.served.dataDir, 'journal'))).some((name) => name.endsWith('.log'))
  }
  const { body } = await app.served.call<{ call_sid: string }>('acme', 'POST', '/browser-calls', { agent_key: 'desk' })
  gate.isAway = true
  const form = { CallSid: body.call_sid, Direction: 'outbound-api' }
  const { text } = await app.post(PATH, { form, ...by(form) })
  expect(text).toMatch(/<Say>We are sorry.*<Hangup\/>/)
  await app.pass(hasWaiting, 'it to be kept')
  gate.isAway = false
  await app.pass(async () => !(await hasWaiting()), 'it to be looked at')
  return test.db.selectFrom('call_logs').select('error_code').execute()
}

describe('a call that somebody answers while the database is away', () => {
  const app = useCallApp(test, { settings: { PUBLIC_URL }, database: async () => gate.of(test.database) })

  it('is written down as not taken, also where its carrier signs by a key of its own', async () => {
    const [told] = await noted(app, (form) => {
      const text = `${PUBLIC_URL}${PATH}CallSid${form['CallSid']}Direction${form['Direction']}`
      const signature = createHmac('sha256', ACCOUNT.token).update(text).digest('base64')
      const settings = 'key=webhooks_sharedkey_01k6,algorithm=HMAC_SHA256'
      return {
        token: null,
        headers: { 'x-twilio-signature': signature, 'x-twilio-webhooks-signature-settings': settings },
      }
    })
    expect(told?.error_code).toBe('too_slow')
  })
})

describe('a call of a tenant without a token', () => {
  const app = useCallApp(test, {
    settings: { SIMULATOR: 'on', PUBLIC_URL },
    document: { telephony: {} },
    database: async () => gate.of(test.database),
  })

  it('is asked for by nobody who is taken for its carrier, where others than this machine can reach the service', async () => {
    expect(await noted(app, () => ({ token: 'made up' }))).toEqual([{ error_code: null }])
  })
})
