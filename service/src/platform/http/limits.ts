/** What one client may cost us. */
export type HttpLimits = {
  maxBodyBytes: number
  maxHeaderBytes: number
  /** From the first byte of a request, or the opening of its connection, to the last byte of its headers. */
  headersTimeoutMs: number
  /** The same to the last byte of its body. */
  requestTimeoutMs: number
  /** How long a connection may wait for its next request: longer than proxies keep theirs, or one asks on it while it is closed. */
  keepAliveTimeoutMs: number
  /** How long a client may take nothing of an answer whose end is written, or that is streamed: until then all that there is of it is kept. */
  unreadTimeoutMs: number
  /** How often the two request timeouts are looked at; they can be late by as much. */
  timeoutCheckIntervalMs: number
  /** Open connections of one address (IPv6: of one /64) that are not yet let in for good. */
  maxConnectionsPerAddress: number
}

export const HTTP_LIMITS: HttpLimits = {
  maxBodyBytes: 256 * 1024,
  maxHeaderBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 125_000,
  unreadTimeoutMs: 300_000,
  timeoutCheckIntervalMs: 1_000,
  maxConnectionsPerAddress: 100,
}

/** No id, key or number of ours is longer. */
export const MAX_PATH_PARAMETER_LENGTH = 500
