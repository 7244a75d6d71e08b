import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { Clock } from '../../src/kernel/clock.ts'

/** How an issuer behaves: honest unless told otherwise. */
type Behaviour = {
  /** Who is logged in there. */
  person: { sub: string; email?: string; email_verified?: boolean | string }
  /** Where it tells the e-mail. */
  tells: 'id token' | 'userinfo'
  /** Members of the ID token that it makes up. */
  lies: Record<string, unknown>
  /** It signs with a key that is not among its own. */
  usesForeignKey: boolean
  /** It sends people back without a code. */
  denies: boolean
  /** It answers everything with 500. */
  isBroken: boolean
}

/** An OpenID Connect provider on this machine whose one person is logged in already. Whoever starts it closes it. */
export type Issuer = {
  url: string
  behaviour: Behaviour
  /** Is honest again. */
  reset(): void
  close(): Promise<void>
}

export const CLIENT = { id: 'parley', secret: 'secret-of-the-client-at-the-issuer' }

type Granted = { redirectUri: string; challenge: string; nonce: string | null }
type Answer = { status: number; body?: unknown; headers?: Record<string, string> }

/** Takes only what the specification lets it: one exact redirect address, PKCE with S256, each code once, the client's secret. */
export async function startIssuer(redirectUri: () => string, clock: Pick<Clock, 'now'>): Promise<Issuer> {
  const [own, foreign] = [await generateKeyPair('RS256'), await generateKeyPair('RS256')]
  const keys = { keys: [{ ...(await exportJWK(own.publicKey)), kid: 'own', alg: 'RS256', use: 'sig' }] }
  const codes = new Map<string, Granted>()
  const behaviour = honest()
  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const description = {
    ...{ issuer: url, authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` },
    ...{ userinfo_endpoint: `${url}/userinfo`, jwks_uri: `${url}/jwks`, response_types_supported: ['code'] },
    ...{ subject_types_supported: ['public'], id_token_signing_alg_values_supported: ['RS256'] },
    ...{ token_endpoint_auth_methods_supported: ['client_secret_post'], code_challenge_methods_supported: ['S256'] },
    authorization_response_iss_parameter_supported: true,
  }

  function authorize(query: URLSearchParams): Answer {
    const asked = Object.fromEntries(query)
    const isKnown = asked['client_id'] === CLIENT.id && asked['redirect_uri'] === redirectUri()
    if (!isKnown) return { status: 400, body: { error: 'unknown client or address' } }
    const isFlow = asked['response_type'] === 'code' && asked['code_challenge_method'] === 'S256'
    if (!isFlow || !asked['scope']?.split(' ').includes('openid'))
      return { status: 400, body: { error: 'no such flow' } }
    const back = new URL(redirectUri())
    const code = randomUUID()
    const { nonce = null, code_challenge: challenge = '' } = asked
    codes.set(code, { redirectUri: redirectUri(), challenge, nonce })
    const result = behaviour.denies ? { error: 'access_denied', error_description: 'not today' } : { code }
    back.search = new URLSearchParams({
      ...result,
      state: asked['state'] ?? '',
      iss: url,
      extra: 'of its own',
    }).toString()
    return { status: 302, headers: { location: back.href } }
  }

  async function token(form: URLSearchParams): Promise<Answer> {
    const asked = Object.fromEntries(form)
    if (asked['client_id'] !== CLIENT.id || asked['client_secret'] !== CLIENT.secret) {
      return { status: 401, body: { error: 'invalid_client' } }
    }
    const granted = codes.get(asked['code'] ?? '')
    codes.delete(asked['code'] ?? '')
    const challenge = createHash('sha256')
      .update(asked['code_verifier'] ?? '')
      .digest('base64url')
    const isTheirs = granted?.challenge === challenge && granted.redirectUri === asked['redirect_uri']
    if (!granted || !isTheirs) return { status: 400, body: { error: 'invalid_grant' } }
    const body = {
      access_token: 'access',
      token_type: 'Bearer',
      expires_in: 60,
      id_token: await idToken(granted.nonce),
    }
    return { status: 200, body }
  }

  function idToken(nonce: string | null): Promise<string> {
    const { sub, ...mail } = behaviour.person
    const nowSeconds = Math.floor(clock.now() / 1_000)
    const usual = { iss: url, aud: CLIENT.id, sub, iat: nowSeconds, exp: nowSeconds + 60, ...(nonce && { nonce }) }
    const claims = { ...usual, ...(behaviour.tells === 'id token' && mail), ...behaviour.lies }
    const key = behaviour.usesForeignKey ? foreign : own
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'own' }).sign(key.privateKey)
  }

  async function answer(request: IncomingMessage): Promise<Answer> {
    const { pathname, searchParams } = new URL(request.url ?? '/', url)
    if (behaviour.isBroken) return { status: 500, body: {} }
    if (pathname === '/.well-known/openid-configuration') return { status: 200, body: description }
    if (pathname === '/jwks') return { status: 200, body: keys }
    if (pathname === '/authorize') return authorize(searchParams)
    if (pathname === '/token') return token(new URLSearchParams(await textOf(request)))
    const isBearer = pathname === '/userinfo' && request.headers.authorization === 'Bearer access'
    return isBearer ? { status: 200, body: behaviour.person } : { status: 404, body: {} }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body, headers = {} } = await answer(request)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body === undefined ? '' : JSON.stringify(body))
  }

  return {
    url,
    behaviour,
    reset: () => void Object.assign(behaviour, honest()),
    async close() {
      server.closeAllConnections()
      server.close()
      if (server.listening) await once(server, 'close')
    },
  }
}

function honest(): Behaviour {
  return {
    ...{ person: { sub: 'ada', email: 'ada@example.com', email_verified: true }, tells: 'id token', lies: {} },
    ...{ usesForeignKey: false, denies: false, isBroken: false },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
