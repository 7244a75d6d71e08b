import type { ResolveAgent } from '../../agents/resolve.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import type { Db } from '../../platform/db/schema.ts'
import type { Log } from '../../platform/log.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import type { LiveCapacity } from '../../voice/live-capacity.ts'
import type { DialGate } from '../dial-gate.ts'
import type { Dialing } from '../dialing.ts'
import { hasRoomToDial, type RoomAsked } from '../room-to-dial.ts'
import { makeClaimNext } from './campaign-claim.ts'
import { makeDialContact } from './campaign-dial.ts'
import { campaignRoutes } from './campaign-routes.ts'
import { type CampaignRunner, makeCampaignRunner } from './campaign-runner.ts'
import { makeSettleCampaignDials } from './campaign-settle.ts'
import { makeCampaigns } from './campaigns.ts'

type Deps = {
  db: Db
  clock: Clock
  log: Log
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  resolveAgent: ResolveAgent
  capacity: LiveCapacity
  expectDiskRoom: RoomAsked['expectDiskRoom']
  hasModel: boolean
  dialing: Dialing
  gate: DialGate
}

/** Wires campaigns: what tenants say of them, and what calls for them. */
export function makeCampaignWork(deps: Deps) {
  let isStopping = false
  const settle = makeSettleCampaignDials({ ...deps, isStopping: () => isStopping })
  const runner = makeCampaignRunner({
    ...deps,
    hasRoom: () => hasRoomToDial(deps),
    claimNext: makeClaimNext(deps),
    dialContact: makeDialContact(deps),
    settle,
  })
  const stopping = (stop: () => void) => () => {
    isStopping = true
    stop()
  }
  return {
    routes: campaignRoutes(makeCampaigns(deps)),
    /** Takes note of what a call that is over has come to, if it is one of a campaign's. */
    noteEndOf: settle.ofCall,
    runner: {
      start: runner.start,
      stop: stopping(runner.stop),
      close() {
        isStopping = true
        return runner.close()
      },
    } satisfies CampaignRunner,
  }
}
