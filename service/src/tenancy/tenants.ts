import type { Actor } from '../kernel/actor.ts'
import { canonicalJson } from '../kernel/canonical-json.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError, type FaultDetail, invalidRequest } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import { type Page, type PageRequest, toPage } from '../kernel/pages.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { type Sealer, sha256 } from '../kernel/seal.ts'
import { againWhenRefused } from '../platform/db/again.ts'
import { uniqueViolation } from '../platform/db/errors.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { audit } from './audit-log.ts'
import { auditedDocument } from './audited-document.ts'
import { refuseGivingUpAccount, refuseInstallationNumber } from './installation-numbers.ts'
import { unknownTenant } from './known-tenant.ts'
import { claimNumber, releaseNumber } from './phone-number-store.ts'
import type { TenantDocument } from './tenant-document.ts'
import { documentFaults } from './tenant-document-faults.ts'
import { checkPrecondition, type Precondition } from './tenant-preconditions.ts'
import { hideSecrets, keepStored, openSecrets, sealSecrets } from './tenant-secrets.ts'
import {
  AUTH_TOKEN_INDEX,
  claimTenant,
  findStoredTenant,
  isMarkedDeleted,
  listTenantsAcrossTenants,
  lockTenant,
  markDeleted,
  type StoredTenant,
  writeTenant,
} from './tenant-store.ts'

/** A tenant as it is shown: its secrets read `***`. */
export type ShownTenant = { tenantId: TenantId; config: TenantDocument; etag: string }

/** What a write answers: the ETag of what is stored now, and what its writer should know although it was taken. */
export type WrittenTenant = { tenantId: TenantId; etag: string; warnings: string[] }

/** A tenant as it is shown once a part of its document was written. */
export type ChangedTenant = ShownTenant & WrittenTenant

/** Makes a document of the one that is stored. */
type DocumentChange = (document: TenantDocument) => TenantDocument

type Deps = {
  db: Db
  clock: Clock
  sealer: Sealer
  /** Whether TELEPHONY_AUTH_TOKEN stands in for tenants without a token of their own. */
  defaultTelephonyToken: boolean
  /** TELEPHONY_FROM_NUMBER: no person of a tenant takes it. */
  installationNumber?: PhoneNumber | null
  /** Whether there is a stored prompt of this key; not given: nobody is warned that there is none. */
  hasPrompt?(key: string): Promise<boolean>
  /** Told after each change of a tenant is stored, so that nobody on this node goes on with the old one. */
  onChange(tenantId: TenantId): void
}

/** The tenants of this installation and their documents. */
export type Tenants = ReturnType<typeof makeTenants>

export function makeTenants(deps: Deps) {
  return {
    /** Newest first, over all tenants. */
    list: (page: PageRequest): Promise<Page<ShownTenant>> => list(deps.db, page),
    /** @throws AppError `not_found`. */
    get: (tenantId: TenantId): Promise<ShownTenant> => get(deps.db, tenantId),
    /**
     * Creates the tenant or replaces its document, as a whole; `***` keeps a stored secret. Repeating it changes nothing.
     *
     * @throws AppError `invalid_request` for faults of the document, `precondition_failed` when `conditions` do not
     * hold, `conflict` when another tenant holds the legacy token or the number, or one of this id was deleted a moment ago.
     */
    put: (tenantId: TenantId, document: TenantDocument, conditions: Precondition, by: Actor): Promise<WrittenTenant> =>
      put(deps, tenantId, document, { ...conditions, by }),
    /**
     * Writes what `change` makes of the stored document, whose secrets read `***` and are kept where they still do.
     *
     * @throws AppError as `put`, and `not_found`.
     */
    change: (tenantId: TenantId, change: DocumentChange, conditions: Precondition, by: Actor): Promise<ChangedTenant> =>
      changeStored(deps, tenantId, change, { ...conditions, by }),
    /** Whether it was deleted, and what is left of it is not gone yet. */
    isLeaving: (tenantId: TenantId): Promise<boolean> => isMarkedDeleted(deps.db, tenantId),
    /**
     * Deletes the tenant, unless `expectQuiet` throws, which is asked in the same transaction when no further call of the tenant
     * can be written. From then on there is no such tenant; its rows are left, for `ErasingTenants`. @throws AppError `not_found`;
     * `precondition_failed` when its document is not that of `ifMatch`.
     */
    remove: (tenantId: TenantId, by: Actor, how: RemovedHow = {}): Promise<void> =>
      remove(deps, tenantId, { by, ...how }),
  }
}

