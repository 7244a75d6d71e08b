/** As much as one reading of a socket brings. */
const ROOM_BYTES = 64 * 1024
/** Where every socket is read to that is read into shared memory: what was read is looked at before anything else is. */
export const READ_ROOM = Buffer.allocUnsafeSlow(ROOM_BYTES)

const MEMORY = READ_ROOM.buffer
/** A message begins near the beginning of what was read, and is as long as many before it. */
const MAX_KEPT_AT = 1024
/** Some for each length of a frame, of which what stands in it makes a few dozens. */
const MAX_VIEWS = 512
const views = new Map<number, Buffer>()

/**
 * A part of what was read, as `subarray` gives it. Of the shared room it is a view that is there already, where that can be: to make
 * one costs more than all else that is done with a small message. So it is only valid as long as what was read.
 */
export function partOf(piece: Buffer, start: number, end: number): Buffer {
  const at = piece.byteOffset + start
  if (at >= MAX_KEPT_AT || piece.buffer !== MEMORY) return piece.subarray(start, end)
  const key = at * (ROOM_BYTES + 1) + end - start
  const known = views.get(key)
  if (known !== undefined) return known
  if (views.size === MAX_VIEWS) views.clear()
  const view = piece.subarray(start, end)
  views.set(key, view)
  return view
}
