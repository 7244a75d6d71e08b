import type { ResolveAgent } from '../agents/resolve.ts'
import type { Cancel, Clock } from '../kernel/clock.ts'
import { AppError, notSetUp } from '../kernel/errors.ts'
import { newId, type TenantId } from '../kernel/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Sessions } from '../records/sessions.ts'
import { knownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveCapacity } from '../voice/live-capacity.ts'
import type { StreamTokens } from '../voice/stream-token.ts'
import { type NamedAgent, namedAgent } from './named-agent.ts'
import { noRoom } from './no-room.ts'
import type { CallStatuses } from './record-status.ts'

/** A request for a call. `placedBy`: the person who asks. */
export type BrowserCallRequest = NamedAgent & { placedBy: string | null }

/** What a page needs to open the stream of its call. */
export type BrowserCall = { callSid: string; streamUrl: string; streamToken: string }

/** Calls without a carrier: a person at a page talks to an agent. */
export type BrowserCalls = {
  /**
   * Opens a call. Its stream has to begin while the token is good, or the call is canceled: until then it is one of those that its
   * tenant may have at once. Pages that do not come take no room of this process: whether there is any is asked here, and again
   * when the stream begins.
   *
   * @throws AppError `invalid_request` unless exactly one agent is named, and the tenant has it; `unavailable` when there is
   * no room for a call, or no model.
   */
  open(tenantId: TenantId, request: BrowserCallRequest): Promise<BrowserCall>
  /** Ends no more calls whose page never came. */
  close(): void
}

type Deps = {
  clock: Clock
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  resolveAgent: ResolveAgent
  sessions: Sessions
  tokens: StreamTokens
  capacity: Pick<LiveCapacity, 'ask'>
  statuses: Pick<CallStatuses, 'cancelUnbegun'>
  log: Pick<Log, 'warn'>
  /** How long a token is good. */
  tokenTtlMs: number
  hasModel: boolean
  streamUrl: () => string
}

/** A stream that came with the last moment of its token may still be on its way in. */
const JOIN_SLACK_MS = 10_000

export function makeBrowserCalls(deps: Deps): BrowserCalls {
  const { clock, log, tenants, resolveAgent, sessions, statuses, tokens, capacity } = deps
  const waiting = new Set<Cancel>()

  /** No carrier tells of a page that never came. */
  function cancelLater(tenantId: TenantId, callSid: string): void {
    const cancel = clock.after(deps.tokenTtlMs + JOIN_SLACK_MS, () => {
      waiting.delete(cancel)
      const failed = (err: unknown) => log.warn({ err, call_sid: callSid }, 'a call that never began was not closed')
      statuses.cancelUnbegun(tenantId, callSid).catch(failed)
    })
    waiting.add(cancel)
  }

  return {
    async open(tenantId, { placedBy, ...given }) {
      const tenant = await knownTenant(tenants, tenantId)
      const agent = await namedAgent(resolveAgent, tenant, given)
      if (!deps.hasModel) throw notSetUp('No realtime model is configured: no agent can speak.')
      const callSid = `browser-${newId<string>(clock.now())}`
      const room = { tenantId, callSid, maxConcurrentCalls: tenant.limits.max_concurrent_calls }
      const why = capacity.ask(room)
      if (why) throw noRoom(why)
      const call = { callSid, direction: 'browser' as const, from: 'browser', to: agent.agentKey ?? agent.agentName }
      const opened = await sessions
        .open(tenant, { ...call, orgId: null, agent, metadata: {}, placedBy })
        .catch((err: unknown) => {
          throw err instanceof AppError && err.code === 'tenant_busy' ? noRoom('tenant_full') : err
        })
      cancelLater(tenantId, callSid)
      const grant = { tenant: tenantId, call_sid: callSid, agent_version_id: agent.versionId }
      const streamToken = tokens.issue({ ...grant, direction: 'browser', epoch: opened.epoch })
      return { callSid, streamUrl: deps.streamUrl(), streamToken }
    },
    close() {
      for (const cancel of waiting) cancel()
      waiting.clear()
    },
  }
}
