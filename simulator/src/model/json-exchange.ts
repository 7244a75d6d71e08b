import type { IncomingMessage } from 'node:http'
import { ModelError } from './model-error.ts'

/** The body of a refusal, as the real server writes it. */
export function errorOf(code: string, message: string, param: string | null) {
  return { error: { message, type: 'invalid_request_error', param, code } }
}

const BODY_BYTES_MAX = 1024 * 1024

/** The body of a request as text. @throws ModelError `too_large` above 1 MiB. */
export async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > BODY_BYTES_MAX) throw new ModelError('too_large', 'The body is larger than 1 MiB.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
