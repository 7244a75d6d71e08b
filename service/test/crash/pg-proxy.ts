import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Trap } from './moments.ts'
import { type PgMessage, PgMessageReader, rowsIn, StatementReader } from './pg-messages.ts'

/** Stands between the service and its PostgreSQL server. */
export type PgProxy = {
  /** The database's address by way of the proxy. */
  url: string
  /** Ends every connection, and takes none until it is mended. */
  cut(): void
  mend(): void
  close(): Promise<void>
}

/** Starts one on a free port. It shows the trap each statement before it is passed on, and again when it is done. */
export async function startPgProxy(databaseUrl: string, trap: Trap): Promise<PgProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let isCut = false
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer((client) => {
    if (isCut) return void client.on('error', () => {}).destroy()
    const upstream = connect({ host: target.hostname, port: Number(target.port) })
    for (const socket of [client, upstream]) {
      sockets.add(socket.setNoDelay(true))
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    passOn(client, upstream, trap)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    cut() {
      isCut = true
      destroyAll()
    },
    mend() {
      isCut = false
    },
    async close() {
      destroyAll()
      server.close()
      await once(server, 'close')
    },
  }
}

/** One connection. Statements are answered in the order in which they were asked. */
function passOn(client: Socket, upstream: Socket, trap: Trap): void {
  const [asked, answered] = [new PgMessageReader('client'), new PgMessageReader('server')]
  const statements = new StatementReader()
  const pending: Statement[] = []
  let transaction: string[] = []
  const ask = (message: PgMessage): void => {
    const statement = statements.statementIn(message)
    if (statement !== null) {
      const isBegin = /^(begin|start transaction)/i.test(statement)
      const moment = { where: 'database' as const, statement, transaction: [...transaction] }
      if (trap.reach({ ...moment, when: 'before' })) return void client.destroy()
      pending.push(moment)
      if (/^(commit|rollback)/i.test(statement)) transaction = []
      else if (isBegin || transaction.length > 0) transaction = [...transaction, statement]
    }
    if (!client.destroyed) upstream.write(message.bytes)
  }
  const answer = (message: PgMessage): void => {
    // Completed, empty, or failed: in each case it is the oldest that was asked.
    const moment = message.type !== null && 'CIE'.includes(message.type) ? pending.shift() : undefined
    const isDone = moment !== undefined && message.type === 'C'
    if (isDone && trap.reach({ ...moment, when: 'after', rows: rowsIn(message) })) return void client.destroy()
    if (!client.destroyed) client.write(message.bytes)
  }
  client.on('data', (bytes) => {
    for (const message of asked.read(bytes)) ask(message)
  })
  upstream.on('data', (bytes) => {
    for (const message of answered.read(bytes)) answer(message)
  })
}

type Statement = { where: 'database'; statement: string; transaction: string[] }
