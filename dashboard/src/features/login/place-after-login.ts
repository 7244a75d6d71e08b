const DASHBOARD = '/app/'

/** Where somebody goes who has logged in: a page of the dashboard, whatever the address says. */
export function placeAfterLogin(returnTo: string | undefined): string {
  return returnTo?.startsWith(DASHBOARD) ? returnTo : DASHBOARD
}
