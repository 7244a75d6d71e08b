import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../test/harness/wait.ts'
import { SharedWrites } from './shared-writes.ts'
import { socketPair } from './socket-pair.fixture.ts'

/** Both ends of a connection; its peer reads nothing until it is told to. */
async function connected(): Promise<{ socket: Socket; peer: Socket; got: () => Buffer }> {
  const { socket, peer } = await socketPair()
  const chunks: Buffer[] = []
  peer.pause().on('data', (chunk) => chunks.push(chunk))
  return { socket, peer, got: () => Buffer.concat(chunks) }
}

function writesTo(socket: Socket): SharedWrites {
  const writes = SharedWrites.to(socket)
  if (writes === null) throw new Error('this socket cannot be written to that way')
  return writes
}

/** Writes `bytes` of a letter. @returns false when it has to go through the stream. */
function say(writes: SharedWrites, letter: string, bytes = 1): boolean {
  const room = writes.room(bytes)
  if (room === null) return false
  room.fill(letter)
  writes.write(room)
  return true
}

describe('Shared writes', () => {
  beforeEach(async () => {
    const { socket } = await connected()
    SharedWrites.to(socket)
    await new Promise((resolve) => socket.write(Buffer.from('first'), resolve))
  })

  it('bring what was written, in order, all out of the same memory', async () => {
    const [a, b] = [await connected(), await connected()]
    const [toA, toB] = [writesTo(a.socket), writesTo(b.socket)]
    const rooms = [toA.room(3)?.buffer, toB.room(70)?.buffer]
    expect(rooms[0]).toBe(rooms[1])
    for (const length of [1, 3, 70, 3, 65_536]) {
      expect([say(toA, 'a', length), say(toB, 'b', length)]).toEqual([true, true])
    }
    for (const { peer } of [a, b]) peer.resume()
    for (const [{ got }, letter] of [[a, 'a'] as const, [b, 'b'] as const]) {
      await until(() => got().length === 65_613, { what: 'all bytes' })
      expect(got().toString()).toBe(letter.repeat(65_613))
    }
  })

  it('stop while the system has not taken the last one, whose bytes nobody changes, and go on after it', async () => {
    const [stuck, other] = [await connected(), await connected()]
    const [writes, toOther] = [writesTo(stuck.socket), writesTo(other.socket)]
    let expected = ''
    for (let i = 0; writes.queuedBytes === 0; i++) {
      const letter = String.fromCharCode(97 + (i % 26))
      expect(say(writes, letter, 60_000)).toBe(true)
      expected += letter.repeat(60_000)
    }
    expect(say(writes, 'x', 60_000)).toBe(false)
    expect(say(toOther, 'y', 60_000)).toBe(true)
    // What goes through the stream meanwhile comes behind it.
    stuck.socket.write('z')
    stuck.peer.resume()
    await until(() => stuck.got().length === expected.length + 1, { what: 'all bytes' })
    expect(stuck.got().toString() === `${expected}z`).toBe(true)
    await until(() => say(writes, '!'), { what: 'room again' })
    await until(() => stuck.got().length === expected.length + 2, { what: 'the last byte' })
    expect(writes.queuedBytes).toBe(0)
  })

  it('are none while the stream has something that waits, or for more than their memory holds', async () => {
    const { socket, peer } = await connected()
    const writes = writesTo(socket)
    expect(writes.room(65_537)).toBeNull()
    socket.write(Buffer.alloc(16 * 1024 * 1024))
    expect(writes.room(1)).toBeNull()
    peer.resume()
    await until(() => writes.room(1), { what: 'room' })
  })

  it('end a connection whose peer has gone, and write nothing after it', async () => {
    const { socket, peer } = await connected()
    const writes = writesTo(socket)
    peer.resetAndDestroy()
    await until(() => !say(writes, 'x') || socket.destroyed, { what: 'the end' })
    expect([socket.destroyed, writes.room(1), writes.queuedBytes]).toEqual([true, null, 0])
  })

  it.each([
    ['goes on after one', 0],
    ['ends behind one, with its connection,', -32],
  ])(
    'that the system held are not waited for where it told at once what came of them: it %s that came to %i',
    async (_what, writeStatus) => {
      const { socket } = await connected()
      const writes = writesTo(socket)
      const { _handle: handle } = socket as unknown as { _handle: { writeBuffer?: unknown } }
      handle.writeBuffer = () => ({ writeStatus, getAsyncId: () => 1, buffer: null, oncomplete: () => {} })
      expect(say(writes, 'a')).toBe(true)
      delete handle.writeBuffer
      expect([writes.room(1)?.length, socket.destroyed]).toEqual(writeStatus < 0 ? [undefined, true] : [1, false])
    },
  )

  it('throw nothing at who writes to a connection that was closed since it gave room', async () => {
    const { socket } = await connected()
    const writes = writesTo(socket)
    const room = writes.room(1)
    const { _handle: handle } = socket as unknown as { _handle: { writeQueueSize?: number } }
    socket.destroy()
    await until(() => handle.writeQueueSize === undefined, { what: 'the end of what it wrote to' })
    expect(() => room && writes.write(room)).not.toThrow()
    expect([room?.length, writes.room(1), writes.queuedBytes]).toEqual([1, null, 0])
  })

  it('are none to what speaks TLS, or has no connection, or is no socket', () => {
    for (const socket of [new TLSSocket(new Socket()), new Socket(), new PassThrough()])
      expect(SharedWrites.to(socket)).toBeNull()
  })
})
