import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { refused } from './stream-client.ts'

type Message = Record<string, unknown>

/** A reader of `/logs`, played by a test. */
export class LogClient {
  readonly #socket: WebSocket
  readonly messages: Message[] = []
  closeCode: number | null = null

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data: Buffer) => this.messages.push(JSON.parse(data.toString()) as Message))
    socket.on('close', (code) => {
      this.closeCode = code
    })
    socket.on('error', () => {})
    onTestFinished(() => socket.terminate())
  }

  /** @param address as `http://127.0.0.1:…`. @throws Error with the status when it is refused. */
  static async open(address: string, query: string, headers: Record<string, string> = {}): Promise<LogClient> {
    const socket = new WebSocket(`${address.replace(/^http/, 'ws')}/logs${query}`, { headers })
    const client = new LogClient(socket)
    await Promise.race([once(socket, 'open'), refused(socket)])
    return client
  }

  /** The messages with this text. */
  said(msg: string): Message[] {
    return this.messages.filter((message) => message['msg'] === msg)
  }

  close(): void {
    this.#socket.close()
  }
}
