import type { Socket } from 'node:net'
import { addressKey } from './trust.ts'

const releases = new WeakMap<Socket, () => void>()

/**
 * Takes a connection out of the count of its address, for one that was let in for good: an accepted call stream is not what
 * the cap is for, and a carrier opens hundreds of them from few addresses. Repeating it does nothing.
 */
export function exemptConnection(socket: Socket): void {
  releases.get(socket)?.()
}

/** The open connections of a server: it refuses those of an address that has too many, and can end all that are left. */
export class Connections {
  #open = new Set<Socket>()
  #counts = new Map<string, number>()
  #maxPerAddress: number
  #isExempt: (address: string) => boolean

  /** @param isExempt tells the addresses that are not counted: proxies, behind which stand many clients. */
  constructor(maxPerAddress: number, isExempt: (address: string) => boolean) {
    this.#maxPerAddress = maxPerAddress
    this.#isExempt = isExempt
  }

  /** Takes in a new connection, or destroys it when its address has as many as it may have; tells which. */
  admit(socket: Socket): boolean {
    const address = socket.remoteAddress
    // Without an address the peer has gone already.
    if (address === undefined || !this.#count(socket, address)) {
      socket.destroy()
      return false
    }
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
    return true
  }

  get open(): Iterable<Socket> {
    return this.#open
  }

  destroyAll(): void {
    for (const socket of this.#open) socket.destroy()
  }

  #count(socket: Socket, address: string): boolean {
    if (this.#isExempt(address)) return true
    const key = addressKey(address)
    const count = this.#counts.get(key) ?? 0
    if (count >= this.#maxPerAddress) return false
    this.#counts.set(key, count + 1)
    const release = once(() => this.#release(key))
    releases.set(socket, release)
    socket.once('close', release)
    return true
  }

  #release(key: string): void {
    const count = this.#counts.get(key) ?? 0
    if (count > 1) this.#counts.set(key, count - 1)
    else this.#counts.delete(key)
  }
}

function once(task: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    task()
  }
}
