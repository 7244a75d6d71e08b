import { once } from 'node:events'
import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { until } from '../../../test/harness/wait.ts'
import { readShared } from './shared-reads.ts'
import { socketPair } from './socket-pair.fixture.ts'

type Read = { socket: Socket; peer: Socket; texts: string[]; memories: unknown[]; wasTaken: boolean }

/** A connection whose one end is read into shared memory. */
async function readSocket(): Promise<Read> {
  const { socket, peer } = await socketPair()
  const read: Read = { socket, peer, texts: [], memories: [], wasTaken: false }
  const take = (bytes: Buffer) => {
    read.texts.push(bytes.toString())
    read.memories.push(bytes.buffer)
  }
  socket.on('data', take)
  read.wasTaken = readShared(socket, take)
  return read
}

async function says(read: Read, text: string): Promise<void> {
  read.peer.write(text)
  await until(() => read.texts.at(-1) === text, { what: text })
}

describe('A socket that is read into shared memory', () => {
  it('brings all that comes, in the memory of every other one', async () => {
    const [a, b] = [await readSocket(), await readSocket()]
    expect([a.wasTaken, b.wasTaken]).toEqual([true, true])
    await says(a, 'one')
    await says(b, 'two')
    await says(a, 'three')
    expect([a.texts, b.texts]).toEqual([['one', 'three'], ['two']])
    expect(new Set([...a.memories, ...b.memories]).size).toBe(1)
  })

  it('brings what was put back before what comes', async () => {
    const read = await readSocket()
    read.socket.unshift(Buffer.from('back'))
    read.peer.write('new')
    await until(() => read.texts.length === 2, { what: 'both' })
    expect(read.texts).toEqual(['back', 'new'])
  })

  it('ends with its peer', async () => {
    const read = await readSocket()
    read.peer.end('last')
    await once(read.socket, 'end')
    expect(read.texts).toEqual(['last'])
  })

  it('is none that speaks TLS, or has no connection, or is no socket', () => {
    const never = () => expect.unreachable()
    expect(readShared(new TLSSocket(new Socket()), never)).toBe(false)
    expect(readShared(new Socket(), never)).toBe(false)
    expect(readShared(new PassThrough(), never)).toBe(false)
  })
})
