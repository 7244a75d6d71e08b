import { UsageError } from '../live/options.ts'
import type { Api } from './api.ts'

type Routes = { phone_routes: { phone_number: string; inbound_enabled: boolean }[]; next_cursor: string | null }

/** More of a tenant's numbers help nobody who looks for one to ring. */
const SHOWN_NUMBERS = 5

/**
 * Looks whether an agent of the tenant answers the number: where none does, a caller hears one sentence, or somebody else's agent.
 *
 * @throws UsageError that says which numbers can be rung, and what else to do; Error when there is no such tenant.
 */
export async function expectRoute(admin: Api, tenantId: string, phoneNumber: string): Promise<void> {
  const numbers = await numbersOf(admin, tenantId)
  if (numbers.includes(phoneNumber)) return
  const shown = numbers.slice(0, SHOWN_NUMBERS).join(', ')
  const has =
    numbers.length > 0 ? `its numbers are ${shown}${numbers.length > SHOWN_NUMBERS ? ', …' : ''}` : 'it has no number'
  throw new UsageError(
    `No agent of the tenant ${tenantId} answers ${phoneNumber}: ${has}. Ring one that is answered with --to, make a phone route for this one (docs/getting-started.md, "A number"), or name the tenant that it belongs to with --tenant.`,
  )
}

async function numbersOf(admin: Api, tenantId: string): Promise<string[]> {
  const path = `/admin/tenants/${encodeURIComponent(tenantId)}/phone-routes?limit=500`
  const numbers: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const at: string = cursor && `&cursor=${encodeURIComponent(cursor)}`
    const page: Routes = await admin.ask<Routes>('GET', `${path}${at}`)
    numbers.push(...page.phone_routes.filter((route) => route.inbound_enabled).map((route) => route.phone_number))
    cursor = page.next_cursor
  }
  return numbers
}
