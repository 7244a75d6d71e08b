import type { Outbound } from '../outbound/outbound.ts'
import { genericDriver } from './generic/driver.ts'
import type { TicketingDriver } from './port.ts'
import { zendeskDriver } from './zendesk/driver.ts'

/** Every ticket system that Parley reads: a further one is a folder and a line here. */
const TICKETING_DRIVERS = {
  generic: genericDriver,
  zendesk: zendeskDriver,
} satisfies Record<string, (request: Outbound['request']) => TicketingDriver>

export type TicketingDriverName = keyof typeof TICKETING_DRIVERS

/** Their names, as a tenant document's `ticketing.driver` takes them. */
export const TICKETING_DRIVER_NAMES = Object.keys(TICKETING_DRIVERS) as TicketingDriverName[]

/** The ticket systems of this process, by name. */
export type TicketSystems = Readonly<Record<TicketingDriverName, TicketingDriver>>

export function makeTicketSystems({ request }: Pick<Outbound, 'request'>): TicketSystems {
  const made = Object.entries(TICKETING_DRIVERS).map(([name, make]) => [name, make(request)] as const)
  // Sound: the names are those of the table.
  return Object.fromEntries(made) as TicketSystems
}
