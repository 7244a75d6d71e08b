import { beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { makeAgents } from '../agents/agents.ts'
import { THE_SYSTEM } from '../kernel/actor.ts'
import { systemClock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import { readPage } from '../kernel/pages.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { claimNumber, findHolder } from '../tenancy/phone-number-store.ts'
import type { PhoneRouteFields, PhoneRouteRow } from './phone-route-store.ts'
import { makePhoneRoutes, type PhoneRoutes } from './phone-routes.ts'

const FIRST = '+12025550101' as PhoneNumber
const SECOND = '+12025550102' as PhoneNumber

const test = useDatabase()
let acme: TenantId
let globex: TenantId
let routes: PhoneRoutes
let otherNode: PhoneRoutes

beforeEach(async () => {
  acme = await makeTenant(test.db, 'acme')
  globex = await makeTenant(test.db, 'globex')
  const agents = makeAgents({ db: test.db, clock: systemClock })
  for (const tenant of [acme, globex]) {
    await agents.create(tenant, { agentKey: 'support', name: 'Support', description: '' }, THE_SYSTEM)
  }
  routes = makePhoneRoutes({ db: test.db, clock: systemClock })
  otherNode = makePhoneRoutes({ db: (await test.anotherNode()).db, clock: systemClock })
})

function fields(phone_number: PhoneNumber, changes: Partial<PhoneRouteFields> = {}): PhoneRouteFields {
  const rest = { agent_key: 'support', label: '', inbound_enabled: true, outbound_default: false }
  return { ...rest, phone_number, ...changes }
}

async function listed(tenantId: TenantId): Promise<PhoneRouteRow[]> {
  return (await routes.list(tenantId, readPage({}))).rows
}

describe("a phone route's number", () => {
  it('is held by its tenant until the route is deleted', async () => {
    const { id } = await routes.create(acme, fields(FIRST), THE_SYSTEM)
    expect(await findHolder(test.db, FIRST)).toBe('acme')
    await expect(routes.create(globex, fields(FIRST), THE_SYSTEM)).rejects.toMatchObject({ code: 'conflict' })
    await routes.remove(acme, id, THE_SYSTEM)
    expect(await findHolder(test.db, FIRST)).toBeNull()
    await routes.create(globex, fields(FIRST), THE_SYSTEM)
  })

  it('is given free when the route takes another number', async () => {
    const { id } = await routes.create(acme, fields(FIRST), THE_SYSTEM)
    await routes.replace(acme, id, fields(SECOND), THE_SYSTEM)
    expect(await Promise.all([FIRST, SECOND].map((number) => findHolder(test.db, number)))).toEqual([null, 'acme'])
  })

  it("stays the tenant's as long as its document names it", async () => {
    await test.db.transaction().execute((tx) => claimNumber(tx, acme, FIRST, 'document'))
    const { id } = await routes.create(acme, fields(FIRST), THE_SYSTEM)
    await routes.remove(acme, id, THE_SYSTEM)
    expect(await findHolder(test.db, FIRST)).toBe('acme')
  })

  it("cannot be one that another tenant's document names", async () => {
    await test.db.transaction().execute((tx) => claimNumber(tx, globex, FIRST, 'document'))
    await expect(routes.create(acme, fields(FIRST), THE_SYSTEM)).rejects.toMatchObject({ code: 'conflict' })
    expect(await listed(acme)).toEqual([])
  })

  it('stays held by a route that could not take another one', async () => {
    const { id } = await routes.create(acme, fields(FIRST), THE_SYSTEM)
    await routes.create(globex, fields(SECOND), THE_SYSTEM)
    await expect(routes.replace(acme, id, fields(SECOND), THE_SYSTEM)).rejects.toMatchObject({ code: 'conflict' })
    expect(await findHolder(test.db, FIRST)).toBe('acme')
  })

  it('goes to one of the tenants that want it at once', async () => {
    const wanted = Array.from({ length: 10 }, (_, index) =>
      (index % 2 ? otherNode : routes).create(index % 2 ? acme : globex, fields(FIRST), THE_SYSTEM),
    )
    const results = await Promise.allSettled(wanted)
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const refused = results.filter((result) => result.status === 'rejected')
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'conflict' })
    expect([...(await listed(acme)), ...(await listed(globex))]).toHaveLength(1)
  })

  it('can be swapped by two tenants or not, but neither waits for the other for ever', async () => {
    const [ours, theirs] = [
      await routes.create(acme, fields(FIRST), THE_SYSTEM),
      await routes.create(globex, fields(SECOND), THE_SYSTEM),
    ]
    const results = await Promise.allSettled([
      routes.replace(acme, ours.id, fields(SECOND), THE_SYSTEM),
      otherNode.replace(globex, theirs.id, fields(FIRST), THE_SYSTEM),
    ])
    for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: { code: 'conflict' } })
  })
})

describe('the outbound default', () => {
  it('moves from the route that had it', async () => {
    const first = await routes.create(acme, fields(FIRST, { outbound_default: true }), THE_SYSTEM)
    const second = await routes.create(acme, fields(SECOND, { outbound_default: true }), THE_SYSTEM)
    const byId = new Map((await listed(acme)).map(({ id, outbound_default }) => [id, outbound_default]))
    expect([byId.get(first.id), byId.get(second.id)]).toEqual([false, true])
    await routes.replace(acme, first.id, fields(FIRST, { outbound_default: true }), THE_SYSTEM)
    expect((await listed(acme)).filter(({ outbound_default }) => outbound_default)).toMatchObject([{ id: first.id }])
  })

  it("leaves another tenant's alone", async () => {
    await routes.create(globex, fields(SECOND, { outbound_default: true }), THE_SYSTEM)
    await routes.create(acme, fields(FIRST, { outbound_default: true }), THE_SYSTEM)
    expect(await listed(globex)).toMatchObject([{ outbound_default: true }])
  })

  it('is one, however many routes ask for it at once', async () => {
    const numbers = Array.from({ length: 10 }, (_, index) => `+1202555011${index}` as PhoneNumber)
    await Promise.all(
      numbers.map((number, index) =>
        (index % 2 ? otherNode : routes).create(acme, fields(number, { outbound_default: true }), THE_SYSTEM),
      ),
    )
    const rows = await listed(acme)
    expect([rows.length, rows.filter(({ outbound_default }) => outbound_default).length]).toEqual([10, 1])
  })
})

describe('phone routes', () => {
  it('do not keep their tenant from being deleted', async () => {
    await routes.create(acme, fields(FIRST), THE_SYSTEM)
    await test.db.deleteFrom('tenants').where('tenant_id', '=', acme).execute()
    expect([
      await findHolder(test.db, FIRST),
      await test.db.selectFrom('agents').select('agent_key').execute(),
    ]).toEqual([null, [{ agent_key: 'support' }]])
  })
})
