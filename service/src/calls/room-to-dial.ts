import type { Database, Db } from '../platform/db/schema.ts'
import type { LiveCapacity } from '../voice/live-capacity.ts'
import { listRungAcrossTenants } from './dial-store.ts'

/** Asks whether there is room for one more call, and finds out which phones ring no more. */
type RoomToDial = Pick<LiveCapacity, 'askToDial' | 'ringing' | 'rang'>

/** `expectDiskRoom`: what came of a call could not be written down while the disk of the database is full, and whoever answers would be turned away. */
export type RoomAsked = { db: Db; capacity: RoomToDial; expectDiskRoom: Database['expectRoom'] }

/**
 * Whether this node can have somebody called: it has a model to speak, and room for whoever answers.
 *
 * @throws AppError `unavailable` when the database does not answer, or its disk is full.
 */
export async function hasRoomToDial({ hasModel, ...of }: RoomAsked & { hasModel: boolean }): Promise<boolean> {
  if (!hasModel) return false
  await lookForRoom(of)
  return of.capacity.askToDial() === null
}

/**
 * Where there is no room for all whose phones ring, looks which of them do so no more: what has become of a call may have been told to
 * another node. Whether there is room is to be asked behind it.
 *
 * @throws AppError `unavailable` when the database does not answer, or its disk is full.
 */
export async function lookForRoom({ db, capacity, expectDiskRoom }: RoomAsked): Promise<void> {
  await expectDiskRoom()
  const { ringing } = capacity
  if (ringing.length === 0 || capacity.askToDial() !== 'process_full') return
  for (const dialRef of await listRungAcrossTenants(db, ringing)) capacity.rang(dialRef)
}
