import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Outbound } from '../../outbound/outbound.ts'
import { askSystem, pathPart, unknownState } from '../ask-system.ts'
import type { TicketingDriver } from '../port.ts'

const Ticket = Type.Object({ status: Type.Enum(['open', 'pending', 'closed']) })

/** Any system that answers `GET {base_url}/tickets/{id}` with a `status` of open, pending or closed. */
export function genericDriver(request: Outbound['request']): TicketingDriver {
  return {
    async find({ base_url: baseUrl, token }, ticketId) {
      const id = pathPart(ticketId)
      if (id === null) return null
      const authorization = token === null ? null : `Bearer ${token}`
      const answer = await askSystem(request, { baseUrl, path: `/tickets/${id}`, authorization })
      if (answer === null) return null
      if (!Value.Check(Ticket, answer)) throw unknownState()
      const { status }: Static<typeof Ticket> = answer
      return status === 'closed' ? 'closed' : 'open'
    },
  }
}