async function list(db: Db, page: PageRequest): Promise<Page<ShownTenant>> {
  const { rows, limit } = await listTenantsAcrossTenants(db, page)
  const { rows: kept, nextCursor } = toPage(rows, limit, (row) => ({
    createdAt: row.created_at,
    id: row.tenant_id,
  }))
  return { rows: kept.map((row) => shown(row.tenant_id, row)), nextCursor }
}

async function get(db: Db, tenantId: TenantId): Promise<ShownTenant> {
  const stored = await findStoredTenant(db, tenantId)
  if (!stored) throw unknownTenant()
  return shown(tenantId, stored)
}

/** On which condition a document is written, and by whom. */
type Writing = Precondition & { by: Actor }

async function put(deps: Deps, tenantId: TenantId, sent: TenantDocument, writing: Writing) {
  const stored = await findStoredTenant(deps.db, tenantId)
  refuse([...idFaults(tenantId, sent), ...(await documentFaults(sent, '/body', stored?.document))])
  const { etag, document } = await deps.db
    .transaction()
    .execute((tx) => replace(deps, tx, sent, writing))
    .catch((error: unknown) => {
      if (uniqueViolation(error) !== AUTH_TOKEN_INDEX) throw error
      throw new AppError('conflict', 'The auth_token is held by another tenant.')
    })
  deps.onChange(tenantId)
  return { tenantId, etag, warnings: await warnings(document, deps) }
}

async function changeStored(
  deps: Deps,
  tenantId: TenantId,
  change: DocumentChange,
  writing: Writing,
): Promise<ChangedTenant> {
  const written = await deps.db.transaction().execute(async (tx) => {
    await lockTenant(tx, tenantId)
    const stored = await findStoredTenant(tx, tenantId)
    if (!stored) {
      // Whoever names a document expects it there.
      checkPrecondition(writing, null)
      throw unknownTenant()
    }
    const config = change(hideSecrets(stored.document))
    refuse(await documentFaults(config, '/body', stored.document))
    const { etag, document } = await replace(deps, tx, config, writing)
    return { tenantId, config: hideSecrets(document), etag }
  })
  deps.onChange(tenantId)
  return { ...written, warnings: await warnings(written.config, deps) }
}

/** Writes a document, and gives it as it is stored then, its secrets open. */
async function replace(
  { clock, sealer, installationNumber = null }: Deps,
  tx: Tx,
  sent: TenantDocument,
  writing: Writing,
): Promise<{ etag: string; document: TenantDocument }> {
  const tenantId = sent.tenant_id
  await lockTenant(tx, tenantId)
  const stored = await findStoredTenant(tx, tenantId)
  if (!stored && (await isMarkedDeleted(tx, tenantId)))
    throw new AppError(
      'conflict',
      'What is left of the deleted tenant of this id is still being removed: ask again later.',
    )
  checkPrecondition(writing, stored?.etag ?? null)

  const before = stored ? openSecrets(stored.document, sealer) : null
  const { document, faults } = keepStored(withStoredState(sent, before), before, '/body')
  refuse(faults)
  // Not by its ETag, which another key may have made.
  if (stored && canonicalJson(document) === canonicalJson(before)) return { etag: stored.etag, document }
  const etag = `"${sealer.digest(canonicalJson(document))}"`

  refuseGivingUpAccount(before, document, writing.by)
  const number = document.telephony?.from_number
  const wish = { by: writing.by, installationNumber, isConnected: false }
  if (number && number !== before?.telephony?.from_number)
    await refuseInstallationNumber(tx, tenantId, { number, ...wish })

  const authTokenHash = document.auth_token ? sha256(document.auth_token) : null
  const now = new Date(clock.now())
  await writeTenant(tx, tenantId, { document: sealSecrets(document, sealer), etag, authTokenHash, now })
  await moveNumber(tx, document, before)
  const told = { before: before && auditedDocument(before), after: auditedDocument(document) }
  const action = before ? 'tenant.changed' : 'tenant.created'
  await audit(tx, { by: writing.by, action, tenantId, targetId: tenantId, ...told, at: now })
  return { etag, document }
}

