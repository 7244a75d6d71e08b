import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

/** As much as is written at once. */
const ROOM_BYTES = 64 * 1024
/** Lengths of which a view is kept: most that is written is as long as something before it. */
const MAX_VIEWS = 64

/**
 * What Node's own sockets ask the system to write by. `getAsyncId`: -1 where the system does not hold it. `writeStatus`: what has come of it
 * before anybody could be told.
 */
type WriteRequest = {
  oncomplete: (status: number) => void
  buffer: Buffer | null
  writeStatus?: number | null
  getAsyncId(): number
}
type WriteRequestClass = new () => WriteRequest

/**
 * What a socket of Node's writes to. Before 24.22 it is given a request with each write; later ones are given none, and return one in place of
 * the 0 where the system takes only a part. `writeQueueSize`: bytes that it has not taken yet. Of one that is closed neither tells anything.
 */
type Handle = {
  writeBuffer(request: WriteRequest | null, bytes: Buffer): number | WriteRequest | undefined
  readonly writeQueueSize: number | undefined
}

/**
 * Where everything is put together that is written this way: the system has taken it before anything else is, and where it took only
 * a part, another room takes its place.
 */
let room: Buffer = Buffer.allocUnsafeSlow(ROOM_BYTES)
const views = new Map<number, Buffer>()
/** How this Node writes, once it has shown it: it makes a request for each write, of a class that it keeps to itself, or leaves that to the system. */
let newRequest: (() => WriteRequest | null) | null = null

/**
 * Writes to a socket out of memory that is there already, past its stream: to send a small message, that is most of what it
 * costs. Only while nothing waits, in the stream or with the system: what waits is the stream's to keep in order.
 */
export class SharedWrites {
  readonly #socket: Socket
  readonly #handle: Handle
  #request: WriteRequest | null
  /** Writes that the system holds. To ask it for each message how much it has not taken costs more than to count them. */
  #held = 0

  private constructor(socket: Socket, handle: Handle, request: WriteRequest | null) {
    this.#socket = socket
    this.#handle = handle
    this.#request = request
  }

  /** Null for a socket that cannot be written to this way, as one that speaks TLS, and before Node has written to any. */
  static to(socket: Duplex): SharedWrites | null {
    const handle = handleOf(socket)
    if (handle === null) return null
    if (newRequest !== null) return new SharedWrites(socket as Socket, handle, newRequest())
    learnHow(handle)
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
    const told = this.#handle.writeBuffer(this.#request, bytes)
    const request = told === 0 ? this.#request : told
    // Not whether something waits: the rest may have gone with a second try, of which the system still has to tell.
    if (typeof request === 'object' && request !== null && request.getAsyncId() >= 0) this.#keep(request, bytes)
    else if (told !== 0) this.#socket.destroy()
  }

  /** Bytes of it that the system has not taken yet. */
  get queuedBytes(): number {
    return this.#held === 0 ? 0 : (this.#handle.writeQueueSize ?? 0)
  }

  /** The system took a part, and holds on to the request and its memory until it has told what came of the rest. */
  #keep(request: WriteRequest, bytes: Buffer): void {
    this.#held += 1
    request.buffer = bytes
    request.oncomplete = this.#completed
    this.#request = newRequest?.() ?? null
    room = Buffer.allocUnsafeSlow(ROOM_BYTES)
    views.clear()
    if (typeof request.writeStatus === 'number') this.#completed(request.writeStatus)
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

/** Looks at the next write to this socket. One that is like none that is known is left to the stream, and so are all later ones. */
function learnHow(handle: Handle): void {
  handle.writeBuffer = (request, bytes) => {
    // What stands behind it is the one of every socket.
    delete (handle as Partial<Handle>).writeBuffer
    const told = handle.writeBuffer(request, bytes)
    if (request === null) {
      if (typeof told === 'number' || isRequest(told)) newRequest = () => null
    } else if (isRequest(request)) {
      const requestClass = request.constructor as WriteRequestClass
      newRequest = () => new requestClass()
    }
    return told
  }
}

function isRequest(value: WriteRequest | undefined): boolean {
  return value?.constructor?.name === 'WriteWrap' && typeof value.getAsyncId === 'function'
}

function viewOf(bytes: number): Buffer {
  const known = views.get(bytes)
  if (known !== undefined) return known
  if (views.size === MAX_VIEWS) views.clear()
  const view = room.subarray(0, bytes)
  views.set(bytes, view)
  return view
}
