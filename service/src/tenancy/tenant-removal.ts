import type { Actor } from '../kernel/actor.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { checkPrecondition } from './tenant-preconditions.ts'
import type { Tenants } from './tenants.ts'

/** What there is to know and do of a tenant's calls, on all nodes, when it is to be deleted. */
export type TenantCalls = {
  /** How many are not over. */
  count(db: Db, tenantId: TenantId): Promise<number>
  /** Ends them. Resolves with true when they are over, with false after ten seconds. @throws AppError `unavailable`. */
  end(tenantId: TenantId): Promise<boolean>
}

/** Deletes what is left of tenants that are deleted, some rows at a time. */
export type ErasingTenants = {
  /** Goes on with one, as far as it goes in a few seconds. Never rejects: what fails, and what is left, is left to the sweep. */
  goOn(tenantId: TenantId): Promise<void>
}

/** What deletes a tenant. */
export type TenantRemoval = {
  tenants: Pick<Tenants, 'get' | 'isLeaving' | 'remove'>
  calls: TenantCalls
  erasing: ErasingTenants
}

/** Each is for calls that began while the others were ended. */
const MAX_ROUNDS = 5

/**
 * Deletes a tenant that has no live calls; with `force` it ends those that there are, and deletes it. One that was deleted before,
 * and of which something is left, is gone on with.
 *
 * @throws AppError `not_found`; `precondition_failed` when its document is not that of `ifMatch`, before any call is ended; `conflict` for a tenant with live calls, by force for one whose calls never cease to begin;
 * `unavailable` when they cannot be reached.
 */
export async function removeTenant(
  removal: TenantRemoval,
  tenantId: TenantId,
  { force, ...wanted }: Wanted & { force: boolean },
): Promise<void> {
  const { tenants, erasing } = removal
  if (!(await tenants.isLeaving(tenantId))) await (force ? removeByForce : removeQuiet)(removal, tenantId, wanted)
  await erasing.goOn(tenantId)
}

type Wanted = { by: Actor; ifMatch?: string | undefined }

function removeQuiet({ tenants, calls }: TenantRemoval, tenantId: TenantId, { by, ifMatch }: Wanted): Promise<void> {
  const expectQuiet = async (tx: Tx) => {
    const count = await calls.count(tx, tenantId)
    if (count === 0) return
    const many = count === 1 ? 'a live call' : `${count} live calls`
    throw new AppError('conflict', `The tenant has ${many}: wait for the end, or delete it with ?force=true.`)
  }
  return tenants.remove(tenantId, by, { ifMatch, expectQuiet })
}

/** No call is left to a tenant that is gone, but for those that would not end. */
async function removeByForce({ tenants, calls }: TenantRemoval, tenantId: TenantId, wanted: Wanted): Promise<void> {
  const { by, ifMatch } = wanted
  checkPrecondition({ ifMatch }, (await tenants.get(tenantId)).etag)
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (!(await calls.end(tenantId))) return tenants.remove(tenantId, by, { ifMatch })
    const expectQuiet = async (tx: Tx) => {
      if ((await calls.count(tx, tenantId)) > 0) throw new CallBegan()
    }
    const isGone = await tenants.remove(tenantId, by, { ifMatch, expectQuiet }).then(() => true, unlessCallBegan)
    if (isGone) return
  }
  throw new AppError('conflict', 'Calls of the tenant begin as fast as they are ended: turn its numbers away first.')
}

class CallBegan extends Error {
  override readonly name = 'CallBegan'
}

/** @throws what it is given, unless that is a call that began. */
function unlessCallBegan(error: unknown): false {
  if (error instanceof CallBegan) return false
  throw error
}
