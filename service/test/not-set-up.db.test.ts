import { afterEach, beforeEach, expect, it } from 'vitest'
import { useDatabase } from './harness/database.ts'
import { ACCOUNT, ServedApp } from './harness/served-app.ts'

const NUMBER = '+12025550140'
const CALL = { to: '+12025550123', agent_key: 'desk' }
const SAID = { agent_key: 'desk', messages: [{ role: 'caller', text: 'Hello?' }] }
const SCENARIOS = [{ name: 'Hangs up', caller: { steps: [{ hang_up: true }] } }]

const test = useDatabase()
let served: ServedApp

beforeEach(async () => {
  served = await ServedApp.start(test)
  const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, from_number: NUMBER }
  await served.furnish('acme', { number: NUMBER, document: { telephony } })
})
afterEach(() => served.app.close())

it.each([
  ['a call', '/make-call', CALL],
  ['a call from the browser', '/browser-calls', { agent_key: 'desk' }],
  ['a chat', '/chats', SAID],
  ['a simulation', '/simulations', { agent_key: 'desk', scenarios: SCENARIOS }],
  ['the billing outcomes', '/admin/outboxes/billing-outcomes/sweep', undefined],
  ['a billing outcome that was given up', '/admin/outboxes/billing-outcomes/deliveries', { status: 'failed' }],
  ['a mail that was given up', '/admin/outboxes/notifications/deliveries', { status: 'failed' }],
])('%s, for which nothing is set up, is not to be asked for again after a while', async (_what, path, body) => {
  const who = path.startsWith('/admin')
    ? { 'x-admin-key': served.adminKey }
    : { authorization: `Bearer ${served.tokenOf('acme')}` }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const headers = { ...who, ...type }
  const answer = await fetch(`${served.address}/api/v1${path}`, { method: 'POST', headers, ...sent })
  expect(await answer.json()).toMatchObject({ code: 'unavailable' })
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, null])
})
