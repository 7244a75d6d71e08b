import { type Static, Type } from 'typebox'
import type { TenantId } from '../../kernel/ids.ts'

/** What a token for a line says; the claims of RFC 7519 under their short names. */
export const LineClaims = Type.Object({
  kind: Type.Enum(['listen', 'takeover']),
  tenant: Type.Unsafe<TenantId>(Type.String({ minLength: 1 })),
  stream_sid: Type.String({ minLength: 1 }),
  /** Who it is, in their own words or those of their login; null when nobody said. */
  supervisor: Type.Union([Type.String(), Type.Null()]),
  /** What names the credential that asked for the line; without one, as nodes of earlier versions sign it, nobody is asked. */
  by: Type.Optional(Type.String({ minLength: 1 })),
  /** Seconds since the epoch. */
  exp: Type.Integer({ minimum: 0 }),
  jti: Type.String({ minLength: 1 }),
})

/** A token that is ours and has not ended; whether it was used is not known yet. */
export type LineTokenClaims = Static<typeof LineClaims>

/** What a person is let in for. */
export type LineGrant = Omit<LineTokenClaims, 'exp' | 'jti'>
