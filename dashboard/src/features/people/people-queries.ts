import type { Answer } from '../../api/answers.ts'
import { answerOf, api } from '../../api/client.ts'
import { ApiFailure, asHeld } from '../../api/failure.ts'
import { foundRow } from '../../api/found-row.ts'
import type { ListPart } from '../../components/list-part.ts'

const USERS = '/api/v1/admin/tenants/{tenant_id}/users'
const KEYS = '/api/v1/admin/tenants/{tenant_id}/api-keys'

/** Somebody who can log in. */
export type User = Answer<typeof USERS, 'post'>['user']

/** What a person may, from the one who may least. */
export const USER_ROLES = ['viewer', 'operator', 'admin'] as const
export type UserRole = (typeof USER_ROLES)[number]

/** A credential of the tenant's own programs. */
export type ApiKey = Answer<typeof KEYS, 'post'>['created']['api_key']

export const usersKey = (tenantId: string) => ['users', tenantId]
export const keysKey = (tenantId: string) => ['api-keys', tenantId]

/** One page of the people, newest first. */
export async function listUsers(tenantId: string, cursor: string | undefined): Promise<ListPart<User>> {
  const params = { path: { tenant_id: tenantId }, query: { cursor } }
  const answer = await answerOf(api.GET(USERS, { params }))
  return { rows: answer.users, next: answer.next_cursor }
}

/** A person as they are now, found among all of the tenant. @throws ApiFailure when there is none. */
export async function readUser({ tenant_id, id }: User): Promise<User> {
  const user = await foundRow<User>(
    (each) => each.id === id,
    async (query) => {
      const answer = await answerOf(api.GET(USERS, { params: { path: { tenant_id }, query } }))
      return { rows: answer.users, next: answer.next_cursor }
    },
  )
  if (user) return user
  throw new ApiFailure({ status: 404, code: 'not_found', message: 'Somebody has deleted the person meanwhile.' })
}

/** Invites somebody. Returns the link by which they set a password, which the service tells once. */
export async function inviteUser(tenantId: string, { name, ...user }: { email: string; name: string; role: UserRole }) {
  const body = { ...user, ...(name !== '' && { name }) }
  const made = answerOf(api.POST(USERS, { params: { path: { tenant_id: tenantId } }, body }))
  return (await made.catch(emailHeld)).invitation_url ?? ''
}

/** What of a person can be changed; a password or an invitation logs them out. */
export type UserChange = { email?: string; name?: string; role?: UserRole; password?: string; invite?: true }

/** Changes a person. Returns the new link when they are invited again. */
export async function changeUser({ tenant_id, id }: User, body: UserChange) {
  const params = { path: { tenant_id, user_id: id } }
  const changed = answerOf(api.PATCH(`${USERS}/{user_id}`, { params, body }))
  return (await changed.catch(emailHeld)).invitation_url ?? ''
}

const emailHeld = (error: unknown) => asHeld(error, '/body/email')

/** Logs somebody out for good. */
export async function deleteUser({ tenant_id, id }: User): Promise<void> {
  await answerOf(api.DELETE(`${USERS}/{user_id}`, { params: { path: { tenant_id, user_id: id } } }))
}

/** One page of the keys, newest first. */
export async function listKeys(tenantId: string, cursor: string | undefined): Promise<ListPart<ApiKey>> {
  const params = { path: { tenant_id: tenantId }, query: { cursor } }
  const answer = await answerOf(api.GET(KEYS, { params }))
  return { rows: answer.api_keys, next: answer.next_cursor }
}

/** Makes a key. Returns its token, which the service tells once. */
export async function createKey(tenantId: string, label: string): Promise<string> {
  const params = { path: { tenant_id: tenantId } }
  return (await answerOf(api.POST(KEYS, { params, body: { label } }))).created.token
}

/** Refuses a key from now on, on every node within a second. */
export async function revokeKey(tenantId: string, { id }: ApiKey): Promise<void> {
  await answerOf(api.DELETE(`${KEYS}/{key_id}`, { params: { path: { tenant_id: tenantId, key_id: id } } }))
}
