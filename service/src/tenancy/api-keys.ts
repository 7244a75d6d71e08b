import type { Actor } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { type ApiKeyId, newId, type TenantId } from '../kernel/ids.ts'
import { type Page, type PageRequest, toPage } from '../kernel/pages.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import {
  type ApiKeyRecord,
  claimKeyPrefix,
  insertApiKey,
  listApiKeys,
  lockApiKey,
  revokeApiKey,
} from './api-key-store.ts'
import { type MintedKey, mintApiKey } from './api-key-token.ts'
import { audit } from './audit-log.ts'
import { expectTenant, holdKnownTenant } from './known-tenant.ts'

/** A key that was just made. Its token is known now and never again. */
type CreatedApiKey = { record: ApiKeyRecord; token: string }

/** The keys that a tenant's applications call with. */
export type ApiKeys = {
  /** Newest first, revoked ones too. @throws AppError `not_found` for an unknown tenant. */
  list(tenantId: TenantId, page: PageRequest): Promise<Page<ApiKeyRecord>>
  /** @throws AppError `not_found` for an unknown tenant. */
  create(tenantId: TenantId, label: string, by: Actor): Promise<CreatedApiKey>
  /**
   * Revokes the key: at once on this node, within a second on the others. Repeating it returns the same record.
   *
   * @throws AppError `not_found` when the tenant has no such key.
   */
  revoke(tenantId: TenantId, keyId: ApiKeyId, by: Actor): Promise<ApiKeyRecord>
}

type Deps = {
  db: Db
  clock: Clock
  /** Told when a key of the tenant was revoked and that is stored. */
  onRevoked: (tenantId: TenantId) => void
  mint?: () => MintedKey
}

/** Two tries in a row find a taken prefix about once in 10^9 keys squared; ten mean that something else is wrong. */
const MAX_TRIES = 10

export function makeApiKeys({ db, clock, onRevoked, mint = mintApiKey }: Deps): ApiKeys {
  async function createIn(tx: Tx, tenantId: TenantId, label: string, by: Actor): Promise<CreatedApiKey> {
    await holdKnownTenant(tx, tenantId)
    const nowMs = clock.now()
    const id = newId<ApiKeyId>(nowMs)
    const { token, keyPrefix, secretHash } = await mintUnused(tx, tenantId, id)
    const key = { id, key_prefix: keyPrefix, label, secret_hash: secretHash, created_at: new Date(nowMs) }
    const record = await insertApiKey(tx, tenantId, key)
    const told = { after: shown(record), at: key.created_at }
    await audit(tx, { by, action: 'api_key.created', tenantId, targetId: id, ...told })
    return { record, token }
  }

  async function revokeIn(tx: Tx, tenantId: TenantId, keyId: ApiKeyId, by: Actor): Promise<ApiKeyRecord> {
    const before = await lockApiKey(tx, tenantId, keyId)
    if (!before) throw new AppError('not_found', 'The tenant has no such API key.')
    if (before.revoked_at) return before
    const at = new Date(clock.now())
    const record = await revokeApiKey(tx, tenantId, keyId, at)
    const told = { before: shown(before), after: shown(record), at }
    await audit(tx, { by, action: 'api_key.revoked', tenantId, targetId: keyId, ...told })
    return record
  }

  async function mintUnused(tx: Tx, tenantId: TenantId, id: ApiKeyId): Promise<MintedKey> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const minted = mint()
      if (await claimKeyPrefix(tx, tenantId, { id, key_prefix: minted.keyPrefix })) return minted
    }
    throw new Error(`${MAX_TRIES} key prefixes in a row are taken`)
  }

  return {
    async list(tenantId, page) {
      const rows = await listApiKeys(db, tenantId, page)
      if (rows.length === 0) await expectTenant(db, tenantId)
      return toPage(rows, page.limit, (row) => ({ createdAt: row.created_at, id: row.id }))
    },
    create: (tenantId, label, by) => db.transaction().execute((tx) => createIn(tx, tenantId, label, by)),
    async revoke(tenantId, keyId, by) {
      const record = await db.transaction().execute((tx) => revokeIn(tx, tenantId, keyId, by))
      onRevoked(tenantId)
      return record
    },
  }
}

/** As the audit log tells it. */
function shown({ key_prefix, label, revoked_at }: ApiKeyRecord) {
  return { key_prefix, label, revoked_at }
}
