import * as oidc from 'openid-client'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import { sha256 } from '../../kernel/seal.ts'
import { type Identity, IdentityFault, type IdentityProvider } from './port.ts'

type Options = {
  clock: Clock
  /** As the provider calls itself, to the character. */
  issuerUrl: string
  clientId: string
  clientSecret: string
}

/** For each request to the provider. */
const REQUEST_SECONDS = 10
/** What the provider says of itself is asked for again after this. */
const KNOWN_FOR_MS = 3_600_000
const SCOPE = 'openid email'
/** Less is what providers' clocks differ by anyway. */
const SAME_TIME_MS = 5_000
/** For an http address, which the settings take for this machine alone. */
// oxlint-disable-next-line typescript/no-deprecated -- marked so that it stands out; it is not going away
const TAKE_HTTP: (configuration: oidc.Configuration) => void = oidc.allowInsecureRequests

/**
 * An OpenID Connect provider: the code flow with PKCE, state and nonce; signatures of ID tokens are checked against its keys.
 */
export function oidcProvider(options: Options): IdentityProvider {
  const { clock } = options
  let known: { configuration: oidc.Configuration; untilMs: number; behindMs: number } | null = null

  async function configuration(): Promise<oidc.Configuration> {
    // When ID tokens end is read by the clock of the machine, which may be any, and be set at any time.
    const behindMs = clock.now() - systemClock.now()
    const isSameTime = known !== null && Math.abs(behindMs - known.behindMs) <= SAME_TIME_MS
    if (known && isSameTime && clock.monotonicMs() < known.untilMs) return known.configuration
    const found = await discovered(options, behindMs)
    known = { configuration: found, untilMs: clock.monotonicMs() + KNOWN_FOR_MS, behindMs }
    return found
  }

  return {
    begin: (secrets, redirectUri) =>
      asking(async () => {
        const url = oidc.buildAuthorizationUrl(await configuration(), {
          ...{ redirect_uri: redirectUri, scope: SCOPE, response_type: 'code' },
          ...{ state: secrets.state, nonce: secrets.nonce },
          ...{ code_challenge: sha256(secrets.verifier).toString('base64url'), code_challenge_method: 'S256' },
        })
        return url.href
      }),
    complete: (callback, { state, nonce, verifier }) =>
      asking(async () => {
        const provider = await configuration()
        refuseForged(callback.searchParams, provider.serverMetadata().issuer)
        const tokens = await oidc.authorizationCodeGrant(provider, callback, {
          ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true },
        })
        const claims = tokens.claims()
        if (!claims) throw new IdentityFault('failed', 'the provider sent no ID token')
        // Many providers tell the e-mail, or whether it is verified, only when they are asked for it.
        const isTold = 'email' in claims && 'email_verified' in claims
        const told = isTold ? claims : await oidc.fetchUserInfo(provider, tokens.access_token, claims.sub)
        return identityOf(told)
      }),
  }
}

/** What an answer of a provider says is wrong. */
const CODE = /^[a-z_]{1,64}$/
/** Of other flows than ours. Providers add words of their own to what they send, and those say nothing. */
const OF_OTHER_FLOWS = ['response', 'id_token', 'token', 'access_token'] as const
const ONCE = ['code', 'state', 'iss', 'error'] as const

/** @throws IdentityFault `refused` for what the provider does not write: that is no fault of the provider's. */
function refuseForged(query: URLSearchParams, issuer: string): void {
  const isOdd = OF_OTHER_FLOWS.some((name) => query.has(name)) || ONCE.some((name) => query.getAll(name).length > 1)
  if (isOdd || !(query.has('error') || query.get('code'))) {
    throw new IdentityFault('refused', 'somebody came back with what it does not send')
  }
  if (query.has('iss') && query.get('iss') !== issuer) throw new IdentityFault('refused', 'somebody else sent it')
}

/** The provider's own description of itself, and how it wants to be shown the secret. */
async function discovered(
  { issuerUrl, clientId, clientSecret }: Options,
  behindMs: number,
): Promise<oidc.Configuration> {
  const url = new URL(issuerUrl)
  const options = { execute: url.protocol === 'http:' ? [TAKE_HTTP] : [], timeout: REQUEST_SECONDS }
  const found = await oidc.discovery(url, clientId, undefined, oidc.None(), options)
  const metadata = found.serverMetadata()
  const takesPost = metadata.token_endpoint_auth_methods_supported?.includes('client_secret_post') ?? false
  const authentication = takesPost ? oidc.ClientSecretPost(clientSecret) : oidc.ClientSecretBasic(clientSecret)
  const ofTime = { [oidc.clockSkew]: Math.round(behindMs / 1_000) }
  const configuration = new oidc.Configuration(metadata, clientId, ofTime, authentication)
  configuration.timeout = REQUEST_SECONDS
  for (const extend of [...options.execute, oidc.enableNonRepudiationChecks]) extend(configuration)
  return configuration
}

function identityOf({ email, email_verified: verified }: Record<string, unknown>): Identity {
  // Some providers write it as a text.
  return { email: typeof email === 'string' ? email : null, isVerified: verified === true || verified === 'true' }
}

/** @throws IdentityFault alone. */
async function asking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof IdentityFault ? error : faultOf(error)
  }
}

/** What the provider's words are is told to the log alone, and of the errors of the library no more than code and message. */
function faultOf(error: unknown): IdentityFault {
  if (error instanceof oidc.AuthorizationResponseError)
    return new IdentityFault('refused', `it answered ${CODE.test(error.error) ? error.error : 'with words of its own'}`)
  if (error instanceof oidc.ResponseBodyError) {
    const isRefusal = error.error === 'invalid_grant'
    return new IdentityFault(isRefusal ? 'refused' : 'failed', `its token endpoint answered ${error.error}`)
  }
  const { message, code, cause } = error as Error & { code?: unknown }
  const because = cause instanceof Error ? `: ${cause.message}` : ''
  return new IdentityFault('failed', `${typeof code === 'string' ? `${code}: ` : ''}${message}${because}`)
}
