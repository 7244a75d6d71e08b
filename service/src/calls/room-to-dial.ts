import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { LiveCapacity } from '../voice/live-capacity.ts'
import { listRungAcrossTenants } from './dial-store.ts'

/** Asks whether there is room for one more call, and finds out which phones ring no more. */
export type RoomToDial = Pick<LiveCapacity, 'askToDial' | 'ringing' | 'rang'>

/**
 * Whether this node can have somebody called: it has a model to speak, and room for whoever answers.
 *
 * @throws AppError `unavailable` when the database does not answer.
 */
export async function hasRoomToDial(
  { db, capacity, hasModel }: { db: Db; capacity: RoomToDial; hasModel: boolean },
  tenantId: TenantId,
): Promise<boolean> {
  if (!hasModel) return false
  await lookForRoom({ db, capacity }, tenantId)
  return capacity.askToDial(tenantId) === null
}

/**
 * Where there is no room for all whose phones ring, looks which of them do so no more: what has become of a call may have been told to
 * another node. Whether there is room is to be asked behind it.
 *
 * @throws AppError `unavailable` when the database does not answer.
 */
export async function lookForRoom(
  { db, capacity }: { db: Db; capacity: RoomToDial },
  tenantId: TenantId,
): Promise<void> {
  const { ringing } = capacity
  if (ringing.length === 0 || capacity.askToDial(tenantId) !== 'process_full') return
  for (const dialRef of await listRungAcrossTenants(db, ringing)) capacity.rang(dialRef)
}
