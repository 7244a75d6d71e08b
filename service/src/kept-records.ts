import { join } from 'node:path'
import { makeAdoptDial } from './calls/adopt-dial.ts'
import { makeFinishing } from './calls/finish.ts'
import { makeCallbackSignatures } from './calls/incoming-signature.ts'
import { makeKeptEnds } from './calls/kept-ends.ts'
import { makeLateRefusals } from './calls/late-refusals.ts'
import { makeLateReports } from './calls/late-reports.ts'
import { makeLateUnanswered } from './calls/late-unanswered.ts'
import { makeRestoring } from './calls/left-behind.ts'
import type { CallStatuses } from './calls/record-status.ts'
import type { Deps } from './deps.ts'
import type { NodeId, TenantId } from './kernel/ids.ts'
import { makeLateActions } from './operators/late-actions.ts'
import { publicAddress } from './public-address.ts'
import { isLoopback } from './public-url.ts'
import { Journal } from './records/journal.ts'
import { JournalFiles } from './records/journal-file.ts'
import { makeJournalMetrics } from './records/journal-metrics.ts'
import type { TelephonyDefaults, TenantRuntime } from './tenancy/tenant-runtime.ts'

/** What the records of calls need of those around them. */
export type KeptRecordNeeds = {
  nodeId: NodeId
  /** The carrier account of tenants that name none. */
  defaults: TelephonyDefaults
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  statuses: CallStatuses
}

/** Wires what writes the records of live calls down, and keeps on the disk what the database does not take. */
export function makeKeptRecords(deps: Deps, { nodeId, defaults, tenants, statuses }: KeptRecordNeeds) {
  const { config, clock, log, carriers } = deps
  const { db } = deps.database
  const folder = join(config.dataDir, 'journal')
  const files = new JournalFiles({ folder, node: nodeId, clock, log })
  const journal = new Journal({ db, clock, log, files, tenants })
  makeJournalMetrics(deps.metrics.registry, { journal, files })
  const finishing = makeKeptEnds({ clock, files, finishing: makeFinishing({ db, clock, log, tenants, journal }) })
  const late = makeLateReports({ clock, log, statuses, files })
  const actions = makeLateActions({ db, clock, log, files })
  const refusals = makeLateRefusals({ db, clock, log, files, tenants })
  const isSimulated = deps.simulated.carrier
  const takesUnsigned = () => config.simulator && isLoopback(publicAddress(config))
  const signatures = makeCallbackSignatures({ db, clock, log, tenants, carriers, defaults, isSimulated, takesUnsigned })
  const adopt = makeAdoptDial({ db, clock, log, tenants, signatures })
  const unanswered = makeLateUnanswered({ db, clock, log, files, tenants, signatures, adopt, statuses })
  const of = { journal, finishing, reports: late, actions, refusals, unanswered }
  const restoring = makeRestoring({ folder, clock, log, tenants, ...of })
  return {
    journal,
    finishing,
    late,
    actions,
    refusals,
    unanswered,
    /** Stores what dead processes of this machine left; to be called before the first call is taken. Never rejects. */
    async start(): Promise<void> {
      // Of calls without a database nothing is kept, on the disk neither.
      if (deps.database.kind === 'memory') return
      await files.start(() => void restoring.restore())
      await restoring.restore()
    },
    /** Writes what waits, or leaves it on the disk to a later start. */
    async close(): Promise<void> {
      restoring.close()
      await journal.close()
      await Promise.all([finishing, late, actions, refusals, unanswered].map((each) => each.close()))
      await files.close()
    },
  }
}
