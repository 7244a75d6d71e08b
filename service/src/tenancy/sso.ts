import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { secretText } from '../kernel/ids.ts'
import { type Sealer, secretsEqual } from '../kernel/seal.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { IdentityFault, type IdentityProvider, type LoginSecrets } from '../platform/sso/port.ts'
import { beginAttempt, noteRefusedLogin } from './login-attempts.ts'
import type { LoggedIn, Logins } from './logins.ts'
import { findUserAcrossTenants } from './user-store.ts'

/** A browser that comes back: the query that it brings, what it kept, where it is, and the session that it has. */
export type Returned = { query: string; pending: string | null; ip: string; previous: string | null }

/** Logging in at an identity provider. */
export type Sso = {
  /**
   * Begins a login.
   *
   * @param returnTo the path of ours at which it ends.
   * @returns where the browser is to be sent, and what it has to keep until it comes back: sealed, good for 10 minutes.
   * @throws AppError `sso_failed` when the provider cannot be asked.
   */
  begin(returnTo: string): Promise<{ url: string; pending: string }>
  /**
   * Lets in who comes back: whose verified e-mail is one of the administrators', or a person's.
   *
   * @throws AppError `unauthorized` when the login was not begun in this browser, or the provider does not vouch for them,
   * `forbidden` when nobody here has their e-mail, `sso_failed` when the provider fails, `rate_limited` after ten failures.
   */
  finish(returned: Returned): Promise<LoggedIn & { returnTo: string }>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  sealer: Sealer
  provider: IdentityProvider
  logins: Pick<Logins, 'letIn' | 'letInAdministrator'>
  /** Whose e-mail makes them administrators of the installation, in lower case. */
  administrators: ReadonlySet<string>
  /** Where the provider sends browsers back to. */
  callbackUrl(): string
}

type Pending = LoginSecrets & { returnTo: string; endsMs: number }

/** How long somebody may take at the provider. */
export const PENDING_MS = 10 * 60_000
const CONTEXT = 'sso login'

export function makeSso(deps: Deps): Sso {
  const { db, clock, log, sealer, provider, logins, administrators, callbackUrl } = deps

  async function letIn(email: string, { ip, previous }: Returned): Promise<LoggedIn> {
    if (administrators.has(email)) return logins.letInAdministrator(email, previous)
    const user = await findUserAcrossTenants(db, email)
    if (user) return logins.letIn(user, previous)
    await noteRefusedLogin(db, clock, ip)
    throw new AppError('forbidden', 'Nobody with your e-mail may log in here. Ask an administrator to add you.')
  }

  async function verifiedEmail(callback: URL, { pending, ip }: { pending: Pending; ip: string }): Promise<string> {
    const { email, isVerified } = await provider.complete(callback, pending).catch(async (error: unknown) => {
      if (error instanceof IdentityFault && error.kind === 'refused') await noteRefusedLogin(db, clock, ip)
      throw told(error)
    })
    // Only of ASCII are two spellings one address: the Kelvin sign, in lower case, is a k.
    if (email !== null && isVerified && isAscii(email)) return email.toLowerCase()
    await noteRefusedLogin(db, clock, ip)
    if (email !== null && isVerified)
      throw new AppError('forbidden', 'Your e-mail has letters outside ASCII: nobody can log in with it here.')
    throw new AppError('forbidden', 'The identity provider does not say that your e-mail is yours: verify it there.')
  }

  /** @throws AppError for the browser; what the provider did is told in the log. */
  function told(error: unknown): unknown {
    if (!(error instanceof IdentityFault)) return error
    log.warn({ reason: error.message }, 'a login at the identity provider failed')
    if (error.kind === 'refused') return begunElsewhere('The identity provider did not confirm the login.')
    return new AppError('sso_failed', 'The identity provider cannot be used now: try again, or log in with a password.')
  }

  function opened(pending: string | null): Pending | null {
    if (pending === null) return null
    try {
      const kept = JSON.parse(sealer.open(pending, CONTEXT)) as Pending
      return kept.endsMs > clock.now() ? kept : null
    } catch {
      // Not ours, or of a key that is none any more.
      return null
    }
  }

  return {
    async begin(returnTo) {
      const secrets = { state: secretText(32), nonce: secretText(32), verifier: secretText(32) }
      const url = await provider.begin(secrets, callbackUrl()).catch((error: unknown) => {
        throw told(error)
      })
      const kept: Pending = { ...secrets, returnTo, endsMs: clock.now() + PENDING_MS }
      return { url, pending: sealer.seal(JSON.stringify(kept), CONTEXT) }
    },
    async finish(returned) {
      const pending = opened(returned.pending)
      const state = new URLSearchParams(returned.query).get('state')
      if (!pending || state === null || !secretsEqual(state, pending.state)) {
        throw begunElsewhere('This login was not begun in this browser, or took longer than 10 minutes.')
      }
      const callback = new URL(callbackUrl())
      callback.search = returned.query
      // As with passwords: what fails counts against the address, and what the provider could not do does not.
      const attempt = await beginAttempt(db, clock, returned.ip)
      try {
        const email = await verifiedEmail(callback, { pending, ip: returned.ip })
        const loggedIn = await letIn(email, returned)
        await attempt.succeeded(db)
        return { ...loggedIn, returnTo: pending.returnTo }
      } catch (error) {
        if (!(error instanceof AppError) || error.code === 'sso_failed') await attempt.succeeded(db)
        throw error
      }
    },
  }
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}

function begunElsewhere(why: string): AppError {
  return new AppError('unauthorized', `${why} Begin again.`)
}
