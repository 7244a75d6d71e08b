import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { until } from '../../test/harness/wait.ts'
import { THE_SYSTEM } from '../kernel/actor.ts'
import { canonicalJson } from '../kernel/canonical-json.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { makeSealer, sha256 } from '../kernel/seal.ts'
import { isLostToAnother } from '../platform/db/errors.ts'
import { makeLog } from '../platform/log.ts'
import { findLegacyTokenAcrossTenants } from './credential-store.ts'
import { findHolder } from './phone-number-store.ts'
import { TenantCache } from './tenant-cache.ts'
import type { TenantDocument } from './tenant-document.ts'
import { CANARIES, documents, eraseAtOnce, FULL_DOCUMENT, QUIET } from './tenant-documents.fixture.ts'
import { removeTenant } from './tenant-removal.ts'
import { makeTenantSource } from './tenant-source.ts'
import { holdTenant } from './tenant-store.ts'
import { makeTenants } from './tenants.ts'

const acme = 'acme' as TenantId
const globex = 'globex' as TenantId
const one = '+12025550101' as PhoneNumber
const two = '+12025550102' as PhoneNumber

const test = useDatabase()
const log = makeLog({ level: 'silent', secrets: [] })
const sealer = makeSealer(Buffer.alloc(32, 7))
const erasing = eraseAtOnce(() => test.db)

type Around = { defaultTelephonyToken?: boolean; hasPrompt?: (key: string) => Promise<boolean> }

function setUp({ defaultTelephonyToken = false, ...around }: Around = {}) {
  const clock = new TestClock()
  const changed: TenantId[] = []
  const onChange = (tenantId: TenantId) => changed.push(tenantId)
  const tenants = makeTenants({ db: test.db, clock, sealer, defaultTelephonyToken, onChange, ...around })
  return { clock, changed, tenants }
}

function bare(tenantId: TenantId, more: Partial<TenantDocument> = {}): TenantDocument {
  return { tenant_id: tenantId, ...more }
}

function toolOf(parameters: Record<string, unknown>): NonNullable<TenantDocument['tools']>[number] {
  return { type: 'http', name: 'look_up', url: 'https://api.example.com/', parameters }
}

async function storedText(): Promise<string> {
  return JSON.stringify(await test.db.selectFrom('tenants').selectAll().execute())
}

/** What each of several writes at the same time came to. */
async function outcomes(writes: Promise<unknown>[]): Promise<Record<string, number>> {
  const settled = await Promise.allSettled(writes)
  const names = settled.map((write) => (write.status === 'fulfilled' ? 'ok' : String(write.reason.code)))
  return Object.fromEntries([...new Set(names)].map((name) => [name, names.filter((other) => other === name).length]))
}

