import { execFile } from 'node:child_process'
import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { until } from '../../../test/harness/wait.ts'
import { FrameSender } from './frame-sender.ts'
import { nextMask } from './masking.ts'
import { MessageReader } from './message-reader.ts'
import { socketPair } from './socket-pair.fixture.ts'

const LIMITS = { maxMessageBytes: 2 ** 20, maxFragments: 1, checksText: true }

/** A sender, and what its peer reads once it is resumed. */
async function sending(): Promise<{ sender: FrameSender; peer: Socket; got: string[] }> {
  const { socket, peer } = await socketPair()
  const got: string[] = []
  const never = () => expect.unreachable()
  const message = (bytes: Buffer) => void got.push(bytes.toString())
  const reader = new MessageReader('masked', LIMITS, { message, ping: never, pong: never, close: never })
  peer.pause().on('data', (chunk) => reader.read(chunk))
  return { sender: new FrameSender(socket, nextMask), peer, got }
}

const text = (n: number) => `${n} `.repeat(n % 2 === 0 ? 60 : 6_000)

describe('A sender of frames', () => {
  it('sends all of them in order to a peer that takes nothing for a while, and tells what waits', async () => {
    // The first connection of a process is the one that shows how to write past the stream.
    for (let connection = 0; connection < 2; connection++) {
      const { sender, peer, got } = await sending()
      let sent = 0
      const send = () => {
        if (sent % 3 === 0) sender.sendAll([[Buffer.from(text(sent))], [Buffer.from(text(sent + 1))]])
        else sender.send([Buffer.from(text(sent)), Buffer.from(text(sent + 1))])
        sent += 2
      }
      while (sender.bufferedBytes() < 256 * 1024) send()
      peer.resume()
      await until(() => sender.bufferedBytes() === 0, { what: 'an empty buffer' })
      send()
      await until(() => got.join('').length === textsTo(sent).length, { what: 'the last message' })
      expect(got.join('') === textsTo(sent)).toBe(true)
      expect(got[0]).toBe(text(0))
    }
  })

  it('outlives a reader that takes the rest of a frame while it is looked at whether something is left', async () => {
    const program = fileURLToPath(new URL('hard-writes.fixture.ts', import.meta.url))
    // A process of its own: Node ends one in which the system is handed a request that it still holds.
    const ended = await promisify(execFile)(process.execPath, [program, '10000']).catch((error: Error) => error)
    expect(ended).toMatchObject({ stdout: '', stderr: '' })
  })

  it('writes to what is no socket', () => {
    const stream = new PassThrough()
    new FrameSender(stream, null).send([Buffer.from('hi')])
    expect(stream.read().toString('latin1')).toBe('\x81\x02hi')
  })
})

function textsTo(count: number): string {
  return Array.from({ length: count }, (_, n) => text(n)).join('')
}
