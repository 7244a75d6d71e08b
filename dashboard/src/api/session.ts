import { queryOptions, useQuery } from '@tanstack/react-query'
import type { paths } from './api-types.ts'
import { answerOf, api } from './client.ts'
import { asFailure } from './failure.ts'

/** From the one that may least; an administrator is of no tenant and may everything. */
const ROLES = ['viewer', 'operator', 'admin', 'administrator'] as const

/** What somebody who is logged in may. */
export type Role = (typeof ROLES)[number]

/** Who is logged in. */
export type Person = {
  name: string
  role: Role
  /** Null: an administrator of the installation. */
  tenantId: string | null
}

/** Who is logged in, and how somebody could. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => answerOf(api.GET('/api/v1/admin/auth/session')).catch(unlessOff),
  staleTime: 60_000,
})

type Session = paths['/api/v1/admin/auth/session']['get']['responses'][200]['content']['application/json']

/** Where nobody can administer at all these paths are not there. @throws any other failure. */
function unlessOff(error: unknown): Session {
  if (asFailure(error).status !== 404) throw error
  const nobody = { authenticated: false, username: null, role: null, tenant_id: null } as const
  return { ok: true, ...nobody, login_enabled: false, sso_enabled: false, sso_authorize_url: null, simulated: NOTHING }
}

const NOTHING = { carrier: false, model: false }

/** Whoever it is; null when nobody is logged in. */
export function personIn(session: Session): Person | null {
  if (!session.authenticated) return null
  const name = session.username ?? 'admin key'
  return { name, role: session.role ?? 'administrator', tenantId: session.tenant_id }
}

/** Whether a role is, or holds, the one that is needed. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed)
}

/** Who is logged in. Only for what stands within the shell, where somebody is. */
export function usePerson(): Person {
  const { data } = useQuery(sessionQuery)
  const person = data ? personIn(data) : null
  return person ?? NOBODY
}

/** For the moment between the end of a session and the login. */
const NOBODY: Person = { name: '', role: 'viewer', tenantId: null }

/** Whether whoever is logged in may do what this role may. */
export function useMay(needed: Role): boolean {
  return isAtLeast(usePerson().role, needed)
}

/** Which providers a simulator stands in for: where it is one this is a rehearsal. */
export function useSimulated(): Session['simulated'] {
  const { data } = useQuery(sessionQuery)
  return data?.simulated ?? NOTHING
}
