import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Credentials } from './credentials.ts'

/** Whose API key or legacy token this is, for a request that names a tenant by it. */
export type TenantByToken = (token: string) => Promise<TenantId>

/** The token only narrows what an administrator asks for: it opens nothing. @throws AppError `unauthorized` for an unknown one. */
export function tenantByToken({ findTenant }: Pick<Credentials, 'findTenant'>): TenantByToken {
  return async (token) => {
    const found = await findTenant(token)
    if (!found) throw new AppError('unauthorized', 'auth_token is no API key and no legacy token of a tenant.')
    return found.tenantId
  }
}
