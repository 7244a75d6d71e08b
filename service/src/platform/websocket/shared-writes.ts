import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

/** As much as is written at once. */
const ROOM_BYTES = 64 * 1024
/** Lengths of which a view is kept: most that is written is as long as something before it. */
const MAX_VIEWS = 64

/** What Node's own sockets ask the system to write by. `getAsyncId`: -1 until the system holds it. */
type WriteRequest = { oncomplete: (status: number) => void; buffer: Buffer | null; getAsyncId(): number }
type WriteRequestClass = new () => WriteRequest

/** What a socket of Node's writes to. `writeQueueSize`: bytes that the system has not taken yet; none of one that is closed. */
type Handle = { writeBuffer(request: WriteRequest, bytes: Buffer): number; readonly writeQueueSize: number | undefined }

/**
 * Where everything is put together that is written this way: the system has taken it before anything else is, and where it took only
 * a part, another room takes its place.
 */
let room: Buffer = Buffer.allocUnsafeSlow(ROOM_BYTES)
const views = new Map<number, Buffer>()
/** Node keeps it to itself, but hands one of them over with each write. */
let requestClass: WriteRequestClass | null = null

/**
 * Writes to a socket out of memory that is there already, past its stream: to send a small message, that is most of what it
 * costs. Only while nothing waits, in the stream or with the system: what waits is the stream's to keep in order.
 */
export class SharedWrites {
  readonly #socket: Socket
  readonly #handle: Handle
  #request: WriteRequest
  /** Writes that the system holds. To ask it for each message how much it has not taken costs more than to count them. */
  #held = 0

  private constructor(socket: Socket, handle: Handle, request: WriteRequest) {
    this.#socket = socket
    this.#handle = handle
    this.#request = request
    request.oncomplete = this.#completed
  }

  /** Null for a socket that cannot be written to this way, as one that speaks TLS, and before Node has written to any. */
  static to(socket: Duplex): SharedWrites | null {
    const handle = handleOf(socket)
    if (handle === null) return null
    if (requestClass !== null) return new SharedWrites(socket as Socket, handle, new requestClass())
    learnClass(handle)
    return null
  }

  /** Memory to put a message into that is to be written at once; null when it has to go through the stream. */
  room(bytes: number): Buffer | null {
    if (bytes > ROOM_BYTES || this.#socket.writableLength > 0) return null
    if ((this.#socket as unknown as { _handle: unknown })._handle !== this.#handle) return null
    return this.#held > 0 ? null : viewOf(bytes)
  }

  /** Writes what `room` gave, all of it. A connection that does not take it ends, as with the stream. */
  write(bytes: Buffer): void {
    if (this.#handle.writeBuffer(this.#request, bytes) !== 0) this.#socket.destroy()
    // Not whether something waits: the rest may have gone with a second try, of which the system still has to tell.
    else if (this.#request.getAsyncId() >= 0) this.#keep(bytes)
  }

  /** Bytes of it that the system has not taken yet. */
  get queuedBytes(): number {
    return this.#held === 0 ? 0 : (this.#handle.writeQueueSize ?? 0)
  }

  /** The system took a part, and holds on to the request and its memory until it has told what came of the rest. */
  #keep(bytes: Buffer): void {
    this.#held += 1
    this.#request.buffer = bytes
    this.#request = new (this.#request.constructor as WriteRequestClass)()
    this.#request.oncomplete = this.#completed
    room = Buffer.allocUnsafeSlow(ROOM_BYTES)
    views.clear()
  }

  readonly #completed = (status: number): void => {
    this.#held -= 1
    if (status < 0) this.#socket.destroy()
  }
}

function handleOf(socket: Duplex): Handle | null {
  if (!(socket instanceof Socket) || socket instanceof TLSSocket) return null
  const { _handle: handle } = socket as unknown as { _handle?: Partial<Handle> | null }
  const canWrite = typeof handle?.writeBuffer === 'function' && typeof handle.writeQueueSize === 'number'
  return canWrite ? (handle as Handle) : null
}

/** Looks at the next write to this socket. */
function learnClass(handle: Handle): void {
  handle.writeBuffer = (request, bytes) => {
    const isKnown = request.constructor.name === 'WriteWrap' && typeof request.getAsyncId === 'function'
    if (isKnown) requestClass = request.constructor as WriteRequestClass
    // What stands behind it is the one of every socket.
    delete (handle as Partial<Handle>).writeBuffer
    return handle.writeBuffer(request, bytes)
  }
}

function viewOf(bytes: number): Buffer {
  const known = views.get(bytes)
  if (known !== undefined) return known
  if (views.size === MAX_VIEWS) views.clear()
  const view = room.subarray(0, bytes)
  views.set(bytes, view)
  return view
}