/** What a document shows and no writer sets: whether its webhook was given up, for as long as that is the same address. */
function withStoredState(sent: TenantDocument, before: TenantDocument | null): TenantDocument {
  if (!sent.webhook) return sent
  const { disabled: _, ...webhook } = sent.webhook
  const disabled = before?.webhook?.url === webhook.url && before.webhook.disabled
  return { ...sent, webhook: disabled ? { ...webhook, disabled } : webhook }
}

/** The new number is claimed before the old one is released: see `claimNumber`. */
async function moveNumber(tx: Tx, document: TenantDocument, before: TenantDocument | null): Promise<void> {
  const number = document.telephony?.from_number
  const old = before?.telephony?.from_number
  if (number === old) return
  if (number) await claimNumber(tx, document.tenant_id, number, 'document')
  if (old) await releaseNumber(tx, document.tenant_id, old, 'document')
}

/** Under which conditions a tenant is deleted. */
export type RemovedHow = { ifMatch?: string | undefined; expectQuiet?: (tx: Tx) => Promise<void> }
type Removing = RemovedHow & { by: Actor }

async function remove({ db, clock, onChange }: Deps, tenantId: TenantId, removing: Removing): Promise<void> {
  const { by, ifMatch, expectQuiet } = removing
  // What is deleted with it is what others write to: they can get into each other.
  await againWhenRefused(() =>
    db.transaction().execute(async (tx) => {
      await lockTenant(tx, tenantId)
      if (!(await claimTenant(tx, tenantId))) throw unknownTenant()
      const stored = await findStoredTenant(tx, tenantId)
      if (!stored) throw unknownTenant()
      checkPrecondition({ ifMatch }, stored.etag)
      await expectQuiet?.(tx)
      const at = new Date(clock.now())
      await markDeleted(tx, tenantId, at)
      const before = auditedDocument(stored.document)
      await audit(tx, { by, action: 'tenant.deleted', tenantId, targetId: tenantId, before, at })
    }),
  )
  onChange(tenantId)
}

function shown(tenantId: TenantId, { document, etag }: StoredTenant): ShownTenant {
  return { tenantId, config: hideSecrets(document), etag }
}

function idFaults(tenantId: TenantId, document: TenantDocument): FaultDetail[] {
  if (document.tenant_id === tenantId) return []
  return [{ path: '/body/tenant_id', message: 'must be the tenant_id of the path' }]
}

/** @throws AppError `invalid_request` when there are any. */
function refuse([first, ...others]: FaultDetail[]): void {
  if (first) throw invalidRequest([first, ...others])
}

const UNVERIFIED =
  'telephony.account_sid has no auth token, here or in TELEPHONY_AUTH_TOKEN: callbacks cannot be verified and will be refused.'
const UNSIGNED =
  'webhook.secret is not set: what is sent to the webhook is not signed, and its receiver cannot tell it from what somebody else sends.'
const GIVEN_UP =
  'webhook.url answered 410, so nothing is sent there any more, whatever webhook.disabled says: give it another address, if only with something else behind a ?.'
const UNPROMPTED =
  'system_prompt_key names no stored prompt: calls go on without one until there is one of that key (PUT /api/v1/admin/prompts/{key}).'

/** Asked once the document is stored: nobody is kept from writing one. */
async function warnings(
  { telephony, webhook, system_prompt_key: promptKey }: TenantDocument,
  { defaultTelephonyToken, hasPrompt }: Deps,
): Promise<string[]> {
  const isVerified = !telephony?.account_sid || telephony.auth_token || defaultTelephonyToken
  const isPrompted = !promptKey?.trim() || !hasPrompt || (await hasPrompt(promptKey).catch(() => true))
  return [
    ...(isVerified ? [] : [UNVERIFIED]),
    ...(webhook && !webhook.secret ? [UNSIGNED] : []),
    ...(webhook?.disabled ? [GIVEN_UP] : []),
    ...(isPrompted ? [] : [UNPROMPTED]),
  ]
}
