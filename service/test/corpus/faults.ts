import { ERROR_CODES } from '../../src/kernel/errors.ts'
import type { WireRequest } from './requests.ts'
import type { WireAnswer } from './sender.ts'

/** Slower than this nothing may be that no provider has a part in. */
const LIMIT_MS = 1_000

/** What is not set up here says so, with this code. */
const NOT_SET_UP: Record<string, string> = {}

/** To these people come with a browser, which shows them a page. */
const FOR_PEOPLE = ['GET /api/v1/admin/auth/sso/start', 'GET /api/v1/admin/auth/sso/callback']
const REFUSAL_PAGE =
  /<h1>This did not work<\/h1>\n<p>.+<\/p>\n.+\n<p><small>(?<code>\w+) · request (?<id>[^<]+)<\/small>/

/** What is wrong with an answer, if anything is. `code` is that of a refusal. */
export function answerFaults(request: WireRequest, answer: WireAnswer): string[] {
  const { route, statuses } = request
  const { status, headers, text, ms } = answer
  const faults = ms > LIMIT_MS ? [`took ${Math.round(ms)} ms`] : []
  if (statuses && !statuses.includes(status)) faults.push(`has the status ${status}, which is not described`)
  if (typeof headers['x-request-id'] !== 'string') faults.push('has no x-request-id')
  if (status < 400) return faults
  if (FOR_PEOPLE.includes(route) && request.headers['accept']?.includes('text/html')) {
    return [...faults, ...pageFaults(answer)]
  }
  const isJson = headers['content-type']?.startsWith('application/json') === true
  if (!isJson) return [...faults, `is refused as ${headers['content-type']}`]
  const body = JSON.parse(text) as Record<string, unknown>
  const { ok, error, code, request_id: requestId } = body
  if (status >= 500 && NOT_SET_UP[route] !== code) faults.push('is a fault of ours')
  if (ok !== false || typeof error !== 'string' || error === '') faults.push('is not in the shape of an error')
  if (!(ERROR_CODES as unknown[]).includes(code)) faults.push(`has the code ${String(code)}`)
  if (requestId !== headers['x-request-id']) faults.push('has another request_id than its header')
  if (hasDetails(body) !== (status === 400)) faults.push('has no details, or has them with another status')
  return faults
}

/** Of a refusal that people read. */
function pageFaults({ status, headers, text }: WireAnswer): string[] {
  const { code = '', id } = REFUSAL_PAGE.exec(text)?.groups ?? {}
  const isPage = headers['content-type']?.startsWith('text/html') === true
  if (!isPage || status >= 500) return [`is refused to people as ${headers['content-type']}, ${status}`]
  if (!(ERROR_CODES as unknown[]).includes(code)) return [`has the code ${code}`]
  return id === headers['x-request-id'] ? [] : ['has another request id than its header']
}

/** Whether it names what is wrong: each a place, which is empty for the whole. */
function hasDetails({ details }: Record<string, unknown>): boolean {
  return (
    Array.isArray(details) &&
    details.length > 0 &&
    details.every((each: { path?: unknown; message?: unknown }) => typeof each.path === 'string' && !!each.message)
  )
}
