import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that the service made of its carrier. */
export type CarrierRequest = { path: string; form: Record<string, string> }

/** The REST surface of a carrier that says yes to everything. */
export type CarrierRest = { baseUrl: string; requests: CarrierRequest[]; close(): Promise<void> }

export async function startCarrierRest(): Promise<CarrierRest> {
  const requests: CarrierRequest[] = []
  const server = createServer((request, response) => {
    bodyOf(request).then(
      (body) => {
        requests.push({ path: request.url ?? '', form: Object.fromEntries(new URLSearchParams(body)) })
        response.writeHead(200).end('{}')
      },
      () => response.destroy(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
