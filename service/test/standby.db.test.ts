import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { OTHER_NODE, someCall, tenantTold } from '../src/records/calls.fixture.ts'
import { makeSessions } from '../src/records/sessions.ts'
import { spendToken } from '../src/voice/stream-token-store.ts'
import { Browser } from './harness/browser.ts'
import { type CarrierRest, startCarrierRest } from './harness/carrier-rest.ts'
import { sign } from './harness/carrier-signature.ts'
import { TestClock } from './harness/clock.ts'
import { useDatabase } from './harness/database.ts'
import { passing, passingWork } from './harness/passing.ts'
import { ScriptedModel } from './harness/scripted-model.ts'
import { ACCOUNT, ServedApp } from './harness/served-app.ts'
import { StreamClient } from './harness/stream-client.ts'
import { startWebhookTarget, type WebhookTarget } from './harness/webhook-target.ts'

const NUMBER = '+12025550140'
const CALLED = '+12025552001'
const DOUBTED = '+12025552002'
const PASSWORD = 'a long enough password'
const ALWAYS = { compliance: { calling_hours: { start: '00:00', end: '24:00' } } }
/** All that is done again and again is done within this time, at the latest what is done every five minutes. */
const A_WHILE_MS = 330_000

describe('a service on a copy of a database that is in use', { timeout: 120_000 }, () => {
  const test = useDatabase()
  let clock: TestClock
  let rest: CarrierRest
  let target: WebhookTarget
  let inUse: ServedApp

  /**
   * What the copy holds: a call of a node that is gone here, which has a webhook to be delivered, one of which nobody knows whether it
   * was placed, a campaign that runs, and a stream token of last year.
   */
  beforeEach(async () => {
    clock = new TestClock()
    rest = await startCarrierRest()
    target = await startWebhookTarget()
    rest.reply = () => ({ status: 500, body: {} })
    inUse = await start()
    const webhook = { url: target.url, events: ['voice.call.started'] }
    await inUse.furnish('acme', { number: NUMBER, document: { ...ALWAYS, webhook } })
    const campaign = { name: 'Spring', agent_key: 'desk', from: NUMBER, contacts: [{ phone: CALLED }] }
    await inUse.call('acme', 'POST', '/campaigns', campaign)
    const doubted = inUse.call('acme', 'POST', '/make-call', { to: DOUBTED, from: NUMBER, agent_key: 'desk' })
    await passingWork(clock, doubted)
    await passingWork(clock, inUse.app.close())
    await spendToken(test.db, { jti: 'old', expiresAt: new Date(clock.now() - 86_400_000) })
    const sessions = makeSessions({ db: test.db, clock, nodeId: OTHER_NODE })
    await sessions.open(tenantTold('acme'), someCall('CA1'))
    const stream = { callSid: 'CA1', epoch: 1, streamSid: 'MZ1', model: null, voice: null }
    await sessions.started(tenantTold('acme'), stream)
    const next_dial_at = new Date(clock.now())
    await test.db.updateTable('campaigns').set({ status: 'running', next_dial_at }).execute()
    rest.requests.length = 0
    rest.reply = ({ method, path }) => {
      if (!path.includes('/Calls.json')) return { status: 200, body: {} }
      return method === 'POST'
        ? { status: 201, body: { sid: 'CA-placed', status: 'queued' } }
        : { status: 200, body: { calls: [] } }
    }
  })
  afterEach(() => Promise.all([rest.close(), target.close()]))

  function start(settings: Record<string, string> = {}): Promise<ServedApp> {
    return ServedApp.start(test, {
      ...{ clock, model: new ScriptedModel(), ...(inUse && { besides: inUse }) },
      settings: {
        ...{ TELEPHONY_API_BASE_URL: rest.baseUrl, OUTBOUND_ALLOW_PRIVATE_NETWORKS: 'true' },
        ...{ SWEEP_INTERVAL_SECONDS: '1', ...settings },
      },
    })
  }

  async function startCopy(settings: Record<string, string> = {}): Promise<ServedApp> {
    const copy = await start(settings)
    onTestFinished(() => passingWork(clock, copy.app.close()))
    return copy
  }

  /** A digest of each table. */
  async function stored(): Promise<Record<string, string>> {
    const tables = await sql<{ name: string }>`
      select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`.execute(
      test.db,
    )
    const digests: Record<string, string> = {}
    for (const { name } of tables.rows) {
      const { rows } = await sql<{ digest: string }>`
        select count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as digest
          from ${sql.table(name)} t`.execute(test.db)
      digests[name] = rows[0]?.digest ?? ''
    }
    return digests
  }

  async function campaignIn(copy: ServedApp): Promise<string> {
    const { body } = await copy.call<{ campaigns: { id: string }[] }>('acme', 'GET', '/campaigns')
    return `/campaigns/${body.campaigns[0]?.id}`
  }

  const broughtBack = () => rest.requests.some(({ form }) => form['Twiml']?.includes('<Redirect'))
  const dialled = () => rest.requests.some(({ form }) => form['To'] === CALLED)
  const lookedFor = () => rest.requests.some(({ method, path }) => method === 'GET' && path.includes('/Calls.json'))

  it('brings its calls back, asks for those in doubt, dials for its campaigns and delivers its webhooks', async () => {
    await startCopy()
    const isDone = () => broughtBack() && lookedFor() && dialled() && target.received.length > 0
    await passing(clock, isDone, { what: 'all four' })
  })

  it('touches nothing at all while it stands by, and says so', async () => {
    const before = await stored()
    const copy = await startCopy({ STANDBY: 'true' })
    const untilMs = clock.monotonicMs() + A_WHILE_MS
    await passing(clock, () => clock.monotonicMs() >= untilMs, { what: 'a while', stepMs: 1_000, timeoutMs: 60_000 })
    expect(await stored()).toEqual(before)
    expect(rest.requests).toEqual([])
    expect(target.received).toEqual([])
    // What the nodes of another machine have left there is theirs.
    expect(existsSync(join(copy.dataDir, 'journal'))).toBe(false)
    expect(copy.logLines().filter(({ msg }) => msg.startsWith('standing by'))).toHaveLength(1)
    await passingWork(clock, copy.app.drain())
    await passingWork(clock, copy.app.close())
    expect(await stored()).toEqual(before)
    expect(rest.requests).toEqual([])
  })

  it('is alive and well, and never ready, while it stands by', async () => {
    const { address } = await startCopy({ STANDBY: 'true' })
    const asked = async (path: string) => {
      const response = await fetch(address + path)
      return { status: response.status, body: await response.json() }
    }
    expect(await asked('/livez')).toMatchObject({ status: 200 })
    expect(await asked('/readyz')).toMatchObject({ status: 503, body: { error: 'Not ready: standby.' } })
    expect(await asked('/health')).toMatchObject({ status: 200, body: { ok: true, standby: true } })
    expect(await asked('/api/v1/admin/auth/session')).toMatchObject({ status: 200, body: { standby: true } })
  })

  it('shows what there is and takes configuration while it stands by', async () => {
    const copy = await startCopy({ STANDBY: 'true' })
    const shown = { call_log: { call_sid: 'CA1', status: 'in-progress' } }
    expect(await copy.call('acme', 'GET', '/call-logs/CA1')).toMatchObject({ status: 200, body: shown })
    const { config } = await copy.administer<{ config: object }>('GET', '/tenants/acme')
    await copy.administer('PUT', '/tenants/acme', { ...config, name: 'Changed' })
    expect(await copy.administer('GET', '/tenants/acme')).toMatchObject({ config: { name: 'Changed' } })
  })

  it('is logged in to where the guide says, with the settings that it names beside those of the installation', async () => {
    const guide = readFileSync(join(import.meta.dirname, '../../docs/deployment.md'), 'utf8')
    const [, command = ''] = /^(STANDBY=true DATABASE_URL[^`]*) npm run serve$/m.exec(guide) ?? []
    const [, page = ''] = /look around at `(http:\/\/\S+)\/app`/.exec(guide) ?? []
    const named = Object.fromEntries([...command.matchAll(/(\w+)=(\S*)/g)].map(([, name, value]) => [name, value]))
    // The harness has its own of these.
    const { DATABASE_URL: _url, DATA_DIR: _folder, PORT: _port, ...told } = named
    const copy = await startCopy({
      ...{ PUBLIC_URL: 'https://voice.example.com', ADMIN_USERNAME: 'ada', ADMIN_PASSWORD: PASSWORD },
      ...{ OIDC_ISSUER_URL: 'https://login.example.com', OIDC_CLIENT_ID: 'parley', OIDC_CLIENT_SECRET: 'secret' },
      ...{ OIDC_ALLOWED_EMAILS: 'ada@example.com', ...told },
    })
    const browser = new Browser(copy)
    const call = (method: string, path: string, body?: object) => browser.call(method, path, { body, origin: page })
    expect((await call('GET', '/admin/auth/session')).body).toMatchObject({ login_enabled: true, sso_enabled: false })
    expect((await call('POST', '/admin/auth/login', { username: 'ada', password: PASSWORD })).status).toBe(200)
    const user = { email: 'ann@acme.example', role: 'viewer' }
    const { status, body } = await call('POST', '/admin/tenants/acme/users', user)
    expect([status, body['invitation_url']]).toEqual([200, expect.stringContaining(`${page}/app/`)])
  })

  it('lets nobody be called any more before it works again', async () => {
    const copy = await startCopy({ STANDBY: 'true' })
    const paused = await copy.call('acme', 'POST', `${await campaignIn(copy)}/pause`)
    expect(paused).toMatchObject({ status: 200, body: { campaign: { status: 'paused' } } })
    expect((await copy.call('acme', 'POST', '/dnc', { phone: CALLED })).status).toBe(200)
    expect(rest.requests).toEqual([])
  })

  it('refuses by the name of the setting what would reach outside, or change more than configuration', async () => {
    const copy = await startCopy({ STANDBY: 'true' })
    const asked = async (path: string, sent?: object) => ({ path, ...(await copy.call('acme', 'POST', path, sent)) })
    const refused = { status: 503, body: { code: 'unavailable', error: expect.stringContaining('STANDBY is true') } }
    const call = { to: CALLED, from: NUMBER, agent_key: 'desk' }
    const campaign = await campaignIn(copy)
    const task = '/callback-tasks/0190a000-0000-7000-8000-000000000001'
    for (const [path, sent] of [
      ['/make-call', call],
      ['/dial-check', call],
      ['/campaigns', {}],
      [`${campaign}/start`, {}],
      [`${task}/dispatch`, {}],
      ['/simulations', {}],
      ['/browser-calls', { agent_key: 'desk' }],
      ['/chats', {}],
      ['/erasures', { phone: CALLED }],
      ['/webhook-deliveries', {}],
    ] as const) {
      expect(await asked(path, sent)).toMatchObject({ path, ...refused })
    }
    for (const [method, path, sent] of [
      ['DELETE', '/tenants/acme?force=true', undefined],
      ['POST', '/operator-queues/dispatch', {}],
      ['POST', '/outboxes/billing-outcomes/sweep', {}],
      ['POST', '/analytics/sweep', {}],
      // Stored it could be; what it asks of the carrier it may not.
      ['POST', '/tenants/acme/phone-routes', { phone_number: CALLED, agent_key: 'desk', configure_carrier: true }],
    ] as const) {
      const answer = copy.administer(method, path, sent)
      await expect(answer).rejects.toThrow(/503 .*STANDBY is true/)
    }
    expect(rest.requests).toEqual([])
  })

  it('fetches no music of tenants while it stands by', async () => {
    const copy = await startCopy({ STANDBY: 'true' })
    const { agents } = await copy.administer<{ agents: { id: string }[] }>('GET', '/tenants/acme/agents')
    const published = copy.publish('acme', String(agents[0]?.id), { hold_audio: target.url })
    await expect(published).rejects.toThrow(/503 .*STANDBY is true/)
    expect(target.received).toEqual([])
  })

  it('takes no calls while it stands by: who calls hears a sentence, and streams are not let in', async () => {
    const copy = await startCopy({ STANDBY: 'true' })
    const before = await stored()
    const form = { CallSid: 'CA2', AccountSid: ACCOUNT.sid, From: CALLED, To: NUMBER, CallStatus: 'ringing' }
    const post = (path: string, headers: Record<string, string>) =>
      fetch(copy.address + path, { method: 'POST', headers, body: new URLSearchParams(form) })
    const signed = (path: string) => ({
      'x-twilio-signature': sign(copy.app.publicUrl() + path, form, ACCOUNT.token),
    })
    const answer = await post('/api/v1/incoming-call', signed('/api/v1/incoming-call'))
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringMatching(/<Say.*<Hangup\/>/)])
    expect((await post('/api/v1/incoming-call', {})).status).toBe(401)
    // A call that was not taken is written down a moment later.
    await clock.advance(30_000)
    expect((await post('/api/v1/call-resume', signed('/api/v1/call-resume'))).status).toBe(503)
    expect((await post('/api/v1/call-status', signed('/api/v1/call-status'))).status).toBe(503)
    const headers = { authorization: `Bearer ${copy.tokenOf('acme')}` }
    await expect(StreamClient.open(copy.address, '/media-stream', headers)).rejects.toThrow('503')
    expect(await stored()).toEqual(before)
    expect([rest.requests, target.received]).toEqual([[], []])
  })
})
