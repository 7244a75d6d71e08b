const text = { type: 'string' }

/** Every header of answers that the descriptions name. */
export const HEADERS = {
  'X-Request-Id': {
    description: 'The id of the request, as in the log: what the client sent as X-Request-Id, or a new one.',
    schema: text,
  },
  RateLimit: {
    description: 'What is left of the limit (r), and in how many seconds it is whole again (t).',
    schema: text,
    example: '"tenant";r=996;t=42',
  },
  'RateLimit-Policy': {
    description: 'The limit (q) of so many seconds (w).',
    schema: text,
    example: '"tenant";q=1000;w=60',
  },
  'Retry-After': {
    description: 'Whole seconds after which it is worth asking again.',
    schema: { type: 'integer', minimum: 0 },
    example: 42,
  },
  ETag: { description: 'The version of what was read or written: to be sent as If-Match.', schema: text },
  'WWW-Authenticate': { description: 'Which credential is wanted.', schema: text, example: 'Bearer' },
  Deprecation: { description: 'This is an old address.', schema: text, example: 'true' },
  Link: {
    description: 'The present address, as rel="successor-version".',
    schema: text,
    example: '</api/v1/make-call>; rel="successor-version"',
  },
  'Idempotent-Replayed': {
    description: 'true when the answer is that of an earlier request with this key.',
    schema: text,
    example: 'true',
  },
  'Content-Range': { description: 'Which bytes these are, of how many.', schema: text },
  'Accept-Ranges': { description: 'bytes: parts of it may be asked for.', schema: text },
  'Content-Disposition': { description: 'A name for the file.', schema: text },
  'Set-Cookie': { description: 'The session, or its end.', schema: text },
  Location: { description: 'Where to go instead.', schema: text },
  Upgrade: { description: 'The protocol that is wanted, or spoken from here on.', schema: text, example: 'websocket' },
}

export type HeaderName = keyof typeof HEADERS

/** The headers of an answer, each a reference to its description. */
export function headerRefs(names: HeaderName[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
