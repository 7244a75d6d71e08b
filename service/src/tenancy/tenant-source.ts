import type { Sealer } from '../kernel/seal.ts'
import type { Db } from '../platform/db/schema.ts'
import type { TenantSource } from './tenant-cache.ts'
import { toRuntime } from './tenant-defaults.ts'
import type { TelephonyDefaults } from './tenant-runtime.ts'
import { openSecrets } from './tenant-secrets.ts'
import { findStoredTenant, findTenantEtag } from './tenant-store.ts'

type Deps = { db: Db; sealer: Sealer; telephony: TelephonyDefaults }

/** The stored tenants as calls need them: secrets open, defaults applied. */
export function makeTenantSource({ db, sealer, telephony }: Deps): TenantSource {
  return {
    async load(tenantId) {
      const stored = await findStoredTenant(db, tenantId)
      if (!stored) return null
      return { etag: stored.etag, runtime: toRuntime(openSecrets(stored.document, sealer), telephony) }
    },
    etag: (tenantId) => findTenantEtag(db, tenantId),
  }
}
