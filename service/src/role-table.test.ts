import { expect, it } from 'vitest'
import { ROLE_TABLE } from './role-table.ts'
import { tenantIdFault } from './tenancy/tenant-rules.ts'

it('no tenant can have a name at whose address something else is read', () => {
  const names = Object.keys(ROLE_TABLE).flatMap(
    (route) => /^GET \/api\/v1\/admin\/tenants\/([^/:]+)$/.exec(route)?.slice(1) ?? [],
  )
  expect(names).toContain('cached')
  expect(names.filter((name) => tenantIdFault(name) === null)).toEqual([])
  expect(tenantIdFault('acme')).toBeNull()
})
