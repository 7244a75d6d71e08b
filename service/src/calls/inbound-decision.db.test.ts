import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CALLER, NUMBER, useCallApp } from '../../test/harness/call-app.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { ACCOUNT } from '../../test/harness/served-app.ts'
import { storedEvents } from '../records/calls.fixture.ts'

const SECRET = 'a-secret-of-the-decisions'

type Asked = { headers: IncomingHttpHeaders; body: string }

const test = useDatabase()
// Their decision is asked for on this machine.
const app = useCallApp(test, { settings: { OUTBOUND_ALLOW_PRIVATE_NETWORKS: 'true' } })
const asked: Asked[] = []
let respond: (response: ServerResponse) => void
let address: string
const target = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString()
  })
  request.on('end', () => {
    asked.push({ headers: request.headers, body })
    respond(response)
  })
})

const says = (answer: unknown) => {
  respond = (response) => void response.end(JSON.stringify(answer))
}
const logs = () => test.db.selectFrom('call_logs').selectAll().execute()

beforeEach(async () => {
  asked.length = 0
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
  const at = target.address()
  address = `http://127.0.0.1:${typeof at === 'object' && at ? at.port : 0}/decide`
  await putTenant()
})
afterEach(async () => {
  target.closeAllConnections()
  await new Promise((resolve) => target.close(resolve))
})

function putTenant(document: object = {}): Promise<unknown> {
  return app.served.administer('PUT', '/tenants/acme', {
    tenant_id: 'acme',
    org_id: 'org-1',
    system_prompt_key: 'rules',
    telephony: { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token },
    webhook: { url: 'http://127.0.0.1:9/', secret: SECRET },
    inbound_decision: { url: address, timeout_ms: 1_000 },
    ...document,
  })
}

/** A new version of the agent that answers the number. */
async function publishDesk(config: Record<string, unknown>): Promise<void> {
  const path = '/tenants/acme/agents'
  const { agents } = await app.served.administer<{ agents: { id: string; agent_key: string }[] }>('GET', path)
  const desk = agents.find(({ agent_key }) => agent_key === 'desk')
  await app.served.publish('acme', desk?.id ?? '', config)
}

