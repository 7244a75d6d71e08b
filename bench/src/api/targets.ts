import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** Two addresses that tenants are told at: one takes everything at once, the other takes it and never answers. */
export type Targets = { promptUrl: string; hangingUrl: string; close(): void }

/** Starts both on free loopback ports. */
export async function startTargets(): Promise<Targets> {
  const prompt = await listen((request, response) => {
    request.resume().on('end', () => response.writeHead(200).end())
  })
  const hanging = await listen((request) => void request.resume())
  const close = () => {
    prompt.close()
    hanging.close()
  }
  return { promptUrl: prompt.url, hangingUrl: hanging.url, close }
}

async function listen(onRequest: RequestListener): Promise<{ url: string; close(): void }> {
  const server: Server = createServer(onRequest)
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1_024 })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { url: `http://127.0.0.1:${port}/hook`, close }
}
