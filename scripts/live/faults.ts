import { CarrierError } from '../../service/src/platform/telephony/port.ts'

/** What went wrong, and what to do about it, a line for each thing. Sentences without a secret. */
export type Fault = { found: string; todo: string }

/** Ends a command or a check that cannot succeed. */
export class Trouble extends Error {
  override readonly name = 'Trouble'
  readonly fault: Fault

  constructor(found: string, todo: string) {
    super(found)
    this.fault = { found, todo }
  }
}

const TIMED_OUT = new Set(['TimeoutError', 'AbortError'])

/** Why a connection failed, by the code of the socket, the name service or the TLS layer. `found` has no full stop yet. */
const NETWORK: [codes: RegExp, fault: Fault][] = [
  [
    /^(ENOTFOUND|EAI_AGAIN|ENODATA)$/,
    {
      found: 'The name has no address',
      todo: 'Check how it is written and whether this machine is online. A tunnel without an account has a new name at each start.',
    },
  ],
  [
    /^ECONNREFUSED$/,
    { found: 'The connection was refused', todo: 'Nothing listens there: start it, or mend the address or the port.' },
  ],
  [
    /^(ERR_SSL_\w+|EPROTO)$/,
    {
      found: 'The other side does not speak TLS',
      todo: 'https leads to a port that speaks plain http: mend the address or the proxy.',
    },
  ],
  [
    /CERT|ISSUER|SIGNATURE|SELF_SIGNED/,
    {
      found: 'The TLS certificate is not valid',
      todo: 'The carrier refuses it as well: give the proxy a certificate of a public authority, for this very name.',
    },
  ],
  [
    /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/,
    { found: 'The connection broke off', todo: 'What stands in between closes it: look into its log.' },
  ],
  [
    /^(ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/,
    { found: 'There is no way to it', todo: 'Check the address, the firewall and whether this machine is online.' },
  ],
]

const NO_ANSWER: Fault = {
  found: 'No answer came in time.',
  todo: 'Something swallows the request: check the firewall, the tunnel and whether the program behind it hangs.',
}

/** Refusals of the carrier that have one remedy, by its own codes. */
const CARRIER: Record<string, string> = {
  20003:
    'Copy TELEPHONY_ACCOUNT_SID (AC…) and TELEPHONY_AUTH_TOKEN again from the first page of the console: not an API key, not the test credentials. A subaccount has a token of its own.',
  20005: 'The account is not active: see its billing in the console.',
  20008: 'These are test credentials, which reach no real number: take the live ones from the console.',
  20404:
    'The account is not known there: check TELEPHONY_ACCOUNT_SID and TELEPHONY_API_BASE_URL (an account of another region has an address of its own).',
  21402: 'The carrier does not take PUBLIC_URL: it must be an address that the internet can reach.',
}

const CARRIER_KINDS: Record<CarrierError['kind'], string> = {
  credentials: CARRIER[20003] ?? '',
  busy: 'The carrier has had too many requests: wait a minute and try again.',
  rejected: 'See the number of the error at https://www.twilio.com/docs/api/errors.',
  unreachable: 'Check TELEPHONY_API_BASE_URL, and the way from here to the internet.',
  unknown: 'The carrier is in trouble: see https://status.twilio.com and try again.',
}

/** Explains whatever a request threw. What nobody foresaw keeps its own words. */
export function explain(error: unknown): Fault {
  if (error instanceof Trouble) return error.fault
  if (error instanceof CarrierError) return explainCarrier(error)
  if (error instanceof Error && TIMED_OUT.has(error.name)) return NO_ANSWER
  const cause = coded(error)
  const known = NETWORK.find(([codes]) => cause && codes.test(cause.code))?.[1]
  // The socket's own words name the host or the address.
  if (known && cause) return { ...known, found: `${known.found} (${cause.message}).` }
  return { found: `It failed: ${innermost(error)}.`, todo: 'Try again.' }
}

function explainCarrier(error: CarrierError): Fault {
  if (error.cause !== undefined) {
    const { found, todo } = explain(error.cause)
    return { found: `The carrier was not reached. ${found}`, todo }
  }
  const named = error.code === null ? '' : `${error.code}, `
  const todo = CARRIER[error.code ?? ''] ?? CARRIER_KINDS[error.kind]
  return { found: `The carrier refused (${named}${error.message}).`, todo }
}

/** The error of the socket: `fetch` wraps it, at times twice. */
function coded(error: unknown): (Error & { code: string }) | null {
  for (let each = error; each instanceof Error; each = each.cause) {
    if ('code' in each && typeof each.code === 'string') return each as Error & { code: string }
  }
  return null
}

/** `fetch failed` says nothing; what it wraps does. */
function innermost(error: unknown): string {
  let inner = error
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause
  return inner instanceof Error ? inner.message : String(inner)
}
