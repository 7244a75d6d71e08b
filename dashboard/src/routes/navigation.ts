import type { LinkProps } from '@tanstack/react-router'
import type { Role } from '../api/session.ts'
import type { IconName } from '../components/icon.tsx'

/** A place in the navigation. Those below `/t/$tenantId` are of the tenant that is looked at. */
export type Place = { to: NonNullable<LinkProps['to']>; label: string; icon: IconName; needs: Role }

/** The pages that there are, in the order in which they stand. */
export const PLACES: Place[] = [
  { to: '/', label: 'All tenants', icon: 'installation', needs: 'administrator' },
  { to: '/t/$tenantId/overview', label: 'Overview', icon: 'overview', needs: 'viewer' },
  { to: '/t/$tenantId/talk', label: 'Talk', icon: 'talk', needs: 'admin' },
  { to: '/t/$tenantId/live', label: 'Live calls', icon: 'live', needs: 'viewer' },
  { to: '/t/$tenantId/calls', label: 'Calls', icon: 'calls', needs: 'viewer' },
  { to: '/t/$tenantId/conversations', label: 'Conversations', icon: 'conversations', needs: 'viewer' },
  { to: '/t/$tenantId/agents', label: 'Agents', icon: 'agents', needs: 'viewer' },
  { to: '/t/$tenantId/desk', label: 'Desk', icon: 'desk', needs: 'viewer' },
  { to: '/t/$tenantId/numbers', label: 'Numbers', icon: 'numbers', needs: 'viewer' },
  { to: '/t/$tenantId/do-not-call', label: 'Do not call', icon: 'doNotCall', needs: 'viewer' },
  { to: '/t/$tenantId/campaigns', label: 'Campaigns', icon: 'campaigns', needs: 'viewer' },
  { to: '/tenants', label: 'Tenants', icon: 'tenants', needs: 'administrator' },
  { to: '/t/$tenantId/settings', label: 'Settings', icon: 'settings', needs: 'viewer' },
  { to: '/prompts', label: 'Prompts', icon: 'prompts', needs: 'administrator' },
  { to: '/t/$tenantId/people', label: 'Users and keys', icon: 'people', needs: 'viewer' },
  { to: '/access-requests', label: 'Access requests', icon: 'requests', needs: 'administrator' },
  { to: '/t/$tenantId/deliveries', label: 'Deliveries', icon: 'deliveries', needs: 'viewer' },
  { to: '/diagnostics', label: 'Diagnostics', icon: 'diagnostics', needs: 'administrator' },
  { to: '/audit-log', label: 'Audit log', icon: 'audit', needs: 'administrator' },
  { to: '/logs', label: 'Logs', icon: 'logs', needs: 'viewer' },
]

/** A page that stands in no navigation is for whoever may see what leads to it, but these. */
const BEHIND_OTHERS: Record<string, Role> = {
  '/t/$tenantId/desk/sweeps': 'administrator',
  '/live': 'administrator',
  '/supervisor-actions': 'administrator',
}

/** The role that a page needs, by the path of its route. The first page is for everybody: it leads to their own. */
export function neededRole(path: string): Role {
  if (path === '/') return 'viewer'
  return BEHIND_OTHERS[path] ?? PLACES.find(({ to }) => to === path)?.needs ?? 'viewer'
}
