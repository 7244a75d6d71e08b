/** What a look-up of the name, or a connection that did not come about, fails with: there was no socket yet to write anything to. */
const NO_SOCKET = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH'])
/** The same codes may come of a socket that was connected, and has sent something. */
const BEFORE_ONE = new Set(['getaddrinfo', 'connect'])

/**
 * Whether what `fetch` failed with says for sure that no byte of the request has left. Whatever leaves a doubt does not: a time-out, a reset, a
 * fault of TLS, and an address of several of which one fails in another way.
 */
export function isNeverSent(error: unknown): boolean {
  return error instanceof TypeError && hadNoSocket(error.cause)
}

function hadNoSocket(cause: unknown): boolean {
  // A name with several addresses fails with one error for each that was tried.
  if (cause instanceof AggregateError) return cause.errors.length > 0 && cause.errors.every(hadNoSocket)
  if (!(cause instanceof Error)) return false
  const { code, syscall } = cause as NodeJS.ErrnoException
  return NO_SOCKET.has(code ?? '') && BEFORE_ONE.has(syscall ?? '')
}
