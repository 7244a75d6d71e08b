import type { Clock } from '../kernel/clock.ts'
import { AppError, notSetUp } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import { type CarrierCall, type CarrierCallStatus, CarrierError } from '../platform/telephony/port.ts'
import { type CallLogRow, findCallLog, noteCanceler } from '../records/call-log-store.ts'
import { statusReport } from '../records/call-record.ts'
import { isOver } from '../records/call-status.ts'
import { knownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { CarrierOutcome, CarrierRequests } from './carrier-requests.ts'
import { NO_ACCOUNT } from './make-call.ts'
import type { CallStatuses } from './record-status.ts'

/** Gives up calls that were placed and that nobody has answered yet. */
export type CancelCall = {
  /**
   * Has the carrier stop ringing, and writes down that it did, and which person asked for it. A call that was cancelled before, also at the carrier alone, stays so.
   *
   * @returns the call as it stands then: it still rings where the carrier has taken the request and tells of the end later.
   * @throws AppError `not_found` for a call that the tenant does not have, `conflict` for one that came in, was answered or is over,
   *   `unavailable`, `carrier_credentials`, `carrier_rejected` or `upstream_failed` when the carrier did not do it.
   */
  cancel(tenantId: TenantId, callSid: string, by: string | null): Promise<CallLogRow>
}

type Deps = {
  db: Db
  clock: Clock
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  statuses: Pick<CallStatuses, 'record'>
  requests: Pick<CarrierRequests, 'make'>
}

export function makeCancelCall({ db, clock, tenants, statuses, requests }: Deps): CancelCall {
  async function read(tenantId: TenantId, callSid: string): Promise<CallLogRow> {
    const log = await findCallLog(db, tenantId, callSid)
    if (!log) throw new AppError('not_found', 'There is no such call.')
    return log
  }

  /** Of a call that the carrier was asked to cancel. `isTaken`: it is this request that it has taken, of all there were. */
  async function cancelled(
    tenant: TenantRuntime,
    callSid: string,
  ): Promise<{ status: CarrierCallStatus; isTaken: boolean }> {
    const taken = toldBy(
      await requests.make(tenant, (carrier, account, signal) => carrier.cancelCall(account, callSid, signal)),
    )
    if (taken) return { status: taken.status, isTaken: true }
    // It may be over because somebody has cancelled it just now, or by a request whose answer was lost.
    const known = toldBy(
      await requests.make(tenant, (carrier, account, signal) => carrier.fetchCall(account, callSid, signal)),
    )
    if (known?.status !== 'canceled') throw notRinging()
    return { status: known.status, isTaken: false }
  }

  return {
    async cancel(tenantId, callSid, by) {
      const tenant = await knownTenant(tenants, tenantId)
      const log = await read(tenantId, callSid)
      if (log.status === 'canceled') return log
      expectRinging(log)
      // Before the carrier is asked: it may tell of the end before it has answered.
      if (by !== null) await noteCanceler(db, tenantId, log.id, { by, isTaken: false })
      const { status, isTaken } = await cancelled(tenant, callSid)
      if (status === 'in-progress' || (isOver(status) && status !== 'canceled')) throw notRinging()
      if (isTaken) await noteCanceler(db, tenantId, log.id, { by, isTaken })
      if (status === 'canceled') await statuses.record(tenantId, callSid, statusReport(status, new Date(clock.now())))
      return read(tenantId, callSid)
    },
  }
}

/** @throws AppError `conflict` for a call that nobody's phone rings for any more, by what stands in its log. */
function expectRinging({ direction, status, stream_sid }: CallLogRow): void {
  if (direction !== 'outbound') throw conflict('Only a call that was placed can be cancelled, and this one was not.')
  if (isOver(status)) throw conflict(`The call is over: it is ${status}.`)
  if (status === 'in-progress' || stream_sid !== null) throw notRinging()
}

function notRinging(): AppError {
  return conflict(
    'The call does not ring any more: somebody has answered, or it is over. Read it again; one that goes on is ended with POST /api/v1/sessions/{stream_sid}/actions and the action end_call.',
  )
}

function conflict(sentence: string): AppError {
  return new AppError('conflict', sentence)
}

/** @throws AppError when the carrier did not do it, or it is not known whether it did. */
function toldBy(outcome: CarrierOutcome<CarrierCall | null>): CarrierCall | null {
  switch (outcome.type) {
    case 'done':
      return outcome.value
    case 'no_account':
      throw notSetUp(NO_ACCOUNT)
    case 'refused':
      throw new AppError('carrier_rejected', `The carrier did not cancel the call: ${outcome.err.message}`)
    case 'failed':
      throw failed(outcome.err)
  }
}

function failed(cause: unknown): AppError {
  if (cause instanceof CarrierError && cause.kind === 'credentials')
    return new AppError(
      'carrier_credentials',
      'The carrier refuses the credentials of the account: the call was not cancelled.',
      {
        cause,
      },
    )
  return new AppError('upstream_failed', 'The carrier did not say whether it has cancelled the call: try again.', {
    cause,
  })
}
