import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a speech endpoint was asked, as it came. */
type Asked = { authorization: string | undefined; input: string; voice: string; speed: number; response_format: string }

/** PCM of so long, or a refusal, or nothing at all. */
type Answer = { ms: number } | { status: number } | 'nothing'

/** A speech endpoint that answers what the test wants. Whoever starts it closes it. */
export type SpeechServer = {
  baseUrl: string
  asked: Asked[]
  /** From now on. */
  answer(answer: Answer): void
  close(): Promise<void>
}

const PCM_HZ = 24_000

export async function startSpeechServer(): Promise<SpeechServer> {
  const asked: Asked[] = []
  let answer: Answer = { ms: 1_000 }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      asked.push({ ...JSON.parse(Buffer.concat(chunks).toString()), authorization: request.headers.authorization })
      if (answer === 'nothing') return
      if ('status' in answer) response.writeHead(answer.status).end('{"error":{"message":"No."}}')
      else response.writeHead(200, { 'content-type': 'audio/pcm' }).end(tone(answer.ms))
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
    async close() {
      server.closeAllConnections()
      server.close()
      if (server.listening) await once(server, 'close')
    },
  }
}

function tone(ms: number): Buffer {
  const samples = Int16Array.from({ length: (ms * PCM_HZ) / 1_000 }, (_, at) => 8_000 * Math.sin(at / 8))
  return Buffer.from(samples.buffer)
}
