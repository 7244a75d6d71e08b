import type { TenantId, UserId } from './ids.ts'

/** What a person of a tenant may do there; each one also what those before it may. */
export const ROLES = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** A person of one tenant. */
export type Person = { kind: 'person'; name: string; userId: UserId; tenantId: TenantId; role: Role }

/** Whoever administers: the holder of the admin key, the administrator of the installation, we ourselves, or a person. */
export type Actor = { kind: 'key' | 'administrator' | 'system'; name: string } | Person

/** Whoever sent the admin key. */
export const KEY_HOLDER: Actor = { kind: 'key', name: 'admin key' }

/** Whoever holds a tenant's key and is no person. */
export const TENANT_KEY: Actor = { kind: 'key', name: 'API key' }

/** The service itself, as when it makes the demo tenant. */
export const THE_SYSTEM: Actor = { kind: 'system', name: 'parley' }

/** Whether a role is, or holds, the one that is needed. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed)
}
