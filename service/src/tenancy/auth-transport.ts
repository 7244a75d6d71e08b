import { Type } from 'typebox'

/** How credentials travel and which of them there are, as diagnostics show it. */
export const AuthTransport = Type.Object({
  legacy_query_auth_enabled: Type.Boolean(),
  stream_auth_previous_configured: Type.Boolean(),
  stream_auth_primary_configured: Type.Boolean(),
  stream_auth_secret_count: Type.Integer({
    minimum: 0,
    description: 'The secrets by which stream tokens are verified.',
  }),
})
export type AuthTransport = Type.Static<typeof AuthTransport>

type Settings = { streamTokenSecret: string | null; streamTokenSecretPrevious: string | null }

/** Without a secret of its own a token is signed by one that is derived, which counts like any other. */
export function authTransportOf({ streamTokenSecret, streamTokenSecretPrevious }: Settings): AuthTransport {
  return {
    // No credential is taken from a query.
    legacy_query_auth_enabled: false,
    stream_auth_previous_configured: streamTokenSecretPrevious !== null,
    stream_auth_primary_configured: streamTokenSecret !== null,
    stream_auth_secret_count: streamTokenSecretPrevious === null ? 1 : 2,
  }
}
