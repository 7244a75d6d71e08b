import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Both ends of a connection, which end with the test. Errors of either are nobody's. */
export async function socketPair(): Promise<{ socket: Socket; peer: Socket }> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [[peer]] = await Promise.all([accepted, once(socket, 'connect')])
  for (const end of [socket, peer]) end.on('error', () => {})
  onTestFinished(() => {
    peer.destroy()
    socket.destroy()
    server.close()
  })
  return { socket, peer }
}
