import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { THE_SYSTEM } from '../kernel/actor.ts'
import type { TenantId } from '../kernel/ids.ts'
import { makeSealer } from '../kernel/seal.ts'
import { makeLog } from '../platform/log.ts'
import { NO_ACCOUNT } from './no-account.fixture.ts'
import { FULL_DOCUMENT } from './tenant-documents.fixture.ts'
import { makeTenantSource } from './tenant-source.ts'
import { makeTenants } from './tenants.ts'
import { makeDisableWebhook } from './webhook-disabling.ts'

const acme = 'acme' as TenantId
const test = useDatabase()
const log = makeLog({ level: 'silent', secrets: [] })
const sealer = makeSealer(Buffer.alloc(32, 7))

async function setUp() {
  const [clock, changed] = [new TestClock(), [] as TenantId[]]
  const of = { db: test.db, clock, sealer, onChange: (tenantId: TenantId) => void changed.push(tenantId) }
  const tenants = makeTenants({ ...of, defaultTelephonyToken: false })
  await tenants.put(acme, FULL_DOCUMENT, {}, THE_SYSTEM)
  changed.length = 0
  const source = makeTenantSource({ db: test.db, log, sealer, telephony: NO_ACCOUNT })
  return { tenants, changed, source, disable: makeDisableWebhook(of), url: FULL_DOCUMENT.webhook?.url ?? '' }
}

describe('a webhook that is given up', () => {
  it('is shown as disabled under a new ETag, with all else as it was, its secrets too', async () => {
    const { tenants, changed, source, disable, url } = await setUp()
    const before = await tenants.get(acme)
    const running = await source.load(acme)
    await disable(acme, url)
    const after = await tenants.get(acme)
    expect(after.config).toEqual({ ...before.config, webhook: { ...before.config.webhook, disabled: true } })
    expect(after.etag).not.toBe(before.etag)
    expect(changed).toEqual([acme])
    const webhook = { ...running?.runtime.webhook, disabled: true }
    expect((await source.load(acme))?.runtime).toEqual({ ...running?.runtime, webhook })
    // As it stands is how a PUT of the same would leave it.
    await tenants.put(acme, { ...FULL_DOCUMENT }, {}, THE_SYSTEM)
    expect((await tenants.get(acme)).etag).toBe(after.etag)
  })

  it('is given up once, and only while it has that address', async () => {
    const { tenants, changed, disable, url } = await setUp()
    await disable(acme, 'https://other.example.com/')
    await disable('nobody' as TenantId, url)
    expect(changed).toEqual([])
    await Promise.all([disable(acme, url), disable(acme, url)])
    const { etag } = await tenants.get(acme)
    await disable(acme, url)
    expect([changed, (await tenants.get(acme)).etag]).toEqual([[acme], etag])
    const rows = await test.db
      .selectFrom('audit_log')
      .select(['actor', 'target_id'])
      .where('action', '=', 'webhook.disabled')
      .execute()
    expect(rows).toEqual([{ actor: THE_SYSTEM.name, target_id: acme }])
  })

  it('is not taken up again by whoever says so, and they are told', async () => {
    const { tenants, disable, url } = await setUp()
    await disable(acme, url)
    const put = (webhook: object) =>
      tenants.put(acme, { ...FULL_DOCUMENT, webhook: { ...FULL_DOCUMENT.webhook, url, ...webhook } }, {}, THE_SYSTEM)
    const told = [expect.stringContaining('give it another address')]
    expect((await put({ disabled: false })).warnings).toEqual(told)
    expect((await tenants.change(acme, (config) => config, {}, THE_SYSTEM)).warnings).toEqual(told)
    expect((await put({ url: `${url}?again` })).warnings).toEqual([])
  })

  it('is taken up again with another address', async () => {
    const { tenants, disable, url } = await setUp()
    await disable(acme, url)
    const webhook = { ...FULL_DOCUMENT.webhook, url: 'https://hooks.example.com/new' }
    await tenants.put(acme, { ...FULL_DOCUMENT, webhook }, {}, THE_SYSTEM)
    expect((await tenants.get(acme)).config.webhook?.disabled).toBeUndefined()
  })
})
