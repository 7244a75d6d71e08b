/** Every code of ours and the HTTP status it travels as. The table is the whole mapping. */
const STATUS = {
  invalid_request: 400,
  missing_route: 400,
  carrier_rejected: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  request_in_flight: 409,
  dnc_listed: 409,
  premium_number: 409,
  country_not_allowed: 409,
  consent_missing: 409,
  outside_calling_hours: 409,
  attempt_cap: 409,
  tenant_busy: 409,
  minutes_exhausted: 409,
  budget_exhausted: 409,
  no_agent: 409,
  precondition_failed: 412,
  body_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  idempotency_mismatch: 422,
  upgrade_required: 426,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  upstream_failed: 502,
  sso_failed: 502,
  unavailable: 503,
  database_not_configured: 503,
  carrier_credentials: 503,
  carrier_busy: 503,
  carrier_unreachable: 503,
  submission_unknown: 503,
} as const

export type ErrorCode = keyof typeof STATUS

/** All codes, for the description of the API. */
export const ERROR_CODES = Object.keys(STATUS) as ErrorCode[]

/**
 * One fault of an input: `path` is a JSON pointer into the body, query, path or headers, e.g. `/body/limits/idle_seconds`; an empty
 * one is the request as a whole.
 */
export type FaultDetail = { path: string; message: string }

/** One of the things that speak against a call: the code with which it alone would refuse it, and a sentence that a person can act on. */
export type RefusalDetail = { code: ErrorCode; reason: string }

type AppErrorOptions = {
  /** For the operators' log only. */
  detail?: string
  /** Sent with a 400 as `details`, which without them is about the request as a whole. */
  details?: FaultDetail[]
  /** Sent with the 409 of a call that may not be placed: all that speaks against it, the gravest first. */
  refusals?: RefusalDetail[]
  /** Response headers that belong to the refusal, such as `www-authenticate`. */
  headers?: Record<string, string>
  cause?: unknown
  /** It stays until somebody mends something: to ask again does not help. */
  isLasting?: boolean
}

/**
 * A failure that the caller is meant to see.
 *
 * `message` is sent to the client, so it says what to do and holds no secret; `detail` and `cause` are only logged.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly detail: string | undefined
  readonly details: FaultDetail[] | undefined
  readonly refusals: RefusalDetail[] | undefined
  readonly headers: Record<string, string>
  readonly isLasting: boolean

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : {})
    this.code = code
    this.detail = options.detail
    this.details = options.details
    this.refusals = options.refusals
    this.headers = options.headers ?? {}
    this.isLasting = options.isLasting ?? false
  }

  get status(): number {
    return STATUS[this.code]
  }
}

/** What the operation needs is not set up here: the sentence says what to set. */
export function notSetUp(sentence: string): AppError {
  return new AppError('unavailable', sentence, { isLasting: true })
}

/** More of them help nobody. */
const MAX_DETAILS = 20

/**
 * A 400 made of what is wrong with the input: its sentence names the first fault, `details` lists up to 20.
 *
 * @param details at least one; each message completes a sentence that begins with the name of the field: `must not be empty`.
 */
export function invalidRequest(details: [FaultDetail, ...FaultDetail[]]): AppError {
  const [first, ...others] = details
  const rest = others.length === 0 ? '' : ' There are more faults: see details.'
  return new AppError('invalid_request', `${fieldName(first.path)} ${first.message}.${rest}`, {
    details: details.slice(0, MAX_DETAILS),
  })
}

/** A 400 about one place of the request, for which `invalidRequest` has no words: `sentence` stands alone. */
export function faultAt(path: string, sentence: string, headers: Record<string, string> = {}): AppError {
  return new AppError('invalid_request', sentence, { details: [{ path, message: sentence }], headers })
}

/** All faults of an `invalid_request` in sentences, for an answer that has no room for `details`. */
export function faultSentences({ message, details = [] }: AppError): string {
  if (details.length < 2) return message
  return details.map((fault) => `${fieldName(fault.path)} ${fault.message}.`).join(' ')
}

/** `/body/limits/idle_seconds` is `limits.idle_seconds` to a reader, and `/body` alone the body. */
function fieldName(path: string): string {
  const [part = '', ...names] = path.slice(1).split('/')
  if (names.length === 0) return `The ${part}`
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')).join('.')
}

/** All that whoever asked is told of a fault of ours. */
export const FAILED_INSIDE = 'This failed inside the service: its log says why.'

/** What an error of ours says, for whoever asked; any other may hold what is nobody's business. */
export function sentenceOf(err: unknown): string {
  return err instanceof AppError ? err.message : FAILED_INSIDE
}

/** Marks a branch that the types say cannot be reached. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`)
}
