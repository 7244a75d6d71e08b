import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { makeReady } from './database-start.ts'
import { type Clock, systemClock } from './kernel/clock.ts'
import { openServer } from './platform/db/server.ts'
import { makeLog } from './platform/log.ts'

/** What a server or a pooler says in place of letting somebody in. */
function fatal(state: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C${state}\0M${message}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

/** Half a minute is over with the third look at it. */
function hasteningClock(): Clock {
  let nowMs = 0
  return { ...systemClock, monotonicMs: () => (nowMs += 12_000), after: (_delayMs, task) => systemClock.after(0, task) }
}

it.each([
  ['08P01', 'unsupported startup parameter in options: search_path'],
  ['53300', 'sorry, too many clients already'],
])('a start that waited in vain tells what the server said (%s)', async (state, message) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(fatal(state, message)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const database = openServer({ url: `postgres://user@127.0.0.1:${port}/none`, applicationName: 'test' })
  onTestFinished(async () => {
    await database.close()
    server.close()
  })
  const silent = makeLog({ level: 'error', secrets: [], destination: { write: () => undefined } })
  await expect(makeReady(database, hasteningClock(), silent)).rejects.toMatchObject({
    code: 'unavailable',
    message: `The database of DATABASE_URL answers: ${message}. Mend that, or the address.`,
  })
})
