import { AppError } from '../kernel/errors.ts'
import type { SignedRequest } from '../platform/telephony/port.ts'
import type { Waiting } from '../records/journal-file.ts'
import { type LateDeps, type LateWrites, makeLateWrites } from '../records/late-writes.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { AdoptDeps, AdoptDial, OfDial } from './adopt-dial.ts'
import { findCallAcrossTenants } from './incoming-store.ts'
import { dated, undated } from './kept-ends.ts'
import type { CallStatuses } from './record-status.ts'
import type { Refusal } from './refusals.ts'

/**
 * Somebody has answered a call that we asked for, and nobody talks with them. Whose call it is nobody could find out by then.
 * `dialRef`: null where the carrier did not ask at the address of a dial.
 */
export type UnansweredCall = Omit<OfDial, 'dialRef'> & { dialRef: string | null; why: Refusal; at: Date }

/** Such calls: whether the carrier asked, and whose they are, is found out when they are written. */
export type LateUnanswered = LateWrites<UnansweredCall>

type Deps = LateDeps &
  Pick<AdoptDeps, 'db' | 'tenants' | 'signatures'> & { adopt: AdoptDial; statuses: Pick<CallStatuses, 'notTaken'> }

/** Anybody may ask who signs anything: nothing is checked yet. */
const MAX_WAITING = 1_000
const MAX_KEPT_CHARS = 8_000

export function makeLateUnanswered(deps: Deps): LateUnanswered {
  const { db, clock, files, log, tenants, signatures, adopt, statuses } = deps

  /** Null for a call that is not known. @throws AppError `unauthorized` when it was not the carrier who asked. */
  async function whose({ dialRef, callSid, signed }: UnansweredCall): Promise<TenantRuntime | null> {
    if (dialRef !== null) {
      const adopted = await adopt({ dialRef, callSid, signed })
      return adopted?.isItsCall ? adopted.tenant : null
    }
    const call = await findCallAcrossTenants(db, callSid)
    const tenant = call && (await tenants.get(call.tenantId))
    if (tenant) signatures.expectFrom(tenant, signed)
    return tenant
  }

  const writes = makeLateWrites<UnansweredCall>({
    ...{ clock, files, keptAs: keptUnanswered, maxWaiting: MAX_WAITING },
    async write(late) {
      const tenant = await whose(late).catch(ofAnybody)
      if (tenant) await statuses.notTaken(tenant.tenant_id, late.callSid, late)
    },
    refused: ({ callSid }, err) => log.error({ err, call_sid: callSid }, 'why a call was not connected was refused'),
  })
  return {
    ...writes,
    async take(late) {
      const small = { ...late, signed: { ...late.signed, headers: proofsIn(late.signed) } }
      return JSON.stringify(small).length <= MAX_KEPT_CHARS && writes.take(small)
    },
  }
}

/** What the carrier has not asked is nobody's. */
function ofAnybody(error: unknown): null {
  if (error instanceof AppError && error.code === 'unauthorized') return null
  throw error
}

/** The signature, and what it was made by: the other headers prove nothing. */
function proofsIn({ headers }: SignedRequest): SignedRequest['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.includes('-signature')))
}

function keptUnanswered(late: UnansweredCall): Waiting {
  return { kind: 'unanswered', body: dated(late) }
}

/** Reads such calls among what was kept. */
export function readUnanswered(waiting: Waiting[]): UnansweredCall[] {
  // Sound: what stands behind a checksum was written by `keptUnanswered`.
  type Kept = Omit<UnansweredCall, 'at'> & { at: string }
  return waiting.flatMap(({ kind, body }) => (kind === 'unanswered' ? [undated(body as Kept)] : []))
}
