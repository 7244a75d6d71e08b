import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { filtersOf } from '../components/filters.tsx'
import { CAMPAIGN_FILTERS } from '../features/campaigns/campaign-filters.ts'
import { tenantRoute } from './root-routes.tsx'

const campaignsRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'campaigns',
  validateSearch: filtersOf(CAMPAIGN_FILTERS),
  component: lazyRouteComponent(() => import('../features/campaigns/campaigns-page.tsx'), 'CampaignsPage'),
})

const campaignRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'campaigns/$campaignId',
  validateSearch: filtersOf(CAMPAIGN_FILTERS),
  component: lazyRouteComponent(() => import('../features/campaigns/campaign-page.tsx'), 'CampaignPage'),
})

/** Lists of people whom agents call. */
export const campaignsRoutes = [campaignsRoute, campaignRoute] as const
