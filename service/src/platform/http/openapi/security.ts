import type { DescribedRoute } from './routes.ts'

type Requirement = Record<string, never[]>

const SCHEMES = {
  tenantKey: {
    type: 'http',
    scheme: 'bearer',
    description: "A tenant's API key (pk_…), or its legacy raw token.",
  },
  adminKey: { type: 'apiKey', in: 'header', name: 'x-admin-key', description: 'ADMIN_API_KEY of the installation.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'parley_admin',
    description: 'The session of somebody who logged in. A change with it needs an Origin header of this service.',
  },
  actsFor: {
    type: 'apiKey',
    in: 'header',
    name: 'x-tenant-id',
    description: 'The tenant for which an administrator of the installation acts; beside their credential.',
  },
  providerSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Provider-Signature',
    description:
      'HMAC-SHA1 in base64, by the auth token of the carrier account, over the exact public address and the sorted form.',
  },
  twilioSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Twilio-Signature',
    description: 'The same, as Twilio sends it.',
  },
  streamToken: {
    type: 'apiKey',
    in: 'query',
    name: 'stream_token',
    description:
      'Opens one stream, once, within STREAM_TOKEN_TTL_SECONDS (two minutes). It may also be the last segment of the path, or come in the start message.',
  },
}

const of = (...names: (keyof typeof SCHEMES)[]): Requirement[] => names.map((name) => ({ [name]: [] }))

/** Both are sent. */
const ACTING: Requirement[] = [
  { session: [], actsFor: [] },
  { adminKey: [], actsFor: [] },
]

/** Which credentials a route takes: one of those. */
export function securityOf({ surface, url }: DescribedRoute): Requirement[] {
  if (url.startsWith('/media-stream')) return [...of('streamToken', 'tenantKey'), {}]
  if (url === '/logs' || url === '/api/v1/logs') return of('tenantKey', 'adminKey', 'session')
  if (surface === 'callbacks') return of('providerSignature', 'twilioSignature')
  if (surface === 'runtime') return [...of('tenantKey', 'session'), ...ACTING]
  if (surface !== 'admin') return []
  return OPEN.test(url) ? [{}, ...of('adminKey', 'session')] : of('adminKey', 'session')
}

/** Who is not known yet asks for these. */
const OPEN = /\/admin\/auth\/(login|logout|session|invitation|sso\/\w+)$/

/** The schemes that these operations name. */
export function schemesOf(operations: object[]): Record<string, object> {
  const used = new Set(
    operations.flatMap((each) => (each as { security: Requirement[] }).security.flatMap(Object.keys)),
  )
  return Object.fromEntries(Object.entries(SCHEMES).filter(([name]) => used.has(name)))
}
