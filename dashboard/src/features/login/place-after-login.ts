const DASHBOARD = '/app/'

/** Where somebody goes who has logged in: a page of the dashboard, whatever the address says, and none of another tenant's. */
export function placeAfterLogin(returnTo: string | undefined, tenantId: string | null = null): string {
  if (!returnTo?.startsWith(DASHBOARD)) return DASHBOARD
  const [, whose] = /^\/app\/t\/([^/?]+)/.exec(returnTo) ?? []
  const isOthers = tenantId !== null && whose !== undefined && whose !== encodeURIComponent(tenantId)
  return isOthers ? DASHBOARD : returnTo
}
