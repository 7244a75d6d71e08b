import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a speech endpoint was asked, as it came. */
type Asked = {
  authorization: string | undefined
  input: string
  voice: string | { id: string }
  speed: number
  response_format: string
}

/** PCM of so long, or half of that before the connection breaks, or what it is given, or a refusal, or nothing until it is told otherwise. */
type Answer = { ms: number; breaks?: boolean } | { bytes: Buffer; contentType: string } | { status: number } | 'nothing'

/** A speech endpoint that answers what the test wants. Whoever starts it closes it. */
export type SpeechServer = {
  baseUrl: string
  asked: Asked[]
  /** From now on. */
  answer(answer: Answer): void
  /** To those that were given nothing so far. */
  late(answer: Exclude<Answer, 'nothing'>): void
  close(): Promise<void>
}

const PCM_HZ = 24_000

export async function startSpeechServer(): Promise<SpeechServer> {
  const asked: Asked[] = []
  const waiting: ServerResponse[] = []
  let answer: Answer = { ms: 1_000 }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      asked.push({ ...JSON.parse(Buffer.concat(chunks).toString()), authorization: request.headers.authorization })
      if (answer === 'nothing') waiting.push(response)
      else respond(response, answer)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    answer(next) {
      answer = next
    },
    late(next) {
      for (const response of waiting.splice(0)) respond(response, next)
    },
    async close() {
      server.closeAllConnections()
      server.close()
      if (server.listening) await once(server, 'close')
    },
  }
}

function respond(response: ServerResponse, answer: Exclude<Answer, 'nothing'>): void {
  if ('status' in answer) return void response.writeHead(answer.status).end('{"error":{"message":"No."}}')
  if ('bytes' in answer) return void response.writeHead(200, { 'content-type': answer.contentType }).end(answer.bytes)
  const pcm = tone(answer.ms)
  response.writeHead(200, { 'content-type': 'audio/pcm', 'content-length': pcm.length })
  if (!answer.breaks) return void response.end(pcm)
  response.write(pcm.subarray(0, pcm.length / 2), () => response.destroy())
}

function tone(ms: number): Buffer {
  const samples = Int16Array.from({ length: (ms * PCM_HZ) / 1_000 }, (_, at) => 8_000 * Math.sin(at / 8))
  return Buffer.from(samples.buffer)
}
