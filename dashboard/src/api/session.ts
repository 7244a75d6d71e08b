import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { paths } from './api-types.ts'
import { answerOf, api } from './client.ts'
import { asFailure } from './failure.ts'
import { useIsRoleHeld } from './held-role.ts'

/** From the one that may least; an administrator is of no tenant and may everything. */
const ROLES = ['viewer', 'operator', 'admin', 'administrator'] as const

/** What somebody who is logged in may. */
export type Role = (typeof ROLES)[number]

/** Who is logged in. */
export type Person = {
  /** Null: an administrator of the installation. */
  id: string | null
  /** Of a person of a tenant their e-mail, which may change while they are logged in. */
  name: string
  role: Role
  /** Null: an administrator of the installation. */
  tenantId: string | null
}

type Answered = paths['/api/v1/admin/auth/session']['get']['responses'][200]['content']['application/json']

/** With who was logged in until the session came to its end, though nobody has logged out. */
type Session = Answered & { ended?: Person | null }

const SESSION_KEY = ['session']

/** Who is logged in, and how somebody could. */
export const sessionQuery = queryOptions({
  queryKey: SESSION_KEY,
  queryFn: async ({ client }): Promise<Session> => {
    const session = await answerOf(api.GET('/api/v1/admin/auth/session')).catch(unlessOff)
    const known = client.getQueryData<Session>(SESSION_KEY)
    const before = known ? whoseIs(known) : null
    const now = personIn(session)
    if (now === null) return { ...session, ended: before }
    if (before !== null && identityOf(before) !== identityOf(now)) forget(client, personKey(before) === personKey(now))
    return session
  },
  staleTime: 60_000,
})

/** What was read in a session. */
const ALL_ELSE = { predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[0] !== SESSION_KEY[0] }

/** What is shown is read again for the same person in another role or by another name, and stays until then: they may be writing in it. */
function forget(client: QueryClient, isSamePerson: boolean): void {
  if (!isSamePerson) return client.removeQueries(ALL_ELSE)
  client.removeQueries({ ...ALL_ELSE, type: 'inactive' })
  void client.invalidateQueries(ALL_ELSE)
}

/** Reads again what is shown, for whoever is back. */
export async function readAllAgain(client: QueryClient): Promise<void> {
  await client.invalidateQueries(ALL_ELSE, { cancelRefetch: false })
}

/** Where nobody can administer at all these paths are not there. @throws any other failure. */
function unlessOff(error: unknown): Answered {
  if (asFailure(error).status !== 404) throw error
  const nobody = { authenticated: false, username: null, user_id: null, role: null, tenant_id: null } as const
  const noWay = { login_enabled: false, sso_enabled: false, sso_authorize_url: null }
  return { ok: true, ...nobody, ...noWay, simulated: NOTHING, standby: false }
}

const NOTHING = { carrier: false, model: false }

/** Whoever it is; null when nobody is logged in. */
export function personIn(session: Session): Person | null {
  if (!session.authenticated) return null
  const name = session.username ?? 'admin key'
  return { id: session.user_id, name, role: session.role ?? 'administrator', tenantId: session.tenant_id }
}

/** Whose pages these are: of whoever is logged in, or was until the session came to its end; else null. */
export function whoseIs(session: Session): Person | null {
  return personIn(session) ?? session.ended ?? null
}

/** Another one for everybody who is somebody else, is called something else, or may something else. */
function identityOf({ id, name, role, tenantId }: Person): string {
  return JSON.stringify([id, name, role, tenantId])
}

/** Another one for everybody who is somebody else, whatever they may, and whatever their e-mail is. */
export function personKey({ id, name }: Person): string {
  return JSON.stringify(id === null ? { name } : { id })
}

/** Whether a role is, or holds, the one that is needed. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed)
}

/** Who is logged in, or logs in again over this page. Only for what stands within the shell, where somebody is. */
export function usePerson(): Person {
  const { data } = useQuery(sessionQuery)
  const person = data ? whoseIs(data) : null
  return person ?? NOBODY
}

/**
 * Whose session goes on: null from its end until somebody has logged in again. What follows the service is left and taken up again by
 * it, where `usePerson` is the same all the while.
 */
export function useSessionOf(): string | null {
  const { data } = useQuery(sessionQuery)
  const person = data ? personIn(data) : null
  return person && identityOf(person)
}

/** For the moment between the end of a session and the login. */
const NOBODY: Person = { id: null, name: '', role: 'viewer', tenantId: null }

/** Whether whoever is logged in may do what this role may; or could a moment ago, for as long as something on the page holds it. */
export function useMay(needed: Role): boolean {
  const may = isAtLeast(usePerson().role, needed)
  const isHeld = useIsRoleHeld()
  const [before, setBefore] = useState({ needed, may })
  const now = may || (isHeld && before.may && before.needed === needed)
  if (before.needed !== needed || before.may !== now) setBefore({ needed, may: now })
  return now
}

/** Whether this service only shows what there is and takes changes of configuration: another one has the calls. */
export function useStandby(): boolean {
  const { data } = useQuery(sessionQuery)
  return data?.standby ?? false
}

/** Which providers a simulator stands in for: where it is one this is a rehearsal. */
export function useSimulated(): Session['simulated'] {
  const { data } = useQuery(sessionQuery)
  return data?.simulated ?? NOTHING
}
