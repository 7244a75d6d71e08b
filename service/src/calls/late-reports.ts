import type { Cancel, Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Log } from '../platform/log.ts'
import type { CallReport } from '../records/call-record.ts'
import { isDatabaseTrouble } from '../records/database-trouble.ts'
import type { JournalFiles, Waiting } from '../records/journal-file.ts'
import { dated, undated } from './kept-ends.ts'
import type { CallStatuses } from './record-status.ts'

/** What a carrier told of a call. */
export type LateReport = { tenantId: TenantId; callSid: string; report: CallReport }

/** What carriers told while the database was away. */
export type LateReports = {
  /**
   * Takes a report that the database did not, to be written when it is back. True once it is on the disk, which takes a second
   * at most: then the carrier needs not come again. False when it is not to be had there: it is not taken then.
   */
  take(late: LateReport): Promise<boolean>
  /** Writes a report that a dead process had taken. Resolves when that is done. @throws Error when this is closed before. */
  restore(late: LateReport): Promise<void>
  /** Stops; what is not written stays on the disk. */
  close(): Promise<void>
}

type Deps = {
  clock: Clock
  log: Pick<Log, 'error'>
  statuses: Pick<CallStatuses, 'record'>
  files: Pick<JournalFiles, 'isReady' | 'keep' | 'settle'>
}

const RETRY_MS = 1_000
/** More than the calls of a process tell in an hour. */
const MAX_WAITING = 10_000

/** `done` hears whether it is written. */
type Pending = LateReport & { ids: number[]; done: (isWritten: boolean) => void }

export function makeLateReports({ clock, log, statuses, files }: Deps): LateReports {
  const waiting = new Set<Pending>()
  let cancel: Cancel | null = null
  let writing: Promise<void> | null = null
  let isClosed = false

  function add(late: LateReport, ids: number[], done: (isWritten: boolean) => void): void {
    waiting.add({ ...late, ids, done })
    cancel ??= clock.every(RETRY_MS, () => void write())
  }

  /** Never rejects. */
  function write(): Promise<void> {
    writing ??= writeAll().finally(() => {
      writing = null
    })
    return writing
  }

  async function writeAll(): Promise<void> {
    for (const each of [...waiting]) {
      if (isClosed || !(await isSettled(each))) return
      waiting.delete(each)
      await files.settle(each.ids)
      each.done(true)
    }
    if (waiting.size > 0) return
    cancel?.()
    cancel = null
  }

  /** False while the database does not take it. */
  async function isSettled({ tenantId, callSid, report }: LateReport): Promise<boolean> {
    try {
      await statuses.record(tenantId, callSid, report)
    } catch (err) {
      if (isDatabaseTrouble(err)) return false
      log.error({ err, tenant_id: tenantId, call_sid: callSid }, 'what a carrier told was refused')
    }
    return true
  }

  return {
    async take(late) {
      if (isClosed || waiting.size >= MAX_WAITING || !files.isReady) return false
      const { ids, isSafe } = files.keep([keptReport(late)])
      if (!(await isSafe) || isClosed) return isSafe
      add(late, ids, () => {})
      return true
    },
    async restore(late) {
      const written = new Promise<boolean>((resolve) => add(late, [], resolve))
      await write()
      if (!(await written)) throw new Error('the reports of carriers are closed')
    },
    async close() {
      isClosed = true
      cancel?.()
      cancel = null
      await writing
      for (const { done } of waiting) done(false)
    },
  }
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