describe('a tenant that is put', () => {
  it('is read back with its secrets hidden, and stored with them sealed', async () => {
    const { tenants, changed } = setUp()
    const { etag } = await tenants.put(acme, FULL_DOCUMENT, {}, THE_SYSTEM)
    const shown = await tenants.get(acme)
    expect(shown.etag).toBe(etag)
    expect(shown.config).toMatchObject({ name: 'Acme Dental', auth_token: '***', telephony: { auth_token: '***' } })
    const texts = [JSON.stringify(shown), await storedText(), etag]
    for (const canary of Object.values(CANARIES)) expect(texts.join()).not.toContain(canary)
    expect(changed).toEqual([acme])
  })

  it('is replaced as a whole: what the new document leaves out is gone', async () => {
    const { tenants } = setUp()
    await tenants.put(acme, FULL_DOCUMENT, {}, THE_SYSTEM)
    await tenants.put(acme, bare(acme, { name: 'Acme' }), {}, THE_SYSTEM)
    expect((await tenants.get(acme)).config).toEqual({ tenant_id: acme, name: 'Acme' })
  })

  it('keeps its creation and its secrets when what was read is sent again with a change', async () => {
    const { tenants, clock } = setUp()
    const { etag } = await tenants.put(acme, FULL_DOCUMENT, {}, THE_SYSTEM)
    await clock.advance(5)
    const { config } = await tenants.get(acme)
    const same = await tenants.put(acme, config, { ifMatch: etag }, THE_SYSTEM)
    expect(same.etag).toBe(etag)
    await tenants.put(acme, { ...config, name: 'Acme Dental Care' }, { ifMatch: etag }, THE_SYSTEM)
    const row = await test.db.selectFrom('tenants').selectAll().executeTakeFirstOrThrow()
    expect(row.updated_at.getTime() - row.created_at.getTime()).toBe(5)
    expect(await findLegacyTokenAcrossTenants(test.db, sha256(CANARIES.authToken))).toBe(acme)
  })

  it('has an ETag that changes if and only if the document does', async () => {
    const { tenants } = setUp()
    let before: { document: TenantDocument; etag: string } | null = null
    await fc.assert(
      fc.asyncProperty(documents(), async (document) => {
        const { etag } = await tenants.put(acme, document, {}, THE_SYSTEM)
        const again = await tenants.put(
          acme,
          Object.fromEntries(Object.entries(document).toReversed()) as TenantDocument,
          {},
          THE_SYSTEM,
        )
        expect(again.etag).toBe(etag)
        if (before) expect(etag === before.etag).toBe(canonicalJson(document) === canonicalJson(before.document))
        before = { document, etag }
      }),
      { numRuns: 40 },
    )
    const secretOnly = (auth_token: string) => tenants.put(acme, bare(acme, { auth_token }), {}, THE_SYSTEM)
    expect((await secretOnly('sixteen-letters-a')).etag).not.toBe((await secretOnly('sixteen-letters-b')).etag)
  })

  it('is refused with every fault named, and nothing of it is stored', async () => {
    const { tenants } = setUp()
    const faulty = bare(globex, { auth_token: 'short', compliance: { timezone: 'Mars/Base' } })
    await expect(tenants.put(acme, faulty, {}, THE_SYSTEM)).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ path: '/body/tenant_id' }, { path: '/body/auth_token' }, { path: '/body/compliance/timezone' }],
    })
    await expect(tenants.put(acme, bare(acme, { auth_token: '***' }), {}, THE_SYSTEM)).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ path: '/body/auth_token' }],
    })
    await expect(tenants.get(acme)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is changed and put while it has schemas of former bounds, and takes no others of those', async () => {
    const { tenants } = setUp()
    const oneOf = Array.from({ length: 200 }, (_, at) => ({ const: at }))
    const stored = bare(acme, {
      tools: [toolOf({ type: 'object', oneOf })],
      agent: { extraction: { type: 'object', oneOf } },
    })
    await tenants.put(acme, bare(acme), {}, THE_SYSTEM)
    await sql`update tenants set document = ${JSON.stringify(stored)}::jsonb where tenant_id = ${acme}`.execute(test.db)

    const named = await tenants.change(acme, (document) => ({ ...document, name: 'Acme' }), {}, THE_SYSTEM)
    expect(named.config).toMatchObject({ name: 'Acme', tools: [{ name: 'look_up' }] })
    await tenants.put(acme, { ...stored, name: 'Acme again' }, {}, THE_SYSTEM)
    const other = { ...stored, tools: [toolOf({ type: 'object', oneOf: oneOf.slice(1) })] }
    const refused = {
      code: 'invalid_request',
      message: expect.stringMatching(/^tools.0.parameters .* 100 alternatives/),
    }
    await expect(tenants.put(acme, other, {}, THE_SYSTEM)).rejects.toMatchObject(refused)
    await expect(tenants.put(globex, { ...stored, tenant_id: globex }, {}, THE_SYSTEM)).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })

  it('lets no writer decide whether its webhook was given up, and forgets that with the address', async () => {
    const { tenants } = setUp()
    const webhook = { url: 'https://hooks.example.com/a' }
    await tenants.put(acme, bare(acme, { webhook: { ...webhook, disabled: true } }), {}, THE_SYSTEM)
    expect((await tenants.get(acme)).config.webhook).toEqual(webhook)

    const document = JSON.stringify(bare(acme, { webhook: { ...webhook, disabled: true } }))
    await test.db.updateTable('tenants').set({ document, etag: '"disabled"' }).where('tenant_id', '=', acme).execute()
    await tenants.put(acme, bare(acme, { webhook: { ...webhook, disabled: false }, name: 'Acme' }), {}, THE_SYSTEM)
    expect((await tenants.get(acme)).config.webhook).toEqual({ ...webhook, disabled: true })
    await tenants.put(
      acme,
      bare(acme, { webhook: { url: 'https://hooks.example.com/b', disabled: true } }),
      {},
      THE_SYSTEM,
    )
    expect((await tenants.get(acme)).config.webhook).toEqual({ url: 'https://hooks.example.com/b' })
  })

  it('comes with a warning when nobody has a token for its carrier account', async () => {
    const account = bare(acme, { telephony: { account_sid: 'AC1' } })
    const { tenants } = setUp()
    expect((await tenants.put(acme, account, {}, THE_SYSTEM)).warnings).toHaveLength(1)
    expect((await tenants.put(acme, bare(acme), {}, THE_SYSTEM)).warnings).toEqual([])
    const own = bare(acme, { telephony: { account_sid: 'AC1', auth_token: 'own' } })
    expect((await tenants.put(acme, own, {}, THE_SYSTEM)).warnings).toEqual([])
    expect((await setUp({ defaultTelephonyToken: true }).tenants.put(acme, account, {}, THE_SYSTEM)).warnings).toEqual(
      [],
    )
  })
})

