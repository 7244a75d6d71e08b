import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Outbound } from '../../outbound/outbound.ts'
import { askSystem, pathPart, unknownState } from '../ask-system.ts'
import type { TicketingDriver } from '../port.ts'

const Answer = Type.Object({
  ticket: Type.Object({ status: Type.Enum(['new', 'open', 'pending', 'hold', 'solved', 'closed']) }),
})

/** An e-mail address in front says that what follows is an API token, which goes as a password. */
const API_TOKEN = /^[^\s/@]+@[^\s/@]+\/token:/

/** Zendesk Support. A token is one of OAuth, or `email/token:api_token`. */
export function zendeskDriver(request: Outbound['request']): TicketingDriver {
  return {
    async find({ base_url: baseUrl, token }, ticketId) {
      const id = pathPart(ticketId)
      if (id === null) return null
      const path = `/api/v2/tickets/${id}.json`
      const answer = await askSystem(request, { baseUrl, path, authorization: authorizationOf(token) })
      if (answer === null) return null
      if (!Value.Check(Answer, answer)) throw unknownState()
      const { status }: Static<typeof Answer>['ticket'] = answer.ticket
      return status === 'solved' || status === 'closed' ? 'closed' : 'open'
    },
  }
}

function authorizationOf(token: string | null): string | null {
  if (token === null) return null
  return API_TOKEN.test(token) ? `Basic ${Buffer.from(token).toString('base64')}` : `Bearer ${token}`
}
