import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** An answer that is made once and sent as often as it is asked for. */
export type KeptAnswer = { type: string; body: Buffer; gzipped: Buffer; etag: string }

const compress = promisify(gzip)

/** Keeps a body, with its compressed form, which is made outside of this thread. */
export async function keepAnswer(type: string, body: Buffer): Promise<KeptAnswer> {
  // Weak: the same for both forms.
  const etag = `W/"${hashOf(body)}"`
  return { type, body, gzipped: await compress(body, { level: 9 }), etag }
}

/** Tells one content from every other one, in 24 hexadecimal digits. */
export function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 24)
}

/** Sends it: compressed to those who take that, and nothing but a 304 to those who have it. */
export function sendKept(request: FastifyRequest, reply: FastifyReply, kept: KeptAnswer): void {
  const { 'if-none-match': known, 'accept-encoding': encodings = '' } = request.headers
  reply.headers({ etag: kept.etag, vary: 'accept-encoding' })
  if (known?.split(',').some((tag) => tag.trim() === kept.etag)) {
    void reply.code(304).send()
    return
  }
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(String(encodings))
  if (takesGzip) reply.header('content-encoding', 'gzip')
  void reply.type(kept.type).send(takesGzip ? kept.gzipped : kept.body)
}

/** Makes each named thing when it is first asked for, and no second time unless that failed. */
export function keeping<Name extends string, Thing>(
  make: (name: Name) => Promise<Thing>,
): (name: Name) => Promise<Thing> {
  const kept = new Map<Name, Promise<Thing>>()
  return (name) => {
    const known = kept.get(name)
    if (known) return known
    const made = make(name)
    kept.set(name, made)
    made.catch(() => kept.delete(name))
    return made
  }
}
