import type { FastifyReply, FastifyRequest } from 'fastify'
import { canonicalJson } from '../../kernel/canonical-json.ts'
import { invalidRequest } from '../../kernel/errors.ts'
import type { RequestKey } from '../../kernel/request-key.ts'
import { sha256 } from '../../kernel/seal.ts'

/** Visible ASCII characters and spaces between them. */
const KEY = /^[!-~]([ -~]{0,253}[!-~])?$/

/** The key that a request came with; null: none. @throws AppError `invalid_request` for one that is none. */
export function requestKeyOf({ headers, body }: Pick<FastifyRequest, 'headers' | 'body'>): RequestKey | null {
  const key = headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key === 'string' && KEY.test(key)) return { key, bodyHash: sha256(canonicalJson(body)) }
  const message = 'must have 1 to 255 visible ASCII characters'
  throw invalidRequest([{ path: '/headers/idempotency-key', message }])
}

/** Says that an answer is that of an earlier request with the same key. */
export function tellReplay(reply: FastifyReply): void {
  reply.header('idempotent-replayed', 'true')
}
