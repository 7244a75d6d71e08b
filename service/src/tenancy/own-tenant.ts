import type { Actor } from '../kernel/actor.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'

/**
 * The tenant that a list over tenants is narrowed to: for a person always their own, for others the one they ask for, if any.
 *
 * @throws AppError `not_found` when a person asks for another one.
 */
export function ownTenant(actor: Actor, asked: TenantId | undefined): TenantId | undefined {
  if (actor.kind !== 'person') return asked
  if (asked !== undefined && asked !== actor.tenantId) throw new AppError('not_found', 'There is no such tenant.')
  return actor.tenantId
}
