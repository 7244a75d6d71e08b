/** One fault of what was sent, as the service tells it. `path`: where it is; of a call that may not be placed, the code of what speaks against it. */
type Fault = { path: string; message: string }

/** One of the things that speak against a call. */
type Refusal = { code: string; reason: string }

type Told = {
  status: number
  code: string
  message: string
  requestId?: string
  faults?: Fault[]
  waitSeconds?: number
}

/** A request that did not do what it was to do, in the words of the service. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  /** 0: nobody answered. */
  readonly status: number
  readonly code: string
  /** By which the log of the service tells of it. */
  readonly requestId: string | null
  readonly faults: Fault[]
  /** After which it is worth asking again. */
  readonly waitSeconds: number | null

  constructor({ status, code, message, requestId, faults = [], waitSeconds }: Told) {
    super(message)
    this.status = status
    this.code = code
    this.requestId = requestId ?? null
    this.faults = faults
    this.waitSeconds = waitSeconds ?? null
  }
}

/**
 * What a write that was to make something is answered: where there is one already, that its key is taken, and where that stands in
 * what was sent. @throws ApiFailure.
 */
export function asTaken(error: unknown, at: string): never {
  const failure = asFailure(error)
  if (failure.code !== 'precondition_failed') throw failure
  const [status, code, message] = [409, 'taken', 'is taken: choose another']
  throw new ApiFailure({ status, code, message: `This key ${message}.`, faults: [{ path: at, message }] })
}

/** What a write is answered that would give away a second time what somebody has: where that stands in what was sent. @throws ApiFailure. */
export function asHeld(error: unknown, at: string): never {
  const failure = asFailure(error)
  if (failure.code !== 'conflict') throw failure
  const { status, code, message, requestId } = failure
  const faults = [{ path: at, message }]
  throw new ApiFailure({ status, code, message, faults, ...(requestId !== null && { requestId }) })
}

/** Whether it is worth asking again: nobody answered, too much was asked for, or whoever should answer could not. */
export function mayPass({ status }: ApiFailure): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500
}

/** Whether what was asked for is refused for good. */
export function isRefused(error: unknown): boolean {
  return error !== null && !mayPass(asFailure(error))
}

/** Nobody answered: the service is away, or the network is. */
export function unreachable(): ApiFailure {
  const message = 'The service cannot be reached. Look whether it runs, and whether you are online.'
  return new ApiFailure({ status: 0, code: 'unreachable', message })
}

/** It has not answered in time, which it may have done by now. Whoever wants that asks again. */
export function unanswered(waitedMs: number): ApiFailure {
  const message = `The service has not answered within ${waitedMs / 1_000} seconds. Look whether it runs.`
  return new ApiFailure({ status: 408, code: 'unreachable', message })
}

/** What a service says to whoever has no session it says to programs. `isRead`: nothing was to be changed. */
export function sessionOver(isRead: boolean, requestId?: string): ApiFailure {
  const message = isRead ? 'Your session is over. Log in again.' : 'Not sent: your session was over. Send it again.'
  return new ApiFailure({ status: 401, code: 'unauthorized', message, ...(requestId !== undefined && { requestId }) })
}

/** Why a window was not sent: where the session was over, also when something was read for it first. */
export function asUnsent(error: unknown): unknown {
  const { status, requestId } = asFailure(error)
  return status === 401 ? sessionOver(false, requestId ?? undefined) : error
}

/** Reads a refusal; what is not of the service's own shape came from something in between. */
export async function failureOf(response: Response, body?: unknown): Promise<ApiFailure> {
  const told = (body ?? (await response.json().catch(() => null))) as Record<string, unknown> | null
  const text = (name: string) => (typeof told?.[name] === 'string' ? told[name] : undefined)
  const wait = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new ApiFailure({
    status: response.status,
    code: text('code') ?? `http_${response.status}`,
    message: text('error') ?? `The answer was ${response.status}, and not the service's own.`,
    requestId: text('request_id') ?? response.headers.get('x-request-id') ?? undefined,
    faults: faultsOf(told),
    waitSeconds: Number.isFinite(wait) ? wait : undefined,
  })
}

/** What was wrong with what was sent; of a call that may not be placed, all that speaks against it. */
function faultsOf(told: Record<string, unknown> | null): Fault[] {
  const { details, refusals } = told ?? {}
  if (Array.isArray(details)) return details as Fault[]
  if (!Array.isArray(refusals)) return []
  return (refusals as Refusal[]).map(({ code, reason }) => ({ path: code, message: reason }))
}

/** Whatever was thrown, as a failure that can be shown. */
export function asFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error
  const message = error instanceof Error ? error.message : String(error)
  return new ApiFailure({ status: 0, code: 'page_fault', message: `This page has a fault: ${message}` })
}
