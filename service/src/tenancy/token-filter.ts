import { type Static, Type } from 'typebox'
import { AppError, invalidRequest } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Credentials } from './credentials.ts'

/** Whose API key or legacy token this is, for a request that names a tenant by it. */
export type TenantByToken = (token: string) => Promise<TenantId>

/** How a request names a tenant by its token: in the query, or in the body, where no proxy writes it down. */
export const tokenField = {
  auth_token: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description: 'Only the tenant whose API key or legacy token this is, in the query or the body. It is not logged.',
    }),
  ),
}

/** The query or the body of a request that says nothing else there. Most are about all tenants, and say nothing. */
export const TokenFilter = Type.Object(tokenField, { additionalProperties: false, examples: [{}] })
type Named = Static<typeof TokenFilter>

/** The token only narrows what an administrator asks for: it opens nothing. @throws AppError `unauthorized` for an unknown one. */
export function tenantByToken({ findTenant }: Pick<Credentials, 'findTenant'>): TenantByToken {
  return async (token) => {
    const found = await findTenant(token)
    if (!found) throw new AppError('unauthorized', 'auth_token is no API key and no legacy token of a tenant.')
    return found.tenantId
  }
}

/**
 * The tenant that a request keeps to, null for all of them.
 *
 * @throws AppError `invalid_request` for two tokens; `unauthorized` for one that is nobody's.
 */
export async function tenantAsked(
  { query, body }: { query: Named; body: Named },
  tenantBy: TenantByToken,
): Promise<TenantId | null> {
  const { auth_token: token = query.auth_token } = body
  if (query.auth_token !== undefined && body.auth_token !== undefined)
    throw invalidRequest([{ path: '/body/auth_token', message: 'must not be given in the query too' }])
  return token === undefined ? null : tenantBy(token)
}
