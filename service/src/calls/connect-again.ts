import type { Log } from '../platform/log.ts'
import type { CallVerb } from '../platform/telephony/port.ts'
import { PROMISE_MS } from '../records/call-resume-store.ts'
import type { Resuming } from '../records/resuming.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveCapacity } from '../voice/live-capacity.ts'
import type { LiveSessions } from '../voice/live-sessions.ts'
import type { TransferFault } from '../voice/session/events.ts'
import type { StreamTokens } from '../voice/stream-token.ts'
import { type CallAddresses, streamVerbs } from './stream-verbs.ts'

export type AgainDeps = {
  log: Pick<Log, 'info' | 'warn'>
  live: LiveSessions
  capacity: LiveCapacity
  resuming: Resuming
  tokens: StreamTokens
  addresses: () => CallAddresses
  /** Whether there is a model that could talk. */
  hasModel: boolean
  /** Whether another node takes calls. */
  hasHeir: () => Promise<boolean>
}

/**
 * Before each stream within a minute: whoever passes streams on may need a while to see which of our nodes is gone. After the last of
 * them a call would lose the next one, too. A session waits for 15 s anew with each that is promised.
 */
const PAUSE_SECONDS = [0, 1, 2, 3, 4] as const

/**
 * A call whose stream is over, or never began; `turnedAway`: its first one came to a node that had no room. `notThrough`: why nobody has
 * taken it whom it was put through to.
 */
type Lost = { callSid: string; turnedAway: boolean; notThrough: TransferFault | null }

/** Brings calls back that lost their streams. */
export type ConnectAgain = {
  /**
   * Another stream for the call, which has its room here from now on; null when that would come to nothing. `elsewhere`: this
   * node takes no calls any more, and another one does.
   */
  connect(tenant: TenantRuntime, call: Lost): Promise<CallVerb[] | 'elsewhere' | null>
}

export function makeConnectAgain(deps: AgainDeps): ConnectAgain {
  const { log, live, capacity, resuming } = deps

  async function promised(
    tenant: TenantRuntime,
    { callSid, turnedAway, notThrough }: Lost,
  ): Promise<CallVerb[] | null> {
    const { tenant_id: tenantId } = tenant
    const stream = await resuming.promise(tenantId, callSid, turnedAway)
    if (!stream) return null
    const { epoch, direction, agentVersionId: agent_version_id, times } = stream
    const pauseSeconds = PAUSE_SECONDS[times - 1]
    if (pauseSeconds === undefined) return null
    live.findCall(tenantId, callSid)?.command({ type: 'stream_promised' })
    log.info({ tenant_id: tenantId, call_sid: callSid, epoch }, 'a call without a stream is connected again')
    const grant = { tenant: tenantId, call_sid: callSid, agent_version_id, direction, epoch }
    const verbs = streamVerbs(deps, notThrough === null ? grant : { ...grant, why: notThrough })
    return pauseSeconds === 0 ? verbs : [{ type: 'pause', seconds: pauseSeconds }, ...verbs]
  }

  return {
    async connect(tenant, call) {
      const { callSid, turnedAway } = call
      const { tenant_id: tenantId, limits } = tenant
      if (!deps.hasModel) return null
      const wanted = { tenantId, callSid, maxConcurrentCalls: limits.max_concurrent_calls, comesBack: !turnedAway }
      // The place of a call that is here lasts until its session ends.
      const isHere = live.findCall(tenantId, callSid) !== null
      const { noRoom, giveBack } = isHere ? { noRoom: null, giveBack: () => {} } : capacity.reserve(wanted, PROMISE_MS)
      if (noRoom) log.warn({ tenant_id: tenantId, call_sid: callSid, why: noRoom }, 'a call could not come back')
      if (noRoom) return noRoom === 'stopping' && (await deps.hasHeir()) ? 'elsewhere' : null
      const verbs = await promised(tenant, call).catch((error: unknown) => {
        giveBack()
        throw error
      })
      if (!verbs) giveBack()
      return verbs
    },
  }
}
