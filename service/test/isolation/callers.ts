import { isAtLeast, ROLES, type Role } from '../../src/kernel/actor.ts'
import { ROLE_TABLE } from '../../src/role-table.ts'
import type { ServedApp } from '../harness/served-app.ts'

/** The tenant whose rows are asked for, and another one. */
export const OWN = 'acme'
export const OTHER = 'globex'

/** Whoever asks. `tenant` and `role` are null for those who have none. */
export type Caller = {
  what: 'stranger' | 'key' | 'administrator' | 'person'
  tenant: string | null
  role: Role | null
  /** Under which what they do is noted. */
  name: string
  headers: Record<string, string>
}

/** What a caller is to get: a refusal, what was asked for, or the very answer that a stranger gets. */
export type Expected = 'granted' | 'as a stranger' | 401 | 403 | 404

const PASSWORD = 'a long enough password'
const ADMIN = '/api/v1/admin/'
/** Of the log there is one for the administrator too. */
const OF_BOTH = ['GET /logs', 'GET /api/v1/logs']
/** Parameters of tenants' routes that name no row: every tenant has what they name. */
const OF_EVERY_TENANT = new Set(['queue_key'])

/** Everybody who could ask; people are made and logged in. */
export async function makeCallers(served: ServedApp): Promise<Caller[]> {
  const people: Caller[] = []
  for (const role of ROLES) people.push(await makePerson(served, OWN, role))
  people.push(await makePerson(served, OTHER, 'admin'))
  const keys = [OWN, OTHER].map(
    (tenant): Caller => ({
      ...{ what: 'key', tenant, role: null, name: `application@${tenant}.example` },
      headers: { authorization: `Bearer ${served.tokenOf(tenant)}` },
    }),
  )
  const nobody = { tenant: null, role: null, name: 'somebody@umbrella.example' }
  return [
    { what: 'stranger', ...nobody, headers: {} },
    ...keys,
    { what: 'administrator', ...nobody, headers: { 'x-admin-key': served.adminKey } },
    ...people,
  ]
}

async function makePerson(served: ServedApp, tenant: string, role: Role): Promise<Caller> {
  const email = `${role}@${tenant}.example`
  await served.administer('POST', `/tenants/${tenant}/users`, { email, role, password: PASSWORD })
  return { what: 'person', tenant, role, name: email, headers: await loggedIn(served, email) }
}

/** The headers of a browser in which somebody has just logged in. */
export async function loggedIn(served: ServedApp, username: string): Promise<Record<string, string>> {
  const origin = served.address
  const response = await fetch(`${origin}/api/v1/admin/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ username, password: PASSWORD }),
  })
  const [cookie] = (response.headers.get('set-cookie') ?? '').split(';')
  if (response.status !== 200 || !cookie) throw new Error(`${username} could not log in: ${response.status}`)
  return { cookie, origin }
}

/** What the table of roles, and whose row is named, make of a caller. `route` is as the table has it. */
export function expectedOf(route: string, caller: Caller): Expected {
  const needed = ROLE_TABLE[route]
  if (needed === undefined) throw new Error(`${route} is not in the table of roles`)
  if (needed === 'everybody') return 'as a stranger'
  const isAdmin = route.includes(ADMIN)
  const isForeign = caller.tenant === OTHER && namesRow(route)
  if (caller.what === 'stranger') return 401
  if (caller.what === 'administrator') return isAdmin || OF_BOTH.includes(route) ? 'granted' : 401
  if (caller.what === 'key') return isAdmin ? 401 : isForeign ? 404 : 'granted'
  if (isAdmin && isForeign && route.includes(':tenant_id')) return 404
  const mayDo = needed !== 'administrator' && caller.role !== null && isAtLeast(caller.role, needed)
  if (!mayDo) return 403
  return isForeign ? 404 : 'granted'
}

function namesRow(route: string): boolean {
  const names = [...route.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  return names.some((name) => route.includes(ADMIN) || !OF_EVERY_TENANT.has(name))
}
