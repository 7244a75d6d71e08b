import { onTestFinished } from 'vitest'
import { WebSocketServer } from 'ws'
import { isSigned } from '../../service/src/platform/telephony/twilio/signature.ts'
import { type Answer, type Answering, json, startAnswering } from './answering.fixture.ts'
import { ACCOUNT } from './simulated.fixture.ts'

const NO_TOKEN = 4401

/** The public side of the service, as far as the checks look at it. */
export async function startService(): Promise<Answering> {
  const service = await startAnswering({ 'GET /livez': json(200, { ok: true }) })
  service.answers['POST /api/v1/call-status'] = verifying(service, ACCOUNT.authToken)
  service.onUpgrade = closingWith(NO_TOKEN)
  return service
}

/** Takes what is signed with this token, over the path at `base` (the service's own address when absent). */
export function verifying(service: Answering, token: string, base: string = service.url): Answer {
  return (request, response, body) => {
    const form = [...new URLSearchParams(body)]
    const signed = { url: `${base}${request.url}`, headers: request.headers, form }
    json(isSigned(signed, [token]) ? 200 : 401, { ok: true })(request, response, body)
  }
}

/** Takes an upgrade and closes when the start of a stream has come. */
export function closingWith(code: number): Answering['onUpgrade'] {
  const sockets = new WebSocketServer({ noServer: true })
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate()
  })
  return (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      accepted.on('message', (data) => {
        if ((JSON.parse(String(data)) as { event: string }).event === 'start') accepted.close(code)
      })
    })
}

/** Refuses an upgrade with a status. */
export function refusingWith(status: number): Answering['onUpgrade'] {
  return (_request, socket) => socket.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: 0\r\n\r\n`)
}
