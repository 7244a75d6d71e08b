/**
 * Writes far more than a connection holds, many frames in one tick, to a reader that is a process of its own: so that the system takes
 * a part of a frame, and the rest of it before it was asked whether something is left. Its argument is how many frames; it ends when all
 * have arrived, with 0 if they are whole.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { FrameSender } from './frame-sender.ts'

const PAYLOAD = Buffer.alloc(60_000, 'x')
const FRAME_BYTES = 4 + PAYLOAD.length
const FRAMES_PER_TICK = 200
const READER = `
  let bytes = 0
  require('node:net').connect(Number(process.argv[1]), '127.0.0.1')
    .on('data', (chunk) => { bytes += chunk.length })
    .on('end', () => process.stdout.write(String(bytes)))`

const frames = Number(process.argv[2])
const server = createServer().listen(0, '127.0.0.1')
await once(server, 'listening')
const accepted = once(server, 'connection') as Promise<[Socket]>
const reader = spawn(process.execPath, ['-e', READER, String((server.address() as AddressInfo).port)], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
let told = ''
reader.stdout.on('data', (chunk: Buffer) => {
  told += chunk.toString()
})
const [socket] = await accepted
const sender = new FrameSender(socket, null)
for (let sent = 0; sent < frames; ) {
  for (let i = 0; i < FRAMES_PER_TICK && sent < frames; i++, sent++) sender.send([PAYLOAD])
  while (sender.bufferedBytes() > 0) await new Promise((resolve) => setImmediate(resolve))
}
socket.end()
await once(reader, 'close')
server.close()
process.exitCode = told === String(frames * FRAME_BYTES) ? 0 : 1
