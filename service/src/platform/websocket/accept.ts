import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'

/** RFC 6455, 1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** What a server answers to the key of a handshake, which shows that it knows what it was asked. */
export function acceptKey(key: string): string {
  return createHash('sha1').update(key).update(GUID).digest('base64')
}

/**
 * Answers a handshake that was found good: a WebSocket from now on, without extensions and without a subprotocol. A peer
 * that has gone meanwhile does not matter.
 *
 * @param more headers beside those of the handshake.
 */
export function acceptWebSocket(socket: Duplex, key: string, more: Record<string, string> = {}): void {
  const headers = { Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Accept': acceptKey(key), ...more }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`)
}