it('comes with a warning when what its webhook is sent is not signed', async () => {
  const { tenants } = setUp()
  const put = (webhook: { url: string; secret?: string }) => tenants.put(acme, bare(acme, { webhook }), {}, THE_SYSTEM)
  const url = 'https://hooks.example.com/a'
  expect((await put({ url })).warnings).toEqual([expect.stringContaining('webhook.secret')])
  expect((await put({ url, secret: 'a-secret-of-the-webhook-of-acme' })).warnings).toEqual([])
  expect((await put({ url, secret: '***' })).warnings).toEqual([])
})

it('comes with a warning when it names a prompt that there is not', async () => {
  const hasPrompt = async (key: string) => key === 'house-rules'
  const { tenants } = setUp({ hasPrompt })
  const put = (system_prompt_key: string) => tenants.put(acme, bare(acme, { system_prompt_key }), {}, THE_SYSTEM)
  expect((await put('house-rule')).warnings).toEqual([expect.stringContaining('system_prompt_key')])
  expect((await put('house-rules')).warnings).toEqual([])
  const change = (system_prompt_key: string) =>
    tenants.change(acme, (document) => ({ ...document, system_prompt_key }), {}, THE_SYSTEM)
  expect((await change('house-rule')).warnings).toEqual([expect.stringContaining('system_prompt_key')])
  expect((await change(' ')).warnings).toEqual([])
})

