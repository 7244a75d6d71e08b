import { beforeEach, describe, expect, inject, it } from 'vitest'
import { Browser } from './harness/browser.ts'
import { useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { useProxiedDatabase } from './harness/proxied-database.ts'
import { ADMIN_KEY } from './harness/served-app.ts'

const PASSWORD = 'a long enough password'
const SESSION = '/sessions/MZCA1'
const ACTIONS = `${SESSION}/actions`
/** Longer than an answer about a credential is kept, and shorter than it stands in for one. */
const A_WHILE_MS = 5_000

/** On a server: behind a wire that the test cuts. */
describe.runIf(inject('databaseTemplate').kind === 'server')('while the database is away, a live call', () => {
  const test = useDatabase()
  const wire = useProxiedDatabase(test)
  const app = useCallApp(test, {
    database: () => wire.open(),
    settings: { ADMIN_USERNAME: 'root', ADMIN_PASSWORD: PASSWORD },
  })
  let ann: Browser

  beforeEach(async () => {
    const { served } = app
    await served.furnish('other', { number: '+12025550141' })
    const user = { email: 'ann@acme.example', role: 'operator', password: PASSWORD }
    await served.administer('POST', '/tenants/acme/users', user)
    ann = new Browser(served)
    await ann.login('ann@acme.example', PASSWORD)
    await app.talk({ CallSid: 'CA1' })
  })

  type Method = 'GET' | 'POST'
  type Answer = { status: number; body: unknown }
  /** What waits for the database waits by the clock of the test. */
  async function passing(asked: Promise<Answer>): Promise<Answer> {
    let answer: Answer | null = null
    void asked.then((given) => {
      answer = given
    })
    return app.pass(() => answer, 'the answer')
  }
  const as = (tenant: string) => (method: Method, path: string, body?: unknown) =>
    passing(app.served.call(tenant, method, path, body))
  const [acme, other] = [as('acme'), as('other')]
  const asAnn = (method: Method, path: string, body?: unknown) => passing(ann.call(method, path, { body }))

  /** Both tenants and Ann are let in, and then nobody can be asked about. */
  async function letInAndCut(): Promise<void> {
    for (const ask of [acme, other, asAnn]) expect((await ask('GET', '/call-logs')).status).toBe(200)
    await wire.proxy.cut()
    await app.clock.advance(A_WHILE_MS)
    for (const ask of [acme, other, asAnn]) expect((await ask('GET', '/call-logs')).status).toBe(503)
  }

  it('is seen, spoken into and ended by whoever was let in lately, and by nobody else', async () => {
    await letInAndCut()
    for (const ask of [acme, asAnn]) {
      expect(await ask('GET', '/sessions/active')).toMatchObject({ status: 200, body: { count: 1 } })
      expect((await ask('POST', ACTIONS, { action: 'mute' })).status).toBe(200)
    }
    // Where a call is that is not their own on this node, nobody can say now.
    expect((await other('GET', SESSION)).status).toBe(503)
    expect((await other('POST', ACTIONS, { action: 'end_call' })).status).toBe(503)
    expect((await asAnn('POST', ACTIONS, { action: 'end_call' })).status).toBe(200)
    await wire.proxy.mend()
  })

  it('is not noted about and not escalated, and an administrator is told so for whatever they would do', async () => {
    await letInAndCut()
    for (const action of ['note', 'escalate'])
      expect((await acme('POST', ACTIONS, { action, note: 'Sounds upset.', target: 'the boss' })).status).toBe(503)
    expect(await acme('GET', SESSION)).toMatchObject({ status: 200, body: { session: { escalated: false } } })
    const root = { 'x-admin-key': ADMIN_KEY, 'x-tenant-id': 'acme', 'content-type': 'application/json' }
    const asked = { method: 'POST', headers: root, body: JSON.stringify({ action: 'mute' }) }
    expect((await fetch(`${app.served.address}/api/v1${ACTIONS}`, asked)).status).toBe(503)
    await wire.proxy.mend()
  })

  it('is nothing to a key or a session that was not used lately, or was ended here before', async () => {
    await wire.proxy.cut()
    expect((await other('GET', '/sessions/active')).status).toBe(503)
    await wire.proxy.mend()
    for (const ask of [acme, asAnn]) expect((await ask('GET', '/call-logs')).status).toBe(200)
    const { cookie } = ann
    expect((await ann.call('POST', '/admin/auth/logout')).status).toBe(200)
    ann.cookie = cookie
    type Keys = { api_keys: { id: string }[] }
    const { api_keys: keys } = await app.served.administer<Keys>('GET', '/tenants/acme/api-keys')
    for (const { id } of keys) await app.served.administer('DELETE', `/tenants/acme/api-keys/${id}`)
    await wire.proxy.cut()
    for (const ask of [acme, asAnn]) expect((await ask('GET', '/sessions/active')).status).toBe(503)
    await wire.proxy.mend()
  })

  it.each(['removed', 'given another role', 'given another password'])(
    'is nothing to a person who was %s here before',
    async (how) => {
      expect((await asAnn('GET', '/call-logs')).status).toBe(200)
      const people = '/tenants/acme/users'
      const [user] = (await app.served.administer<{ users: { id: string }[] }>('GET', people)).users
      const change = how === 'given another role' ? { role: 'viewer' } : { password: `${PASSWORD} again` }
      if (how === 'removed') await app.served.administer('DELETE', `${people}/${user?.id}`)
      else await app.served.administer('PATCH', `${people}/${user?.id}`, change)
      await wire.proxy.cut()
      for (const path of [SESSION, '/sessions/active']) expect((await asAnn('GET', path)).status).toBe(503)
      expect((await asAnn('POST', ACTIONS, { action: 'end_call' })).status).toBe(503)
      await wire.proxy.mend()
    },
  )

  it('is nothing to who was let in more than ten minutes ago', async () => {
    await letInAndCut()
    await app.clock.advance(600_000)
    for (const ask of [acme, asAnn]) expect((await ask('GET', '/sessions/active')).status).toBe(503)
    await wire.proxy.mend()
  })
})
