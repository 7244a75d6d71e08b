import type { Writable } from 'node:stream'
import * as ws from 'ws'
import { MessageReader, type ReaderLimits } from './message-reader.ts'
import { ProtocolFault } from './protocol-fault.ts'

/** The reader of `ws`. Its types leave it out. */
const { Receiver } = ws as unknown as { Receiver: new (options: object) => Writable }

export const LIMITS: ReaderLimits = { maxMessageBytes: 64 * 1024, maxFragments: 64, checksText: true }

/** What was read: each thing in a line of its own, and at the end the close code of the fault, if there was one. */
export type Reading = { lines: string[]; fault: number | null }

type How = { expects?: 'masked' | 'unmasked'; limits?: Partial<ReaderLimits> }

function messageLine(bytes: Buffer, isBinary: boolean): string {
  return `${isBinary ? 'binary' : 'text'} ${bytes.toString('latin1')}`
}

/** What our reader makes of these chunks. They are copied: a reader writes to what it is given. */
export function read(chunks: readonly Buffer[], { expects = 'masked', limits = {} }: How = {}): Reading {
  const lines: string[] = []
  const reader = new MessageReader(
    expects,
    { ...LIMITS, ...limits },
    {
      message: (bytes, isBinary) => void lines.push(messageLine(bytes, isBinary)),
      ping: (payload) => void lines.push(`ping ${payload.toString('latin1')}`),
      pong: () => void lines.push('pong'),
      close: (code, reason) => void lines.push(`close ${code} ${reason}`),
    },
  )
  try {
    for (const chunk of chunks) reader.read(Buffer.from(chunk))
  } catch (error) {
    if (!(error instanceof ProtocolFault)) throw error
    return { lines, fault: error.closeCode }
  }
  return { lines, fault: null }
}

/** What the reader of `ws` makes of them. */
export function readByWs(chunks: readonly Buffer[], { expects = 'masked', limits = {} }: How = {}): Reading {
  const { maxMessageBytes, maxFragments, checksText } = { ...LIMITS, ...limits }
  const lines: string[] = []
  let fault: number | null = null
  const receiver = new Receiver({
    isServer: expects === 'masked',
    maxPayload: maxMessageBytes,
    maxFragments,
    skipUTF8Validation: !checksText,
    allowSynchronousEvents: true,
  })
  receiver.on('message', (bytes: Buffer, isBinary: boolean) => lines.push(messageLine(bytes, isBinary)))
  receiver.on('ping', (payload: Buffer) => lines.push(`ping ${payload.toString('latin1')}`))
  receiver.on('pong', () => lines.push('pong'))
  receiver.on('conclude', (code: number, reason: Buffer) => lines.push(`close ${code} ${reason.toString()}`))
  receiver.on('error', () => {})
  for (const chunk of chunks) {
    if (receiver.writableEnded || fault !== null) break
    // The fault comes here in the same tick, and as an event in a later one.
    receiver._write(Buffer.from(chunk), 'utf8', (error) => {
      if (error) fault = closeCodeOf(error)
    })
  }
  return { lines, fault }
}

function closeCodeOf(error: Error): number {
  const symbol = Object.getOwnPropertySymbols(error).find(({ description }) => description === 'status-code')
  return (error as unknown as Record<symbol, number>)[symbol ?? Symbol.iterator] ?? 0
}

/** One frame, as wrong as it is wanted. */
export type Frame = { first: number; payload: Buffer; mask: number | null }

/** The bytes of a frame. Written apart from what it is to test. */
export function bytesOfFrame({ first, payload, mask }: Frame): Buffer {
  const { length } = payload
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  head[0] = first
  head[1] = (mask === null ? 0 : 0x80) | (length < 126 ? length : length < 65_536 ? 126 : 127)
  if (head.length === 4) head.writeUInt16BE(length, 2)
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2)
  if (mask === null) return Buffer.concat([head, payload])
  const key = Buffer.alloc(4)
  key.writeInt32BE(mask | 0)
  return Buffer.concat([head, key, payload.map((byte, at) => byte ^ (key[at % 4] ?? 0))])
}

/** Cuts bytes into pieces of the given lengths, over and over. */
export function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = lengths[chunks.length % lengths.length] ?? bytes.length
    chunks.push(bytes.subarray(at, at + length))
    at += length
  }
  return chunks
}
