import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A node that takes connections. */
export type Target = { host: string; port: number }

/** What stands before the nodes under their public address, as a load balancer does. */
export type Front = {
  /** Without a slash at its end. */
  url: string
  add(target: Target): void
  /** Nothing more goes there: its port may be another program's by now. */
  remove(target: Target): void
  /** Cuts every connection and stops listening. */
  close(): Promise<void>
}

/**
 * Listens on a free port of 127.0.0.1 and passes each connection to the node that has the fewest; one that does not take it
 * is skipped. How a node's end of a connection goes away is how the client's does: closed for closed, reset for reset.
 */
export async function startFront(): Promise<Front> {
  const loads = new Map<Target, number>()
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    keep(client)
    client.on('error', () => client.destroy())
    void firstThatTakes(loads).then((taken) => {
      if (!taken) return client.resetAndDestroy()
      keep(taken.socket)
      taken.socket.on('close', () => add(loads, taken.target, -1))
      return client.destroyed ? taken.socket.destroy() : join(client, taken.socket)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (target) => add(loads, target, 0),
    remove: (target) => void loads.delete(target),
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

type Loads = Map<Target, number>

function add(loads: Loads, target: Target, connections: number): void {
  if (connections !== 0 && !loads.has(target)) return
  loads.set(target, (loads.get(target) ?? 0) + connections)
}

/** A connection to the target that has the fewest, or else to the next; null when none takes it. */
async function firstThatTakes(loads: Loads): Promise<{ target: Target; socket: Socket } | null> {
  for (const [target] of [...loads].toSorted(([, a], [, b]) => a - b)) {
    // Counted at once: several that come together must not all go to the same one.
    add(loads, target, 1)
    const socket = await connected(target)
    if (socket) return { target, socket }
    add(loads, target, -1)
  }
  return null
}

function connected({ host, port }: Target): Promise<Socket | null> {
  const socket = connect({ host, port, allowHalfOpen: true })
  return new Promise((resolve) => {
    const refused = (): void => resolve(null)
    socket.once('error', refused)
    socket.once('connect', () => {
      socket.off('error', refused)
      resolve(socket)
    })
  })
}

function join(client: Socket, upstream: Socket): void {
  client.pipe(upstream).pipe(client)
  client.on('error', () => upstream.resetAndDestroy())
  upstream.on('error', () => client.resetAndDestroy())
  client.on('close', () => upstream.destroy())
  upstream.on('close', () => client.end())
}