describe('a call to a tenant that decides', () => {
  it('is asked about, signed like a webhook', async () => {
    says({})
    await app.ring({ CallSid: 'CA77' })
    const [{ headers, body } = { headers: {}, body: '' }] = asked
    expect(JSON.parse(body)).toEqual({
      ...{ tenant_id: 'acme', call_sid: 'CA77', from: CALLER, to: NUMBER, org_id: 'org-1', metadata: {} },
    })
    const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
    const signature = createHmac('sha256', SECRET).update(content).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${signature}`)
  })

  it('is taken by the agent that was decided on, who says and knows what was', async () => {
    const made = await app.served.administer<{ agent: { id: string } }>('POST', '/tenants/acme/agents', {
      agent_key: 'sales',
      name: 'Sales',
    })
    await app.served.publish('acme', made.agent.id, { instructions: 'Sell.', greeting: 'Sales here.' })
    await app.served.administer('PUT', '/prompts/rules', {
      text: 'You talk to {{name}} of {{metadata.city}}: {{greeting}}',
    })
    says({ agent_key: 'sales', greeting: 'Hello Ann!', variables: { name: 'Ann', city: 'Bonn' } })
    await app.talk()
    const { instructions } = app.model.last.setup
    expect(instructions).toMatch(/^You talk to Ann of Bonn: Hello Ann!\n\nYou are Sales.*\n\nSell\.\n\n/)
    expect(JSON.stringify(app.model.last.commands)).toContain('Hello Ann!')
    expect(await logs()).toMatchObject([{ agent_key: 'sales', metadata: { name: 'Ann', city: 'Bonn' } }])
  })

  it('is greeted as ever where the greeting that was given is blank', async () => {
    await publishDesk({ greeting: 'This is the desk.' })
    says({ greeting: ' ' })
    await app.talk()
    expect(JSON.stringify(app.model.last.commands)).toContain('This is the desk.')
  })

  it('is turned away with the sentence that was given', async () => {
    says({ reject: 'We are closed <today>.' })
    expect(await app.ring()).toContain('<Say>We are closed &lt;today&gt;.</Say><Hangup/>')
  })

  it('is turned away in the language of the agent that would have taken it', async () => {
    await publishDesk({ speech: { language: 'de-AT' } })
    says({ reject: 'Wir haben heute geschlossen.' })
    expect(await app.ring()).toContain('<Say language="de-DE">Wir haben heute geschlossen.</Say><Hangup/>')
  })

  it('is written down when it is turned away, with its reason, as a call that was not taken', async () => {
    says({ reject: 'We are closed today. Call +12025550188.' })
    await app.ring({ CallSid: 'CA77' })
    const [log] = await app.pass(async () => ((await logs()).length === 1 ? logs() : null), 'the call to be written')
    expect(log).toMatchObject({
      ...{ call_sid: 'CA77', direction: 'inbound', from: CALLER, to: NUMBER, agent_key: 'desk' },
      ...{ status: 'busy', error_code: 'rejected', duration_seconds: null },
    })
    expect(log?.error_message).toMatch(/inbound_decision rejected it\. It said: We are closed today\./)
    const session = await test.db.selectFrom('voice_sessions').selectAll().executeTakeFirst()
    expect(session).toMatchObject({ call_sid: 'CA77', end_reason: 'rejected', started_at: null })
    const told = (await storedEvents(test.db)).map(({ event }) => event)
    expect(told).toEqual(['voice.session.completed', 'voice.call.failed', 'voice.call.completed'])
  })

  it('is hung up when its carrier asks again after it was written down, whatever is decided then', async () => {
    says({ reject: '' })
    await app.ring({ CallSid: 'CA77' })
    await app.pass(async () => (await logs()).length === 1, 'the call to be written')
    says({})
    expect(await app.ring({ CallSid: 'CA77' })).toContain('<Response><Hangup/></Response>')
    expect(await logs()).toMatchObject([{ call_sid: 'CA77', error_code: 'rejected' }])
  })

  it('is written down without personal data of a tenant that wants none kept', async () => {
    await putTenant({ compliance: { redact_pii: true } })
    says({ reject: 'Call +12025550188.' })
    await app.ring()
    await app.pass(async () => (await logs()).length === 1, 'the call to be written')
    expect(await logs()).toMatchObject([{ error_message: expect.stringContaining('It said: Call [phone]') }])
  })

  it.each(['', ' \n'])('hears that the line is busy when there is nothing to be said (%j)', async (reject) => {
    says({ reject })
    expect(await app.ring()).toContain('<Reject reason="busy"/><Hangup/>')
  })

  it.each<[what: string, answer: (response: ServerResponse) => void]>([
    ['fails', (response) => void response.writeHead(500).end('{}')],
    ['sends elsewhere', (response) => void response.writeHead(302, { location: '/other' }).end()],
    ['speaks no JSON', (response) => void response.end('<html>')],
    ['gives a list', (response) => void response.end('[]')],
    ['gives the wrong types', (response) => void response.end('{"agent_key": 7}')],
    ['says too much', (response) => void response.end(JSON.stringify({ note: 'x'.repeat(70_000) }))],
    [
      'gives variables without bounds',
      (response) => void response.end(JSON.stringify({ variables: { x: 'x'.repeat(20_000) } })),
    ],
    ['gives what cannot be stored', (response) => void response.end('{"variables": {"a": "\\u0000", "\\ud800": 1}}')],
    ['breaks off', (response) => void response.destroy()],
    ['names an agent that there is not', (response) => void response.end('{"agent_key": "nobody"}')],
  ])('is taken by the agent of the route when the address %s', async (_what, answer) => {
    respond = answer
    expect(await app.ring()).toContain('<Connect>')
    expect(await logs()).toMatchObject([{ agent_key: 'desk' }])
  })

  it('is taken by the agent of the route when no answer comes in time', async () => {
    respond = () => {}
    let document = ''
    void app.ring().then((text) => {
      document = text
    })
    await app.pass(() => document !== '', 'the call to be answered')
    expect(document).toContain('<Connect>')
    expect(await logs()).toMatchObject([{ agent_key: 'desk' }])
  })
})
