import { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { partOf, READ_ROOM } from '../read-room.ts'

/** What a socket of Node's has inside: that of its option `onread`, which only who makes a socket can give. */
type Inside = Record<symbol, unknown> & { _handle?: Partial<Handle> | null }
/** What reads. It tells by `onread` that something came, an end and an error too; only bytes make `bytesRead` grow. */
type Handle = { useUserBuffer(room: Buffer): void; onread: (...args: unknown[]) => void; readonly bytesRead: number }

/**
 * Has a socket's bytes read into memory that is there already, in place of memory of their own: most of what a small message costs
 * is the making of that, and of the events that bring it. What was put back by `unshift` still comes as `data`.
 *
 * @param onBytes is given what was read. It is only valid now, and may be written to.
 * @returns false for a socket that cannot be read this way, as one that speaks TLS: then nothing was changed.
 */
export function readShared(socket: unknown, onBytes: (bytes: Buffer) => void): boolean {
  if (!(socket instanceof Socket) || socket instanceof TLSSocket) return false
  const inside = socket as unknown as Inside
  const [room, told] = [insideKey(socket, 'kBuffer'), insideKey(socket, 'kBufferCb')]
  const handle = inside._handle
  if (room === null || told === null || !handle?.useUserBuffer) return false
  inside[room] = READ_ROOM
  inside[told] = (bytes: number) => onBytes(partOf(READ_ROOM, 0, bytes))
  handle.useUserBuffer(READ_ROOM)
  if (typeof handle.onread === 'function' && typeof handle.bytesRead === 'number') shortcut(handle as Handle, onBytes)
  return true
}

/** Brings bytes past Node's own reading, which looks after time limits and streams that are not in use here. */
function shortcut(handle: Handle, onBytes: (bytes: Buffer) => void): void {
  const byNode = handle.onread
  let before = handle.bytesRead
  // Named, for an array of all that it is given would be made for each piece that is read.
  handle.onread = function (this: unknown, piece: unknown) {
    const bytes = handle.bytesRead - before
    if (bytes === 0) return byNode.call(this, piece)
    before += bytes
    onBytes(partOf(READ_ROOM, 0, bytes))
  }
}

function insideKey(socket: Socket, name: string): symbol | null {
  return Object.getOwnPropertySymbols(socket).find(({ description }) => description === name) ?? null
}
