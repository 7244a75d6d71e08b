import { queryOptions, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { allRows } from './all-rows.ts'
import { answerOf, api } from './client.ts'
import { asFailure } from './failure.ts'
import { usePerson } from './session.ts'

/** As many as a list shows at once; whoever has more finds the others by typing an address. */
const MOST_TENANTS = 500

const tenantsQuery = queryOptions({
  queryKey: ['tenants'],
  queryFn: () =>
    allRows(MOST_TENANTS, async (query) => {
      const answer = await answerOf(api.GET('/api/v1/admin/tenants', { params: { query } }))
      return { rows: answer.tenants, next: answer.next_cursor }
    }),
  staleTime: 30_000,
})

/** Of one tenant, apart from all that is of many: it may be called anything. */
export const tenantKey = (tenantId: string) => ['tenants', 'one', tenantId]

/** One tenant: whether there is it. */
const knownQuery = (tenantId: string) =>
  queryOptions({
    queryKey: [...tenantKey(tenantId), 'known'],
    queryFn: async () => {
      await answerOf(api.GET('/api/v1/admin/tenants/{tenant_id}', { params: { path: { tenant_id: tenantId } } }))
      return true
    },
    staleTime: 30_000,
  })

/** What a tenant is called; null where its document does not say. */
const nameQuery = (tenantId: string) =>
  queryOptions({
    queryKey: [...tenantKey(tenantId), 'name'],
    queryFn: async () => {
      const params = { path: { tenant_id: tenantId } }
      return nameIn((await answerOf(api.GET('/api/v1/admin/tenants/{tenant_id}', { params }))).config)
    },
    staleTime: 30_000,
  })

/** A tenant to choose. */
export type TenantChoice = { tenantId: string; name: string }

const LAST_TENANT = 'parley-tenant'

/** The tenant that the address names. @throws Error on a page that is of none: a fault of ours. */
export function useTenant(): string {
  const { tenantId } = useParams({ strict: false })
  if (tenantId === undefined) throw new Error('this page is of no tenant')
  return tenantId
}

/** The tenants that whoever is logged in can look at; undefined while they are asked for. */
export function useTenants(): TenantChoice[] | undefined {
  const { tenantId } = usePerson()
  const { data } = useQuery({ ...tenantsQuery, enabled: tenantId === null })
  const { data: name } = useQuery({ ...nameQuery(tenantId ?? ''), enabled: tenantId !== null })
  if (tenantId !== null) return [{ tenantId, name: name ?? tenantId }]
  return data?.map(({ tenant_id, config }) => ({ tenantId: tenant_id, name: nameIn(config) ?? tenant_id }))
}

/** What tenants are called, by their ids; with its id where several are called so, and by that alone while the name is not known. */
export function useTenantNames(): (tenantId: string) => string {
  const choices = useTenants() ?? []
  return (tenantId) => {
    const name = choices.find((choice) => choice.tenantId === tenantId)?.name ?? tenantId
    const isOthers = choices.some((choice) => choice.name === name && choice.tenantId !== tenantId)
    return isOthers ? `${name} (${tenantId})` : name
  }
}

/** Whether there is the tenant. As long as nothing speaks against it, there is: a page that is open stays, whatever list it left. */
export function useIsKnown(tenantId: string): boolean {
  const choices = useTenants()
  const isListed = choices === undefined || choices.some((choice) => choice.tenantId === tenantId)
  // It may be too young for the list, or the list too long for it.
  const { error } = useQuery({ ...knownQuery(tenantId), enabled: !isListed })
  return isListed || error === null || !isNone(error)
}

/** Nothing is called so, or can be. */
function isNone(error: unknown): boolean {
  const { status } = asFailure(error)
  return status === 404 || status === 400
}

function nameIn(config: object): string | null {
  const { name } = config as { name?: unknown }
  return typeof name === 'string' && name !== '' ? name : null
}

/** The tenant whose pages the navigation leads to: that of the address, else the one looked at last, else the first. */
export function useCurrentTenant(): string | null {
  const { tenantId } = useParams({ strict: false })
  const choices = useTenants()
  if (tenantId !== undefined) return tenantId
  const last = localStorage.getItem(LAST_TENANT)
  // What was there a visit ago is there still, as a rule: the navigation stands where it will stand.
  if (choices === undefined) return last
  const known = choices.find((choice) => choice.tenantId === last) ?? choices[0]
  return known?.tenantId ?? null
}

/** Remembers the tenant for pages that are of none, and for the next visit. */
export function rememberTenant(tenantId: string): void {
  localStorage.setItem(LAST_TENANT, tenantId)
}
