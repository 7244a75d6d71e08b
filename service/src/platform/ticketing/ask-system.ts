import { OutboundFault } from '../outbound/fault.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { TicketFault } from './port.ts'

/** What is asked of a ticket system: the path is behind the base address of the account. */
export type SystemQuestion = { baseUrl: string; path: string; authorization: string | null }

const TIMEOUT_MS = 5_000
const MAX_ANSWER_BYTES = 1024 * 1024

/** Reads something of a ticket system as JSON; null when it says that there is no such thing. @throws TicketFault */
export async function askSystem(
  request: Outbound['request'],
  { baseUrl, path, authorization }: SystemQuestion,
): Promise<unknown> {
  const headers = {
    accept: 'application/json',
    'user-agent': 'Parley-Tickets/1',
    ...(authorization !== null && { authorization }),
  }
  const url = `${baseUrl.replace(/\/+$/, '')}${path}`
  const answer = await request({
    ...{ url, method: 'GET' as const, headers },
    ...{ timeoutMs: TIMEOUT_MS, maxAnswerBytes: MAX_ANSWER_BYTES },
  }).catch((cause: unknown) => {
    if (!(cause instanceof OutboundFault)) throw cause
    throw new TicketFault('unreachable', `The ticket system could not be asked. ${cause.message}`, { cause })
  })
  const { status, body, isWhole } = answer
  if (status === 404 || status === 410) return null
  if (status === 401 || status === 403) {
    throw new TicketFault('credentials', `The ticket system answered ${status}: mend ticketing.token.`)
  }
  if (status === 429 || status >= 500) throw new TicketFault('unreachable', `The ticket system answered ${status}.`)
  if (status !== 200) throw new TicketFault('answer', `The ticket system answered ${status}.`)
  if (!isWhole) throw new TicketFault('answer', 'The answer of the ticket system was too long, or broke off.')
  try {
    return JSON.parse(body.toString()) as unknown
  } catch (cause) {
    throw new TicketFault('answer', 'The answer of the ticket system is no JSON.', { cause })
  }
}

/** As one part of a path; null for what would lead elsewhere: there is no such ticket. */
export function pathPart(ticketId: string): string | null {
  return /^\.{1,2}$/.test(ticketId) ? null : encodeURIComponent(ticketId)
}

/** @throws TicketFault for a state that we do not know. */
export function unknownState(): TicketFault {
  return new TicketFault('answer', 'The ticket system told a status that is not known.')
}
