import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import { sha256 } from '../kernel/seal.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { hashToken, keyPrefixOf } from './api-key-token.ts'
import { type Credential, CredentialCache, type CredentialMetrics } from './credential-cache.ts'
import { findApiKeyAcrossTenants, findLegacyTokenAcrossTenants } from './credential-store.ts'
import { CredentialUses } from './credential-uses.ts'
import { crowded } from './crowded.ts'
import { Lately } from './lately.ts'

/** Whose token is it? */
export type Credentials = {
  /**
   * The tenant that `token` belongs to, or null: unknown, revoked, or of a kind that is turned off. A key that another node
   * revoked is refused here half a second later at most. `isLook`: it is asked for to see whether it is still good, which is no use of it.
   *
   * @param mayAsk is asked before the database is, for a token that was not good lately.
   * @throws AppError `rate_limited` when it may not; `unavailable` when the database cannot be asked: that is no reason to call a token wrong.
   */
  findTenant(token: string, asking?: { isLook?: boolean; mayAsk?: () => boolean }): Promise<Credential | null>
  /** The tenant that `token` was good for within the last ten minutes, as far as is known here. It is no look-up, and for when there can be none. */
  lately(token: string): Credential | null
  /** To be called when a key of the tenant was revoked or its document changed, once that is committed. */
  forget(tenantId: TenantId): void
  /** How often the credentials that were used last on this node were asked for, the last one first. */
  metrics(limit: number): CredentialMetrics[]
  /** Waits for what is written in the background. Calling it again changes nothing. */
  close(): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  log: Log
  /** LEGACY_TENANT_BEARER_AUTH_ENABLED: whether the `auth_token` of a tenant document is a credential. */
  legacyEnabled: boolean
}

/** Bounds of a legacy token, in characters. An API key is within them too, so that nothing longer is ever hashed. */
const MIN_TOKEN_CHARS = 16
const MAX_TOKEN_CHARS = 200

/** Compared with when there is no such key, so that this takes as long as when there is one. */
const NO_HASH = sha256('')

export function makeCredentials({ db, clock, log, legacyEnabled }: Deps): Credentials {
  const cache = new CredentialCache()
  /** What was only looked at: it is not noted as used, which a use has to do. */
  const looks = new CredentialCache()
  const lately = new Lately<Credential>(clock)
  const uses = new CredentialUses({ db, clock, log })

  async function byApiKey(token: string, isLook: boolean): Promise<Credential | null> {
    const keyPrefix = keyPrefixOf(token)
    if (keyPrefix === null) return null
    const key = await findApiKeyAcrossTenants(db, keyPrefix)
    const matches = timingSafeEqual(hashToken(token), key?.secretHash ?? NO_HASH)
    if (!key || !matches || key.revokedAt) return null
    if (!isLook) uses.note(key)
    return { tenantId: key.tenantId }
  }

  /** Found by its hash: how long that takes tells nothing about the token itself. */
  async function byLegacyToken(token: string): Promise<Credential | null> {
    if (!legacyEnabled) return null
    const tenantId = await findLegacyTokenAcrossTenants(db, sha256(token))
    return tenantId === null ? null : { tenantId }
  }

  return {
    async findTenant(token, { isLook = false, mayAsk = () => true } = {}) {
      if (token.length < MIN_TOKEN_CHARS || token.length > MAX_TOKEN_CHARS) return null
      const tokenHash = hashToken(token).toString('hex')
      const nowMs = clock.monotonicMs()
      const known = cache.get(tokenHash, nowMs) ?? (isLook ? looks.get(tokenHash, nowMs) : null)
      if (known) return known
      if (!cache.wasGood(tokenHash) && !mayAsk()) throw crowded()

      const remembered = isLook ? looks : cache
      const lookUp = remembered.begin(nowMs)
      const begun = lately.begin()
      // A legacy token may look like an API key: whoever moved here from another installation may have kept theirs.
      const found = (await byApiKey(token, isLook)) ?? (await byLegacyToken(token))
      if (found) remembered.put(tokenHash, found, lookUp)
      lately.note(tokenHash, found, begun)
      return found
    },
    lately: (token) => (token.length > MAX_TOKEN_CHARS ? null : lately.get(hashToken(token).toString('hex'))),
    forget(tenantId) {
      lately.forget((credential) => credential.tenantId === tenantId)
      cache.forget(tenantId)
      looks.forget(tenantId)
    },
    metrics: (limit) => cache.metrics(limit, clock.monotonicMs()),
    close: () => uses.close(),
  }
}
