/** When a webhook is tried again: on a failed connection, a late answer, or a status. */
export type RetryReason = 'ct' | 'rt' | '4xx' | '5xx'

/** How patient the carrier is with one address. */
export type ConnectionLimits = {
  connectTimeoutMs: number
  readTimeoutMs: number
  /** For all tries together. */
  totalTimeoutMs: number
  retries: number
  retryOn: ReadonlySet<RetryReason>
}

const ALL: RetryReason[] = ['ct', 'rt', '4xx', '5xx']
const LONGEST_MS = 15_000

/**
 * Parts an address from the overrides in its fragment (`#ct=2000&rt=8000&tt=15000&rc=3&rp=all`), each held within the
 * carrier's bounds. The fragment is neither sent nor signed. Without it: 5 s to connect, 15 s in all, one retry of a
 * failed connection.
 */
export function splitOverrides(address: string): { url: string; limits: ConnectionLimits } {
  const hash = address.indexOf('#')
  const overrides = new URLSearchParams(hash < 0 ? '' : address.slice(hash + 1))
  const policy = (overrides.get('rp') ?? 'ct').split(',')
  return {
    url: hash < 0 ? address : address.slice(0, hash),
    limits: {
      connectTimeoutMs: bounded(overrides.get('ct'), { usual: 5000, least: 100, most: 10_000 }),
      readTimeoutMs: bounded(overrides.get('rt'), { usual: LONGEST_MS, least: 100, most: LONGEST_MS }),
      totalTimeoutMs: bounded(overrides.get('tt'), { usual: LONGEST_MS, least: 100, most: LONGEST_MS }),
      retries: bounded(overrides.get('rc'), { usual: 1, least: 0, most: 5 }),
      retryOn: new Set(policy.includes('all') ? ALL : ALL.filter((reason) => policy.includes(reason))),
    },
  }
}

function bounded(value: string | null, { usual, least, most }: { usual: number; least: number; most: number }): number {
  const asked = Number(value ?? usual)
  return Number.isInteger(asked) ? Math.min(most, Math.max(least, asked)) : usual
}