describe('writers at the same time', () => {
  it('that all want to replace what they read: one does, the others are told', async () => {
    const { tenants } = setUp()
    // More than once: in the first round the connections are still being opened, one after the other.
    for (let round = 0; round < 5; round += 1) {
      const { etag } = await tenants.put(acme, bare(acme, { name: `Round ${round}` }), {}, THE_SYSTEM)
      const writes = Array.from({ length: 20 }, (_, index) =>
        tenants.put(acme, bare(acme, { name: `Acme ${round}.${index}` }), { ifMatch: etag }, THE_SYSTEM),
      )
      expect(await outcomes(writes)).toEqual({ ok: 1, precondition_failed: 19 })
    }
  })

  it('that all want to create: one does', async () => {
    const { tenants } = setUp()
    const writes = Array.from({ length: 20 }, (_, index) =>
      tenants.put(acme, bare(acme, { name: `Acme ${index}` }), { ifNoneMatch: '*' }, THE_SYSTEM),
    )
    expect(await outcomes(writes)).toEqual({ ok: 1, precondition_failed: 19 })
  })

  it('without conditions all succeed, and one of the documents is what is stored', async () => {
    const { tenants } = setUp()
    const writes = Array.from({ length: 10 }, (_, index) =>
      tenants.put(acme, bare(acme, { name: `Acme ${index}` }), {}, THE_SYSTEM),
    )
    expect(await outcomes(writes)).toEqual({ ok: 10 })
    const { config, etag } = await tenants.get(acme)
    expect(config.name).toMatch(/^Acme \d$/)
    expect((await tenants.put(acme, config, {}, THE_SYSTEM)).etag).toBe(etag)
  })

  it('of one legacy token, or of one number, for different tenants: one gets it', async () => {
    const { tenants } = setUp()
    const ids = ['a', 'b', 'c', 'd', 'e'] as TenantId[]
    const token = ids.map((id) => tenants.put(id, bare(id, { auth_token: 'one-legacy-token' }), {}, THE_SYSTEM))
    expect(await outcomes(token)).toEqual({ ok: 1, conflict: 4 })
    const number = ids.map((id) => tenants.put(id, bare(id, { telephony: { from_number: one } }), {}, THE_SYSTEM))
    expect(await outcomes(number)).toEqual({ ok: 1, conflict: 4 })
  })

  it('that want to swap their numbers refuse each other, and none waits for ever', async () => {
    const { tenants } = setUp()
    await tenants.put(acme, bare(acme, { telephony: { from_number: one } }), {}, THE_SYSTEM)
    await tenants.put(globex, bare(globex, { telephony: { from_number: two } }), {}, THE_SYSTEM)
    for (let round = 0; round < 10; round += 1) {
      const writes = [
        tenants.put(acme, bare(acme, { telephony: { from_number: two } }), {}, THE_SYSTEM),
        tenants.put(globex, bare(globex, { telephony: { from_number: one } }), {}, THE_SYSTEM),
      ]
      expect(await outcomes(writes)).toEqual({ conflict: 2 })
    }
    expect(await findHolder(test.db, one)).toBe(acme)
  })

  it('of which one deletes: the tenant is as the last of them left it', async () => {
    const { tenants } = setUp()
    for (let round = 0; round < 10; round += 1) {
      await tenants.put(acme, bare(acme, { telephony: { from_number: one } }), {}, THE_SYSTEM)
      const writes = [
        tenants.remove(acme, THE_SYSTEM),
        tenants.put(acme, bare(acme, { telephony: { from_number: two } }), {}, THE_SYSTEM),
      ]
      // Behind the deletion the id is not free yet.
      expect([{ ok: 2 }, { ok: 1, conflict: 1 }]).toContainEqual(await outcomes(writes))
      await erasing.goOn(acme)
      const exists = await tenants.get(acme).then(
        () => true,
        () => false,
      )
      expect(await findHolder(test.db, one)).toBeNull()
      expect(await findHolder(test.db, two)).toBe(exists ? acme : null)
    }
  })
})

// The embedded database has one transaction at a time.
describe.runIf(inject('databaseTemplate').kind === 'server')('a tenant something of which is written', () => {
  it('is deleted at the second try when the first one got into that', async () => {
    const { tenants } = setUp()
    const other = await test.anotherNode()
    const isWaiting = async () => {
      const waiting = await sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(test.db)
      return waiting.rows.length > 0
    }

    /** @returns whether it was the deletion that the database ended: it does when that has waited for longer, by less than a second. */
    async function endsTheDeletion(): Promise<boolean> {
      await tenants.put(acme, bare(acme, { telephony: { from_number: one } }), {}, THE_SYSTEM)
      const removals: Promise<void>[] = []
      const held = other.db.transaction().execute(async (tx) => {
        await tx.selectFrom('phone_numbers').select('tenant_id').where('tenant_id', '=', acme).forUpdate().execute()
        removals.push(tenants.remove(acme, THE_SYSTEM))
        await until(isWaiting, { what: 'the deletion to wait for the number' })
        return holdTenant(tx, acme)
      })
      const wasEnded = await held.catch((error: unknown) => isLostToAnother(error) && 'the other one')
      await Promise.all(removals)
      await expect(tenants.get(acme)).rejects.toMatchObject({ code: 'not_found' })
      await erasing.goOn(acme)
      return wasEnded === true
    }

    let isShown = false
    for (let tries = 0; tries < 5 && !isShown; tries += 1) isShown = await endsTheDeletion()
    expect(isShown).toBe(true)
  })
})

