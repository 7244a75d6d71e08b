import type { TenantId } from '../kernel/ids.ts'
import type { CallReport } from '../records/call-record.ts'
import type { Waiting } from '../records/journal-file.ts'
import { type LateDeps, type LateWrites, makeLateWrites } from '../records/late-writes.ts'
import { dated, undated } from './kept-ends.ts'
import type { CallStatuses } from './record-status.ts'

/** What a carrier told of a call. */
export type LateReport = { tenantId: TenantId; callSid: string; report: CallReport }

/** What carriers told while the database was away. */
export type LateReports = LateWrites<LateReport>

type Deps = LateDeps & { statuses: Pick<CallStatuses, 'record'> }

export function makeLateReports({ clock, log, statuses, files }: Deps): LateReports {
  return makeLateWrites({
    ...{ clock, files, keptAs: keptReport },
    async write({ tenantId, callSid, report }) {
      await statuses.record(tenantId, callSid, report)
    },
    refused: ({ tenantId, callSid }, err) =>
      log.error({ err, tenant_id: tenantId, call_sid: callSid }, 'what a carrier told was refused'),
  })
}

function keptReport({ report, ...late }: LateReport): Waiting {
  return { kind: 'report', body: { ...late, report: dated(report) } }
}

/** Reads the reports among what was kept. */
export function readReports(waiting: Waiting[]): LateReport[] {
  // Sound: what stands behind a checksum was written by `keptReport`.
  type KeptReport = Omit<LateReport, 'report'> & { report: Omit<CallReport, 'at'> & { at: string } }
  const reports = waiting.flatMap(({ kind, body }) => (kind === 'report' ? [body as KeptReport] : []))
  return reports.map(({ report, ...late }) => ({ ...late, report: undated(report) }))
}
