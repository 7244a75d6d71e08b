import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '../../../scripts/needs/free-port.ts'

/** A hop between a client and a server that a test can make misbehave. */
export type TcpProxy = {
  port: number
  /** Nothing passes any more on the connections that are open, and nobody is told; new ones work. */
  freeze(): void
  /** The same for those that come, too. */
  freezeAll(): void
  /** Cuts every connection and refuses new ones, as a server that is down. */
  cut(): Promise<void>
  /** Takes connections again, on the same port. */
  mend(): Promise<void>
  /** From now on everything takes this much longer, on connections that are open too, in each direction. */
  delay(ms: number): void
  /** Cuts every connection and stops listening. */
  close(): Promise<void>
}

/** Listens on a free port of 127.0.0.1 and passes every connection on to `target`. */
export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let delayMs = 0
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  }
  let isFrozen = false
  const server = createServer((client) => {
    if (isFrozen) return keep(client.pause())
    const upstream = connect(target)
    for (const socket of [client, upstream]) keep(socket)
    upstream.on('error', () => client.destroy())
    pass(client, upstream, () => delayMs)
    pass(upstream, client, () => delayMs)
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const cut = async () => {
    for (const socket of sockets) socket.destroy()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }
  // A port that the system gives away could be somebody's connection by the time of `mend`.
  const port = await freePort()
  await listen(port)
  return {
    port,
    freeze() {
      for (const socket of sockets) socket.pause()
    },
    freezeAll() {
      isFrozen = true
      for (const socket of sockets) socket.pause()
    },
    delay(ms) {
      delayMs = ms
    },
    cut,
    mend: () => listen(port),
    close: cut,
  }
}

/** Passes on what comes, in order, each piece as much later as is asked for now. */
function pass(from: Socket, to: Socket, delayMs: () => number): void {
  const later = (work: () => void) => (delayMs() === 0 ? work() : setTimeout(work, delayMs()))
  from.on('data', (piece) => later(() => void to.write(piece)))
  from.on('end', () => later(() => void to.end()))
}
