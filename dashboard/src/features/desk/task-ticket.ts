import type { Task } from './task-queries.ts'

/** The ticket that a task follows. What is not said is empty. */
export type Ticket = { id: string; url: string }

type Metadata = Task['metadata']

/** The ticket that a task names in its metadata, whatever else stands there. */
export function ticketOf({ external_ticket: named }: Metadata): Ticket {
  const { id, url } = membersOf(named)
  return {
    id: typeof id === 'string' || typeof id === 'number' ? String(id) : '',
    url: typeof url === 'string' ? url : '',
  }
}

/** Metadata with what is changed of the ticket, and all else as it is. Without an id there is none. */
export function withTicket({ external_ticket: named, ...others }: Metadata, change: Partial<Ticket>): Metadata {
  const ticket = { ...membersOf(named), ...change }
  return ticket.id === '' ? others : { ...others, external_ticket: { ...ticket, url: ticket.url || undefined } }
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** The address that leads to a ticket; null where it is none that a browser may be sent to, such as a script. */
export function ticketAddress({ url }: Ticket): string | null {
  return /^https?:\/\//i.test(url) ? url : null
}
