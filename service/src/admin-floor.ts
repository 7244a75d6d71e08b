import type { Deps } from './deps.ts'
import { sha256 } from './kernel/seal.ts'
import type { People } from './platform/http/people.ts'
import type { RateLimits } from './platform/http/rate-limits.ts'
import type { HttpServer } from './platform/http/server.ts'
import { isLoopback } from './public-url.ts'
import { mayDo } from './role-table.ts'
import { adminAuthRoutes } from './tenancy/admin-auth-routes.ts'
import { makeAdminSessions } from './tenancy/admin-sessions.ts'
import { makeAuditLog } from './tenancy/audit-log.ts'
import { auditLogRoutes } from './tenancy/audit-log-routes.ts'
import type { TransportFacts } from './tenancy/auth-transport.ts'
import { authTransportRoutes } from './tenancy/auth-transport-routes.ts'
import { orLately } from './tenancy/lately.ts'
import { type Administrator, makeLogins } from './tenancy/logins.ts'
import { Passwords } from './tenancy/passwords.ts'
import { makePersonChanges } from './tenancy/person-changes.ts'
import { promptly } from './tenancy/prompt-credentials.ts'
import { makeSso } from './tenancy/sso.ts'
import { SSO_CALLBACK, SSO_START, ssoRoutes } from './tenancy/sso-routes.ts'
import { makeStanding, type Standing } from './tenancy/standing.ts'
import { userRoutes } from './tenancy/user-routes.ts'
import { makeUsers } from './tenancy/users.ts'

type Parts = { origin: () => string; limits: RateLimits }

/** How people administer: who they are, and how they log in. */
export function makeAdministration(deps: Deps, { origin, limits }: Parts) {
  const { clock, config, database, log, sealer, formerSealer } = deps
  const { db } = database
  // The people that it vouches for, and the e-mails of others, are in the database.
  const provider = database.kind === 'memory' ? null : deps.identityProvider
  const administrator = administratorOf(deps)
  const sessions = makeAdminSessions({ db, clock, credentials: sha256(whoAdministers(deps)).toString('hex') })
  const passwords = new Passwords()
  const logins = makeLogins({ db, clock, sessions, administrator, passwords })
  const changes = makePersonChanges({ bus: deps.cluster.bus, sessions })
  const users = makeUsers({ db, clock, passwords, onChange: changes.changed })
  const isEnabled = logins.isEnabled || provider !== null
  const find: People['find'] = (token, { address, isLook }) =>
    sessions.find(token, { isLook, mayAsk: () => limits.mayAsk(address) })
  const findAnyTime = orLately(promptly(clock, find), (token) => sessions.lately(token))
  const people: People = { isEnabled, find: database.kind === 'server' ? findAnyTime : find, mayDo, origin }
  const { adminKey, legacyBearer: legacyEnabled } = config
  const digests = { digest: sealer.digest, formerDigest: formerSealer?.digest ?? null }
  const standing = makeStanding({ db, sessions, ...digests, adminKey, legacyEnabled, mayDo })
  const isGood: Standing['isGood'] = (ref, wanted) => standing.isGood(ref, wanted)
  const administrators = new Set(config.oidcAllowedEmails.map((email) => email.toLowerCase()))
  const callbackUrl = () => origin() + SSO_CALLBACK
  const sso = provider && makeSso({ db, clock, log, sealer, provider, logins, administrators, callbackUrl })
  return {
    people,
    standing: { ...standing, isGood: database.kind === 'server' ? promptly(clock, isGood) : isGood },
    async register(app: HttpServer) {
      const ssoPath = sso && SSO_START
      const { simulated } = deps
      const { standby } = config
      await app.register(adminAuthRoutes({ logins, sessions, users, ssoPath, origin, limits, simulated, standby }))
      await app.register(ssoRoutes({ sso, origin, limits }))
      await app.register(userRoutes({ users, origin }))
      await app.register(auditLogRoutes(makeAuditLog({ db })))
      await app.register(authTransportRoutes(() => transportOf(config, origin())))
    },
    close: changes.close,
  }
}

/** What changes when somebody else is to administer the installation: sessions begun before are over then. */
function whoAdministers(deps: Deps): string {
  const { oidcIssuerUrl, oidcClientId, oidcAllowedEmails } = deps.config
  const administrator = administratorOf(deps)
  const byPassword = administrator ? `${administrator.username}/${administrator.passwordSha256}` : ''
  if (oidcIssuerUrl === null) return byPassword
  return JSON.stringify([byPassword, oidcIssuerUrl, oidcClientId, oidcAllowedEmails.toSorted()])
}

function administratorOf({ config }: Deps): Administrator | null {
  const { adminUsername: username, adminPassword: password } = config
  if (username === null) return null
  const given = password === null ? null : sha256(password).toString('hex')
  const passwordSha256 = given ?? config.adminPasswordSha256
  return passwordSha256 === null ? null : { username, passwordSha256 }
}

/** How credentials travel, by the settings and the address that the service is reached at. */
export function transportOf(config: Deps['config'], publicUrl: string): TransportFacts {
  return {
    hasStreamSecret: config.streamTokenSecret !== null,
    hasPreviousStreamSecret: config.streamTokenSecretPrevious !== null,
    hasEncryptionKey: config.encryptionKey !== null,
    takesQueryCredentials: config.legacyQueryAuth,
    takesLegacyBearer: config.legacyBearer,
    takesUnsignedCallbacks: config.simulator && isLoopback(publicUrl),
    isPublicUrlSafe: publicUrl.startsWith('https:') || isLoopback(publicUrl),
  }
}
