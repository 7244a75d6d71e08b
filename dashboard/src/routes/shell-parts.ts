/** For when a session is over. */
export const loadLoginAgain = async () => ({ default: (await import('../features/login/login-again.tsx')).LoginAgain })

/** Only narrow windows have it: what it needs is loaded when it is opened first. */
export const loadNavigationDrawer = async () => ({
  default: (await import('./navigation-drawer.tsx')).NavigationDrawer,
})

/** What it needs is loaded when it is opened first. */
export const loadPersonActions = async () => ({ default: (await import('./person-actions.tsx')).PersonActions })

/** A list to search in is a tenth of what a page asks for, so it is loaded when it is opened first. */
export const loadTenantChoice = async () => ({ default: (await import('./tenant-choice.tsx')).TenantChoice })

/**
 * All that somebody may open around a page, or that comes by itself: to be there before something is typed on it. What does not come when
 * it is needed, as while the service is away or after a newer release, takes the page with it.
 */
export function loadShellParts(): Promise<unknown> {
  return Promise.allSettled([loadLoginAgain(), loadNavigationDrawer(), loadPersonActions(), loadTenantChoice()])
}
