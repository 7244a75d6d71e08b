import { THE_SYSTEM } from '../kernel/actor.ts'
import { canonicalJson } from '../kernel/canonical-json.ts'
import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import { type Sealer, sha256 } from '../kernel/seal.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { audit } from './audit-log.ts'
import { auditedDocument } from './audited-document.ts'
import { openSecrets } from './tenant-secrets.ts'
import { findStoredTenant, lockTenant, writeTenant } from './tenant-store.ts'

type Deps = { db: Db; clock: Clock; sealer: Sealer; onChange(tenantId: TenantId): void }

/**
 * Gives up the webhook of a tenant whose target wants nothing more, which its document then shows; a new address takes that
 * back. Nothing is changed when the webhook has another address by now. Repeating it changes nothing.
 */
export function makeDisableWebhook(deps: Deps): (tenantId: TenantId, url: string) => Promise<void> {
  return async (tenantId, url) => {
    const isChanged = await deps.db.transaction().execute((tx) => disable(tx, deps, { tenantId, url }))
    if (isChanged) deps.onChange(tenantId)
  }
}

async function disable(tx: Tx, { clock, sealer }: Deps, { tenantId, url }: { tenantId: TenantId; url: string }) {
  await lockTenant(tx, tenantId)
  const stored = await findStoredTenant(tx, tenantId)
  const webhook = stored?.document.webhook
  if (!stored || webhook?.url !== url || webhook.disabled) return false
  // Secrets stay as they are sealed; the ETag is of the document with them open.
  const disabled = { ...stored.document, webhook: { ...webhook, disabled: true } }
  const open = openSecrets(disabled, sealer)
  const etag = `"${sealer.digest(canonicalJson(open))}"`
  const authTokenHash = open.auth_token ? sha256(open.auth_token) : null
  const now = new Date(clock.now())
  await writeTenant(tx, tenantId, { document: disabled, etag, authTokenHash, now })
  const told = { before: auditedDocument(stored.document), after: auditedDocument(disabled), at: now }
  await audit(tx, { by: THE_SYSTEM, action: 'webhook.disabled', tenantId, targetId: tenantId, ...told })
  return true
}
