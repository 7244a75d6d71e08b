import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { useCallApp } from '../../test/harness/call-app.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { GatedDatabase } from '../../test/harness/gated-database.ts'

const test = useDatabase()
const gate = new GatedDatabase()
const app = useCallApp(test, {
  settings: { SIMULATOR: 'on', PUBLIC_URL: 'https://voice.example.com' },
  document: { telephony: {} },
  database: async () => gate.of(test.database),
})

const hasWaiting = async () => {
  return (await readdir(join(app.served.dataDir, 'journal'))).some((name) => name.endsWith('.log'))
}

it('takes nobody for the carrier of a tenant without a token whom others than this machine can reach', async () => {
  const { body } = await app.served.call<{ call_sid: string }>('acme', 'POST', '/browser-calls', { agent_key: 'desk' })
  gate.isAway = true
  const form = { CallSid: body.call_sid, Direction: 'outbound-api' }
  const { text } = await app.post('/api/v1/call-resume', { form, token: 'made up' })
  expect(text).toMatch(/<Say>We are sorry.*<Hangup\/>/)
  await app.pass(hasWaiting, 'it to be kept')
  gate.isAway = false
  await app.pass(async () => !(await hasWaiting()), 'it to be looked at')
  expect(await test.db.selectFrom('call_logs').select('error_code').execute()).toEqual([{ error_code: null }])
})
