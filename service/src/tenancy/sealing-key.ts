import { canonicalJson } from '../kernel/canonical-json.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Sealer } from '../kernel/seal.ts'
import type { Db } from '../platform/db/schema.ts'
import { hasMark, hasMarkOf, replaceMark, setFirstMark } from './installation-store.ts'
import type { TenantDocument } from './tenant-document.ts'
import { renewSecrets } from './tenant-secrets.ts'
import { findStoredTenant, listTenantIdsAcrossTenants, lockTenant, writeSealed } from './tenant-store.ts'

const MARK = 'sealing-key:'

const markOf = (sealer: Sealer) => MARK + sealer.digest('the sealing key of this installation')

/**
 * Makes sure that what is sealed in this database opens with these keys: the first start notes a digest of its key, which
 * tells nothing about it, and later ones compare theirs.
 *
 * @param former the other key, while keys are changed.
 * @throws AppError `unavailable` for another key: with it each sealed secret would fail by itself, and at a call.
 */
export async function expectSealingKey(db: Db, sealer: Sealer, former: Sealer | null = null): Promise<void> {
  const mark = markOf(sealer)
  const first = await db.transaction().execute((tx) => setFirstMark(tx, MARK, mark))
  if (first === mark || (former && first === markOf(former))) return
  throw new AppError(
    'unavailable',
    'ENCRYPTION_KEY is not the key that the secrets in this database are sealed with. Start with that one (unset, it is ' +
      'read from DATA_DIR/encryption.key), or with another database. To change keys, give that one as ENCRYPTION_KEY_PREVIOUS.',
  )
}

/**
 * To be asked before a key is made for this database.
 *
 * @throws AppError `unavailable` where it has one already: a new one would open nothing, and stand where people look for the right one.
 */
export async function expectNoSealingKey(db: Db): Promise<void> {
  if (!(await hasMarkOf(db, MARK))) return
  throw new AppError(
    'unavailable',
    'ENCRYPTION_KEY is unset and there is no DATA_DIR/encryption.key, but secrets in this database are sealed with a key. ' +
      'Put that file back from a backup, or set ENCRYPTION_KEY to that key.',
  )
}

/** Whether this key is the one of the database, which nothing may be sealed anew with before. */
export function isSealingKey(db: Db, sealer: Sealer): Promise<boolean> {
  return hasMark(db, markOf(sealer))
}

/** Makes this key the one of the database, behind all that was sealed anew with it. Repeating it changes nothing. */
export async function noteSealingKey(db: Db, sealer: Sealer): Promise<void> {
  await db.transaction().execute((tx) => replaceMark(tx, MARK, markOf(sealer)))
}

/**
 * Seals with the present key what the former one has sealed in the documents of tenants, whose ETags stay, for what they hold is the same.
 *
 * @param onUnopened hears of tenants with a secret that neither key opens, which stay as they are: those are lost already, and nobody else's.
 * @returns how many had such secrets. Repeating it changes nothing.
 */
export async function renewTenants(
  db: Db,
  sealer: Sealer,
  onUnopened: (tenantId: TenantId, error: unknown) => void,
): Promise<number> {
  let count = 0
  for (const tenantId of await listTenantIdsAcrossTenants(db)) {
    const isRenewed = await renewTenant(db, sealer, tenantId, (error) => onUnopened(tenantId, error))
    if (isRenewed) count += 1
  }
  return count
}

async function renewTenant(
  db: Db,
  sealer: Sealer,
  tenantId: TenantId,
  onUnopened: (error: unknown) => void,
): Promise<boolean> {
  // Looked at before it is locked: while both keys are set every node does so with every sweep, mostly for nothing.
  if (!(await renewedDocument(db, sealer, tenantId, onUnopened))) return false
  return db.transaction().execute(async (tx) => {
    await lockTenant(tx, tenantId)
    const document = await renewedDocument(tx, sealer, tenantId, onUnopened)
    if (document) await writeSealed(tx, tenantId, document)
    return document !== null
  })
}

/** Null where there is nothing to renew, and for a tenant that is gone. */
async function renewedDocument(
  db: Db,
  sealer: Sealer,
  tenantId: TenantId,
  onUnopened: (error: unknown) => void,
): Promise<TenantDocument | null> {
  const stored = await findStoredTenant(db, tenantId)
  if (!stored) return null
  const document = renewed(stored.document, sealer, onUnopened)
  return canonicalJson(document) === canonicalJson(stored.document) ? null : document
}

function renewed(document: TenantDocument, sealer: Sealer, onUnopened: (error: unknown) => void): TenantDocument {
  try {
    return renewSecrets(document, sealer)
  } catch (error) {
    onUnopened(error)
    return document
  }
}
