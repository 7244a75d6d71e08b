const NOTHING = Buffer.alloc(0)
const LEAST_BYTES = 1024

/**
 * Bytes that come in pieces. Its room doubles, so that a byte is copied about twice however small the pieces are, and it
 * never takes more than twice what has come: a length that was only announced costs nothing.
 */
export class GatheredBytes {
  #room: Buffer = NOTHING
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Copies a piece. @param mostBytes as many as will ever be here, this piece with them. */
  add(piece: Buffer, mostBytes: number): void {
    const neededBytes = this.#length + piece.length
    if (neededBytes > this.#room.length) this.#grow(neededBytes, mostBytes)
    this.#room.set(piece, this.#length)
    this.#length = neededBytes
  }

  /** What has come, for the caller to keep. Nothing is here afterwards. */
  take(): Buffer {
    const bytes = this.#room.subarray(0, this.#length)
    this.clear()
    return bytes
  }

  clear(): void {
    this.#room = NOTHING
    this.#length = 0
  }

  #grow(neededBytes: number, mostBytes: number): void {
    const wantedBytes = Math.max(neededBytes, 2 * this.#room.length, LEAST_BYTES)
    const room = Buffer.allocUnsafe(Math.max(neededBytes, Math.min(wantedBytes, mostBytes)))
    room.set(this.#room.subarray(0, this.#length))
    this.#room = room
  }
}
