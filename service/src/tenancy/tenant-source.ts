import type { Sealer } from '../kernel/seal.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { TenantSource } from './tenant-cache.ts'
import { toRuntime } from './tenant-defaults.ts'
import type { TelephonyDefaults } from './tenant-runtime.ts'
import { openSecrets } from './tenant-secrets.ts'
import { findStoredTenant, findTenantEtag } from './tenant-store.ts'

type Deps = { db: Db; log: Pick<Log, 'warn'>; sealer: Sealer; telephony: TelephonyDefaults }

/** The stored tenants as calls need them: secrets open, defaults applied. */
export function makeTenantSource({ db, log, sealer, telephony }: Deps): TenantSource {
  return {
    async load(tenantId) {
      const stored = await findStoredTenant(db, tenantId)
      if (!stored) return null
      const runtime = toRuntime(openSecrets(stored.document, sealer), telephony)
      if (stored.document.telephony?.fallback_number && runtime.telephony.fallback_number === null)
        log.warn({ tenant_id: tenantId }, 'the fallback number of a tenant is one that is never called: it is left out')
      return { etag: stored.etag, runtime }
    },
    etag: (tenantId) => findTenantEtag(db, tenantId),
  }
}
