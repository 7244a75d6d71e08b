/**
 * A ticket system as the floors above see it: it knows whether a ticket is open. A driver turns one system's API into that; a
 * further one is a folder and a line in the registry.
 */

/** How a ticket stands: one that waits for somebody, or is on hold, is open. */
export type TicketState = 'open' | 'closed'

/** Where a tenant's tickets are, and what proves that we may read them; null: nothing. */
export type TicketAccount = { base_url: string; token: string | null }

export type TicketingDriver = {
  /** How a ticket stands; null when there is none of this id. @throws TicketFault */
  find(account: TicketAccount, ticketId: string): Promise<TicketState | null>
}

/**
 * Why a ticket system did not tell. `credentials`: it does not let us in. `unreachable`: it gave no answer, or none in time.
 * `answer`: it said what we do not understand. The message is a sentence for the tenant.
 */
export class TicketFault extends Error {
  override readonly name = 'TicketFault'
  readonly kind: 'credentials' | 'unreachable' | 'answer'

  constructor(kind: TicketFault['kind'], message: string, options: ErrorOptions = {}) {
    super(message, options)
    this.kind = kind
  }
}
