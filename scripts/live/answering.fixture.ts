import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { onTestFinished } from 'vitest'
import { freePort } from '../needs/free-port.ts'

/** What a server does with a request. */
export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** A server whose answers a test can change while it runs. */
export type Answering = {
  url: string
  /** By method and path, as in `GET /livez`; what is not here is a 404. */
  answers: Record<string, Answer>
  onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  server: Server
}

/** Answers with JSON. */
export function json(status: number, body: unknown): Answer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
}

/** Listens on a free port of this machine until the test is over. */
export async function startAnswering(answers: Record<string, Answer> = {}): Promise<Answering> {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      const path = (request.url ?? '').split('?')[0]
      const answer = answering.answers[`${request.method} ${path}`] ?? json(404, { ok: false })
      answer(request, response, body)
    })
  })
  const refuse = (_request: IncomingMessage, socket: Duplex) => socket.end('HTTP/1.1 404 Not Found\r\n\r\n')
  const answering: Answering = { url: '', answers, onUpgrade: refuse, server }
  server.on('upgrade', (request, socket, head) => answering.onUpgrade(request, socket, head))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  answering.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return answering
}

/** An address of this machine at which nothing listens. */
export async function deafUrl(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`
}
