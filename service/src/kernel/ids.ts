import { randomBytes } from 'node:crypto'

/** A string that only the code which made it may be mistaken for: see `TenantId` for how a brand is used. */
type Branded<Name extends string> = string & { readonly __brand: Name }

export type TenantId = Branded<'TenantId'>
export type AgentId = Branded<'AgentId'>
export type AgentVersionId = Branded<'AgentVersionId'>
export type ApiKeyId = Branded<'ApiKeyId'>
export type PhoneRouteId = Branded<'PhoneRouteId'>
export type NodeId = Branded<'NodeId'>
export type UserId = Branded<'UserId'>

/**
 * A UUID of version 7 (RFC 9562): sorts by the instant it was made, which keeps index pages warm.
 *
 * @param nowMs wall-clock milliseconds since the epoch.
 * @param position from 0 to 262,143, of one of many that are made in the same millisecond: they sort by it.
 */
export function newId<Id extends string>(nowMs: number, position?: number): Id {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(nowMs, 0, 6)
  // In the bits behind the version and the variant, twelve and six, which are written over the rest of their bytes.
  if (position !== undefined) bytes.writeUIntBE((position >> 6) * 256 + (position & 0x3f), 6, 3)
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as Id
}

/** `sizeBytes` bytes that nobody can guess. */
export function secretBytes(sizeBytes: number): Buffer {
  return randomBytes(sizeBytes)
}

/** A number from 0 to 1, without 1. */
export function byChance(): number {
  return randomBytes(4).readUInt32BE() / 2 ** 32
}

/** `sizeBytes` unguessable bytes in base64url: 32 bytes are 43 characters. */
export function secretText(sizeBytes: number): string {
  return randomBytes(sizeBytes).toString('base64url')
}
