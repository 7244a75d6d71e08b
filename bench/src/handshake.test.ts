import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { acceptKey, listenWebSocket, openWebSocket, portOf } from './handshake.ts'

describe('the handshake', () => {
  it('answers a key as RFC 6455 shows it', () => {
    expect(acceptKey('dGhlIHNhbXBsZSBub25jZQ==')).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
  })

  it('joins two bare sockets', async () => {
    const server = await listenWebSocket(({ socket }) => socket.pipe(socket))
    const { socket } = await openWebSocket(`ws://127.0.0.1:${portOf(server)}/?x=1`)
    socket.write('hello')
    expect(String(await once(socket, 'data'))).toBe('hello')
    socket.destroy()
    server.close()
  })

  it('fails when the server does not answer 101', async () => {
    const server = createServer((_request, response) => response.writeHead(403).end())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    await expect(openWebSocket(`ws://127.0.0.1:${portOf(server)}/`)).rejects.toThrow('handshake answered 403')
    server.close()
  })

  it('fails when the server answers another key', async () => {
    const server = createServer()
    server.on('upgrade', (_request, socket) => {
      const headers = 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: wrong\r\n'
      socket.on('error', () => socket.destroy()).end(`HTTP/1.1 101 Switching Protocols\r\n${headers}\r\n`)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    await expect(openWebSocket(`ws://127.0.0.1:${portOf(server)}/`)).rejects.toThrow('wrong key')
    server.close()
  })
})
