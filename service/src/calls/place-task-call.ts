import type { ResolveAgent, ResolvedAgent } from '../agents/resolve.ts'
import { AppError } from '../kernel/errors.ts'
import type { CheckTaskCall, PlaceTaskCall, TaskCall } from '../operators/dispatch-task.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { answerOf } from './dial-answer.ts'
import type { DialGate } from './dial-gate.ts'
import type { Dialing } from './dialing.ts'
import { expectAble } from './make-call.ts'
import { missingRoute } from './outbound-caller.ts'
import { findOutboundRoute, type PhoneRouteRow } from './phone-route-store.ts'
import { lookForRoom, type RoomAsked } from './room-to-dial.ts'

type Deps = RoomAsked & {
  resolveAgent: ResolveAgent
  hasModel: boolean
  dialing: Dialing
}

/** Places the calls by which callback tasks are dispatched: as any other, with the hours of the dial gate for those. */
export function makePlaceTaskCall(deps: Deps): PlaceTaskCall {
  const { dialing } = deps
  return async (tenant, call) => {
    const { agent, from } = await callerOf(deps, tenant, call)
    await lookForRoom(deps)
    const account = expectAble(deps, tenant)
    const { to, metadata, taskId: callbackTaskId } = call
    const placed = await dialing.place(tenant, account, {
      ...{ kind: 'dispatch', from, to, agent, metadata, callbackTaskId },
      ...{ orgId: null, greeting: null, key: null },
      onQueued: (tx, log) => call.onQueued(tx, log.id),
    })
    if (!placed) throw new Error('a call without a key was taken for a repeat')
    return { callLogId: placed.log.id, callSid: answerOf(placed).callSid }
  }
}

/** Says what speaks against such a call. @throws AppError `missing_route`, and as `expectAble`: what is to be mended first. */
export function makeCheckTaskCall(deps: Omit<Deps, 'dialing'> & { gate: DialGate }): CheckTaskCall {
  return async (tenant, call) => {
    const caller = await callerOf(deps, tenant, call).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'no_agent') return error
      throw error
    })
    if (caller instanceof AppError) return { code: caller.code, reason: caller.message }
    await lookForRoom(deps)
    expectAble(deps, tenant)
    const { to, metadata } = call
    const [refusal] = await deps.gate.check(deps.db, tenant, { to, from: caller.from, metadata, kind: 'dispatch' })
    return refusal ?? null
  }
}

/** @throws AppError `no_agent`, `missing_route`. */
async function callerOf(
  { db, resolveAgent }: Pick<Deps, 'db' | 'resolveAgent'>,
  tenant: TenantRuntime,
  call: Pick<TaskCall, 'speakers' | 'to'>,
): Promise<{ agent: ResolvedAgent; from: string }> {
  const route = await findOutboundRoute(db, tenant.tenant_id)
  const agent = await speaking(resolveAgent, tenant, call, route)
  const from = route?.phone_number ?? tenant.telephony.from_number
  if (from === null) throw missingRoute('')
  return { agent, from }
}

/** The tenant's own agent stands in for one of a key only where nobody speaks who was named. @throws AppError `no_agent`. */
async function speaking(
  resolveAgent: ResolveAgent,
  tenant: TenantRuntime,
  { speakers, to: caller }: Pick<TaskCall, 'speakers' | 'to'>,
  route: PhoneRouteRow | null,
): Promise<ResolvedAgent> {
  let standIn: ResolvedAgent | null = null
  for (const agentKey of [...speakers, ...(route ? [route.agent_key] : [])]) {
    const agent = await resolveAgent(tenant, agentKey === null ? null : { agentKey, caller })
    if (agent?.agentKey === agentKey) return agent
    standIn ??= agent
  }
  if (standIn) return standIn
  const sentence =
    'Nobody could speak: set dispatch_agent_key of the queue, or make a phone route the outbound default, with an agent that has published a version.'
  throw new AppError('no_agent', sentence)
}
