import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A hop between a client and a server that a test can make misbehave. */
export type TcpProxy = {
  port: number
  /** Nothing passes any more on the connections that are open, and nobody is told; new ones work. */
  freeze(): void
  /** Cuts every connection and stops listening. */
  close(): Promise<void>
}

/** Listens on a free port of 127.0.0.1 and passes every connection on to `target`. */
export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    const upstream = connect(target)
    for (const socket of [client, upstream]) keep(socket)
    client.pipe(upstream).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    freeze() {
      for (const socket of sockets) socket.pause()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
