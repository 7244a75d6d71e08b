import type { Role } from '../kernel/actor.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Sealer } from '../kernel/seal.ts'
import type { Db } from '../platform/db/schema.ts'
import type { GivenCredential } from '../platform/http/still-let-in.ts'
import type { AdminSessions } from './admin-sessions.ts'
import { hashToken, keyPrefixOf } from './api-key-token.ts'
import { findApiKeyAcrossTenants, findLegacyTokenHash } from './credential-store.ts'
import { findTenantEtag } from './tenant-store.ts'

/** For what, and of whom, somebody wants to be let in. `isLook`: it is no use of their session. */
type Wanted = { tenantId: TenantId; method: string; route: string; isLook: boolean }

/** Whether whoever was let in would be let in still, by a name of their credential: for what outlasts their request, on any node. */
export type Standing = {
  /** Names a credential. The name opens nothing, and is no help in guessing what does. */
  refTo(credential: GivenCredential): string
  /**
   * Whether the credential of this name is good for the route of the tenant; no for a name of a kind that is not known.
   *
   * @throws AppError `unavailable`.
   */
  isGood(ref: string, wanted: Wanted): Promise<boolean>
}

type Deps = {
  db: Db
  sessions: Pick<AdminSessions, 'refTo' | 'findNamed'>
  digest: Sealer['digest']
  /** Of the other key while keys are changed: a node with that one first may have given the name. */
  formerDigest?: Sealer['digest'] | null
  adminKey: string | null
  /** As of `Credentials`. */
  legacyEnabled: boolean
  mayDo(role: Role, method: string, route: string): boolean
}

/** Of a digest: as much as tells credentials apart. */
const DIGEST_DIGITS = 32

export function makeStanding(deps: Deps): Standing {
  const { db, sessions, digest, formerDigest = null, adminKey, legacyEnabled, mayDo } = deps
  const marked = (text: string, by = digest) => by(`standing/${text}`).slice(0, DIGEST_DIGITS)
  const isMarked = (text: string, mark: string | undefined) =>
    mark === marked(text) || (formerDigest !== null && mark === marked(text, formerDigest))
  const isThere = async (tenantId: TenantId) => (await findTenantEtag(db, tenantId)) !== null

  function nameOf({ kind, secret }: GivenCredential): string {
    if (kind === 'session') return sessions.refTo(secret)
    return kind === 'admin_key'
      ? marked(secret)
      : `${keyPrefixOf(secret) ?? ''}.${marked(hashToken(secret).toString('hex'))}`
  }

  async function isSessionGood(ref: string, { tenantId, method, route, isLook }: Wanted): Promise<boolean> {
    const actor = await sessions.findNamed(ref, isLook)
    if (actor?.kind === 'person') return actor.tenantId === tenantId && mayDo(actor.role, method, route)
    return actor !== null && isThere(tenantId)
  }

  /** As for a token that is sent, an API key goes first. */
  async function isTokenGood(name: string, tenantId: TenantId): Promise<boolean> {
    const [prefix = '', mark] = name.split('.')
    const key = prefix === '' ? null : await findApiKeyAcrossTenants(db, prefix)
    if (key?.tenantId === tenantId && !key.revokedAt && isMarked(key.secretHash.toString('hex'), mark)) return true
    const legacy = legacyEnabled ? await findLegacyTokenHash(db, tenantId) : null
    return legacy !== null && isMarked(legacy.toString('hex'), mark)
  }

  return {
    refTo: (credential) => `${credential.kind}:${nameOf(credential)}`,
    async isGood(ref, wanted) {
      const [kind, name = ''] = ref.split(':')
      if (kind === 'session') return isSessionGood(name, wanted)
      if (kind === 'token') return isTokenGood(name, wanted.tenantId)
      return kind === 'admin_key' && adminKey !== null && isMarked(adminKey, name) && isThere(wanted.tenantId)
    },
  }
}