describe('a tenant that is deleted by force', () => {
  it('is deleted when the calls are over that began while others were ended', async () => {
    const { tenants } = setUp()
    await tenants.put(acme, bare(acme), {}, THE_SYSTEM)
    const left = [2, 1, 0]
    let ended = 0
    const calls = {
      count: async () => left.shift() ?? 0,
      end: async () => {
        ended += 1
        return true
      },
    }
    await removeTenant({ tenants, calls, erasing }, acme, { force: true, by: THE_SYSTEM })
    expect([ended, left]).toEqual([3, []])
    await expect(tenants.get(acme)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is kept when calls begin as fast as they are ended, and deleted with one that would not end', async () => {
    const { tenants } = setUp()
    await tenants.put(acme, bare(acme), {}, THE_SYSTEM)
    const busy = { ...QUIET, count: async () => 1 }
    const removing = removeTenant({ tenants, calls: busy, erasing }, acme, { force: true, by: THE_SYSTEM })
    await expect(removing).rejects.toMatchObject({ code: 'conflict' })
    expect(await tenants.get(acme)).toMatchObject({ tenantId: acme })
    const stuck = { ...QUIET, count: async () => 1, end: async () => false }
    await removeTenant({ tenants, calls: stuck, erasing }, acme, { force: true, by: THE_SYSTEM })
    await expect(tenants.get(acme)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('the number of a tenant document', () => {
  it('is held while the document names it', async () => {
    const { tenants } = setUp()
    await tenants.put(acme, bare(acme, { telephony: { from_number: one } }), {}, THE_SYSTEM)
    await expect(
      tenants.put(globex, bare(globex, { telephony: { from_number: one } }), {}, THE_SYSTEM),
    ).rejects.toMatchObject({
      code: 'conflict',
    })
    await expect(tenants.get(globex)).rejects.toMatchObject({ code: 'not_found' })
    await tenants.put(acme, bare(acme, { telephony: { from_number: two } }), {}, THE_SYSTEM)
    expect(await findHolder(test.db, one)).toBeNull()
    await tenants.put(globex, bare(globex, { telephony: { from_number: one } }), {}, THE_SYSTEM)
    await tenants.put(acme, bare(acme), {}, THE_SYSTEM)
    expect([await findHolder(test.db, one), await findHolder(test.db, two)]).toEqual([globex, null])
  })

  it('is free again when the tenant is deleted', async () => {
    const { tenants, changed } = setUp()
    await tenants.put(acme, FULL_DOCUMENT, {}, THE_SYSTEM)
    await tenants.remove(acme, THE_SYSTEM)
    expect(await findHolder(test.db, one)).toBeNull()
    expect(changed).toEqual([acme, acme])
    await expect(tenants.remove(acme, THE_SYSTEM)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('a tenant of which something is left when it was deleted', () => {
  const left = { calls: QUIET, erasing: { goOn: async () => {} } }

  it('is there for nobody, and its id is taken until all of it is gone', async () => {
    const { tenants, clock } = setUp()
    const telephony = { account_sid: null, auth_token: null, from_number: null }
    const cache = new TenantCache({ clock, source: makeTenantSource({ db: test.db, log, sealer, telephony }) })
    await tenants.put(acme, FULL_DOCUMENT, {}, THE_SYSTEM)
    expect(await cache.get(acme)).not.toBeNull()
    await removeTenant({ tenants, ...left }, acme, { force: false, by: THE_SYSTEM })
    await clock.advance(1_000)
    expect(await cache.get(acme)).toBeNull()
    await expect(tenants.get(acme)).rejects.toMatchObject({ code: 'not_found' })
    expect((await tenants.list({ limit: 50, offset: 0, after: null })).rows).toEqual([])
    expect(await test.db.transaction().execute((tx) => holdTenant(tx, acme))).toBe(false)
    expect(await findHolder(test.db, one)).toBeNull()
    expect(await findLegacyTokenAcrossTenants(test.db, sha256(CANARIES.authToken))).toBeNull()
    for (const canary of Object.values(CANARIES)) expect(await storedText()).not.toContain(canary)
    await expect(tenants.put(acme, bare(acme), {}, THE_SYSTEM)).rejects.toMatchObject({ code: 'conflict' })
    await erasing.goOn(acme)
    await tenants.put(acme, bare(acme), {}, THE_SYSTEM)
  })

  it.each([false, true])('is gone on with by whoever deletes it again, by force: %s', async (force) => {
    const { tenants } = setUp()
    await tenants.put(acme, FULL_DOCUMENT, {}, THE_SYSTEM)
    await removeTenant({ tenants, ...left }, acme, { force, by: THE_SYSTEM })
    await removeTenant({ tenants, calls: QUIET, erasing }, acme, { force, by: THE_SYSTEM })
    const again = removeTenant({ tenants, calls: QUIET, erasing }, acme, { force, by: THE_SYSTEM })
    await expect(again).rejects.toMatchObject({ code: 'not_found' })
    const told = await test.db.selectFrom('audit_log').select('action').where('action', '=', 'tenant.deleted').execute()
    expect(told).toHaveLength(1)
  })
})

describe('the list of tenants', () => {
  it('gives every tenant once, newest first and ties by id, however the pages are cut', async () => {
    const { tenants, clock } = setUp()
    const ids = Array.from({ length: 7 }, (_, index) => `tenant-${index}` as TenantId)
    for (const [index, id] of ids.entries()) {
      await tenants.put(id, bare(id, { auth_token: `sixteen-letters-${index}` }), {}, THE_SYSTEM)
      if (index % 2) await clock.advance(1)
    }
    const newestFirst = ['tenant-6', 'tenant-5', 'tenant-4', 'tenant-3', 'tenant-2', 'tenant-1', 'tenant-0']
    const all = await tenants.list({ limit: 50, offset: 0, after: null })
    expect(all.rows.map(({ tenantId }) => tenantId)).toEqual(newestFirst)
    expect(all.rows.every(({ config }) => config.auth_token === '***')).toBe(true)
    expect(all.nextCursor).toBeNull()
    const rest = await tenants.list({ limit: 3, offset: 5, after: null })
    expect(rest.rows.map(({ tenantId }) => tenantId)).toEqual(newestFirst.slice(5))
  })
})

describe('the tenants that calls run by', () => {
  it('are put through to nobody by a stored number that is never called, which is told once', async () => {
    const { tenants, clock } = setUp()
    const told: unknown[] = []
    const log = { warn: (fields: unknown) => told.push(fields) }
    const telephony = { account_sid: null, auth_token: null, from_number: null }
    const cache = new TenantCache({ clock, source: makeTenantSource({ db: test.db, log, sealer, telephony }) })
    await tenants.put(acme, bare(acme, { telephony: { fallback_number: one } }), {}, THE_SYSTEM)
    const costly = sql`jsonb_set(document, '{telephony,fallback_number}', '"+19005550100"')`
    await sql`update tenants set document = ${costly} where tenant_id = ${acme}`.execute(test.db)
    expect((await cache.get(acme))?.telephony.fallback_number).toBeNull()
    await clock.advance(1_000)
    await cache.get(acme)
    expect(told).toEqual([{ tenant_id: acme }])
  })

  it('are the stored ones with secrets open and defaults applied, and follow a change on another node', async () => {
    const { tenants, clock } = setUp()
    const telephony = { account_sid: 'ACoperator', auth_token: null, from_number: null }
    const cache = new TenantCache({ clock, source: makeTenantSource({ db: test.db, log, sealer, telephony }) })
    expect(await cache.get(acme)).toBeNull()
    await tenants.put(acme, { ...FULL_DOCUMENT, telephony: { auth_token: CANARIES.telephonyToken } }, {}, THE_SYSTEM)
    expect(await cache.get(acme)).toMatchObject({
      telephony: { account_sid: 'ACoperator', auth_token: CANARIES.telephonyToken },
      limits: { max_call_seconds: 900 },
    })
    const other = await test.anotherNode()
    const elsewhere = makeTenants({ db: other.db, clock, sealer, defaultTelephonyToken: true, onChange: () => {} })
    await elsewhere.put(acme, bare(acme, { name: 'Changed elsewhere' }), {}, THE_SYSTEM)
    expect((await cache.get(acme))?.name).toBe('Acme Dental')
    await clock.advance(1_000)
    expect((await cache.get(acme))?.name).toBe('Changed elsewhere')
  })
})
