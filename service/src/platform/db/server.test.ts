import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { isLoginRefused } from './errors.ts'
import type { Database } from './schema.ts'
import { openServer } from './server.ts'

const UNREACHABLE = { code: 'unavailable', message: 'The database is not reachable. Try again.' }

let server: Server
const sockets = new Set<Socket>()
let database: Database

async function listen(onSocket: (socket: Socket) => void): Promise<number> {
  server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    onSocket(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function open(port: number, parameters = ''): Database {
  database = openServer({ url: `postgres://user@127.0.0.1:${port}/none${parameters}`, applicationName: 'test' })
  return database
}

/** What a server says that asks for no password, and waits for a query. */
const LET_IN = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1')

/** What a server says as it ends a connection. */
function fatal(state: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C${state}\0M${message}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

afterEach(async () => {
  await database.close()
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  await new Promise((resolve) => server.close(resolve))
})

describe('openServer, when the server', () => {
  it('is not there: queries are unavailable', async () => {
    const port = await listen(() => undefined)
    await new Promise((resolve) => server.close(resolve))
    await expect(open(port).ping(2_000)).rejects.toMatchObject(UNREACHABLE)
  })

  it('hangs up: queries are unavailable', async () => {
    const port = await listen((socket) => socket.end())
    await expect(open(port).ping(2_000)).rejects.toMatchObject(UNREACHABLE)
  })

  it.each([
    ['takes no TLS, which its address asks for', '?sslmode=require', 'N'],
    ['is a pooler that has no room, and says so in its own way', '', fatal('XX000', 'max clients reached')],
  ])('%s: queries are unavailable', async (_what, parameters, answer) => {
    const port = await listen((socket) => socket.once('data', () => socket.end(answer)))
    const error = await open(port, parameters)
      .ping(2_000)
      .catch((err: unknown) => err)
    expect(error).toMatchObject(UNREACHABLE)
    // It was reached: at a start there is nothing to wait for.
    expect(isLoginRefused(error)).toBe(true)
  })

  it('accepts and says nothing: a ping gives up after its own time, a query after five seconds', async () => {
    const port = await listen(() => undefined)
    let isQueryRefused = false
    const query = open(port).db.selectFrom('schema_migrations').selectAll().execute()
    const refused = expect(query.finally(() => (isQueryRefused = true))).rejects.toMatchObject(UNREACHABLE)
    await expect(database.ping(50)).rejects.toMatchObject(UNREACHABLE)
    expect(isQueryRefused).toBe(false)
    await refused
  })

  it('is slow to let anybody in, and then says nothing: it is not asked by a second connection', async () => {
    const port = await listen((socket) =>
      socket.once('data', () => systemClock.after(1_200, () => socket.write(LET_IN))),
    )
    await expect(sql`select 1`.execute(open(port).db)).rejects.toMatchObject(UNREACHABLE)
    expect(sockets.size).toBe(1)
  })

  it('is told options by its address, and none of ours, which a pooler may not know', async () => {
    let told = ''
    const port = await listen((socket) =>
      socket.once('data', (bytes) => {
        told = bytes.toString()
        socket.end()
      }),
    )
    await expect(open(port, '?options=-c%20search_path%3Dparley').ping(2_000)).rejects.toMatchObject(UNREACHABLE)
    expect(told).toContain('options\0-c search_path=parley\0')
    expect(told).not.toMatch(/timeout|timezone|jit/)
  })

  it('was closed by us: queries are unavailable, and to close again changes nothing', async () => {
    const port = await listen(() => undefined)
    await open(port).close()
    await database.close()
    await expect(database.ping(1_000)).rejects.toMatchObject(UNREACHABLE)
  })
})
