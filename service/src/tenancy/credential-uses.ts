import type { Clock } from '../kernel/clock.ts'
import type { ApiKeyId, TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { noteKeyUsed } from './credential-store.ts'

type UsedKey = { tenantId: TenantId; keyId: ApiKeyId; lastUsedAt: Date | null }

const NOTE_INTERVAL_MS = 60_000

/**
 * Writes down when keys were used, behind the requests' backs: at most once a minute for a key, at most one write of a key
 * at a time. A write that fails is logged; the next use of the key tries again.
 */
export class CredentialUses {
  readonly #deps: { db: Db; clock: Clock; log: Log }
  readonly #writing = new Map<ApiKeyId, Promise<void>>()
  #closed = false

  constructor(deps: { db: Db; clock: Clock; log: Log }) {
    this.#deps = deps
  }

  /** Returns at once. `lastUsedAt` is what the database said when the key was looked up. */
  note(key: UsedKey): void {
    const at = new Date(this.#deps.clock.now())
    const since = new Date(at.getTime() - NOTE_INTERVAL_MS)
    if (this.#closed || this.#writing.has(key.keyId)) return
    if (key.lastUsedAt && key.lastUsedAt > since) return
    this.#writing.set(key.keyId, this.#write(key, { at, since }))
  }

  /** Resolves when nothing is being written any more; later uses are not noted. Calling it again changes nothing. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(this.#writing.values())
  }

  async #write({ tenantId, keyId }: UsedKey, use: { at: Date; since: Date }): Promise<void> {
    const { db, log } = this.#deps
    try {
      await noteKeyUsed(db, tenantId, keyId, use)
    } catch (err) {
      log.warn({ err, tenant_id: tenantId, key_id: keyId }, 'use of an API key not noted')
    } finally {
      this.#writing.delete(keyId)
    }
  }
}
