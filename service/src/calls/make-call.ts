import type { ResolveAgent } from '../agents/resolve.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError, invalidRequest, notSetUp } from '../kernel/errors.ts'
import type { AgentVersionId, TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { expectSameBody, KEY_MS, type RequestKey } from '../kernel/request-key.ts'
import { isUuid } from '../platform/db/newest-first.ts'
import type { Db } from '../platform/db/schema.ts'
import type { CarrierAccount } from '../platform/telephony/port.ts'
import { findCallLogById } from '../records/call-log-store.ts'
import { knownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { accountOf } from './carrier-account.ts'
import { answerOf, type CallAnswer, inFlight } from './dial-answer.ts'
import { findDial } from './dial-store.ts'
import type { Dialing } from './dialing.ts'
import { findKey, type TakenKey } from './idempotency-store.ts'
import { noRoom } from './no-room.ts'
import { outboundCaller } from './outbound-caller.ts'
import { lookForRoom, type RoomAsked } from './room-to-dial.ts'
import type { WantedCall } from './wanted-call.ts'

/** A request for a call. Null is what was not given. */
export type CallRequest = {
  to: PhoneNumber
  from: PhoneNumber | null
  agentKey: string | null
  versionId: AgentVersionId | null
  greeting: string | null
  orgId: string | null
  metadata: Record<string, unknown>
  callbackTaskId: string | null
  /** The person who asks. */
  placedBy: string | null
  idempotency: RequestKey | null
}

/** An answer, and whether it is that of an earlier request with the same key. */
export type MadeCall = { answer: CallAnswer; isReplay: boolean }

/** Places calls for tenants. */
export type MakeCall = {
  /**
   * Places a call. A request with the key of an earlier one is answered as that was, for 24 h, until it is known what became
   * of a call that was in doubt. What the carrier did not take for a reason that passes gives its key back.
   *
   * @throws AppError `invalid_request`, `missing_route` for what is to be mended; a code of the dial gate; `unavailable` when
   *   there is no room, model, account or database; what `answerOf` throws; `idempotency_mismatch` for another body.
   */
  make(tenantId: TenantId, request: CallRequest): Promise<MadeCall>
}

type Deps = RoomAsked & {
  clock: Clock
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  resolveAgent: ResolveAgent
  hasModel: boolean
  dialing: Dialing
  hasTask(tenantId: TenantId, taskId: string): Promise<boolean>
}

/** What is to be done where there is no account that could be asked for a call. */
export const NO_ACCOUNT = 'The tenant has no carrier account: set telephony.account_sid and telephony.auth_token.'

const REPLAYED = { 'idempotent-replayed': 'true' }

export function makeMakeCall(deps: Deps): MakeCall {
  const { db, clock, tenants, dialing } = deps
  const freeBefore = () => new Date(clock.now() - KEY_MS)

  async function wantedCall(tenant: TenantRuntime, request: CallRequest): Promise<WantedCall> {
    const { to, orgId, greeting, metadata, callbackTaskId, placedBy, idempotency } = request
    const caller = await outboundCaller(deps, tenant, request)
    await expectTask(deps, tenant, callbackTaskId)
    const key = idempotency && { ...idempotency, freeBefore: freeBefore() }
    return { kind: 'make_call', ...caller, to, orgId, greeting, metadata, callbackTaskId, placedBy, key }
  }

  async function replay(tenantId: TenantId, request: CallRequest): Promise<MadeCall | null> {
    const { idempotency } = request
    const taken = idempotency && (await findKey(db, tenantId, idempotency.key, freeBefore()))
    if (!taken) return null
    expectSameBody(idempotency, taken.body_hash)
    return { answer: await repeated(db, tenantId, taken), isReplay: true }
  }

  async function make(tenant: TenantRuntime, request: CallRequest): Promise<MadeCall | null> {
    const call = await wantedCall(tenant, request)
    await lookForRoom(deps)
    const account = expectAble(deps, tenant)
    const placed = await dialing.place(tenant, account, call)
    return placed && { answer: answerOf(placed), isReplay: false }
  }

  return {
    async make(tenantId, request) {
      const tenant = await knownTenant(tenants, tenantId)
      const known = await replay(tenantId, request)
      const made = known ?? (await make(tenant, request)) ?? (await replay(tenantId, request))
      // Another request has taken the key and given it back meanwhile.
      if (!made) throw inFlight()
      return made
    },
  }
}

/** The answer to a key that is taken, from what is known now. @throws AppError as `answerOf`, marked as a replay. */
async function repeated(db: Db, tenantId: TenantId, { dial_ref }: TakenKey): Promise<CallAnswer> {
  const dial = await findDial(db, tenantId, dial_ref)
  const log = dial && (await findCallLogById(db, tenantId, dial.call_log_id))
  if (!log) throw new AppError('conflict', 'The call of this Idempotency-Key was erased: use a new one.')
  try {
    return answerOf({ state: dial.state, log })
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'request_in_flight') throw error
    throw new AppError(error.code, error.message, { headers: { ...error.headers, ...REPLAYED } })
  }
}

async function expectTask({ hasTask }: Deps, { tenant_id }: TenantRuntime, taskId: string | null): Promise<void> {
  if (taskId === null || (isUuid(taskId) && (await hasTask(tenant_id, taskId)))) return
  throw invalidRequest([{ path: '/body/callback_task_id', message: 'is not the id of a callback task of yours' }])
}

/** @throws AppError `unavailable` when nobody could talk, or nobody could dial. */
export function expectAble(
  { hasModel, capacity }: Pick<Deps, 'hasModel' | 'capacity'>,
  tenant: TenantRuntime,
): CarrierAccount {
  if (!hasModel) throw notSetUp('No realtime model is configured: no agent can speak.')
  const account = accountOf(tenant)
  if (!account) throw notSetUp(NO_ACCOUNT)
  // The tenant's own limit is the gate's, which knows of all nodes.
  const why = capacity.askToDial()
  if (why) throw noRoom(why)
  return account
}
