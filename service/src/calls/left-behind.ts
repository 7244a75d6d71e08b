import { type Cancel, type Clock, withTimeout } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import { type LateActions, readActions } from '../operators/late-actions.ts'
import type { Log } from '../platform/log.ts'
import { isDatabaseTrouble } from '../records/database-trouble.ts'
import type { Journal } from '../records/journal.ts'
import { WAITING_KINDS } from '../records/journal-file.ts'
import { findLeftBehind, type LeftBehind } from '../records/journal-left.ts'
import { readEntries } from '../records/journal-waiting.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { Finishing } from './finish.ts'
import { readEnds } from './kept-ends.ts'
import { type LateRefusals, readRefusals } from './late-refusals.ts'
import { type LateReports, readReports } from './late-reports.ts'
import { type LateUnanswered, readUnanswered } from './late-unanswered.ts'

/** What dead processes of this machine left in the journal's files. */
export type Restoring = {
  /**
   * Stores it, and removes the files when that is done. Resolves then, or after 5 s: while the database does not take it, that
   * goes on behind. Never rejects.
   */
  restore(): Promise<void>
  /** Leaves what is not stored by now to a later start. */
  close(): void
}

type Deps = {
  /** Where the files are. */
  folder: string
  clock: Clock
  log: Pick<Log, 'info' | 'warn' | 'error'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  journal: Pick<Journal, 'restore'>
  finishing: Pick<Finishing, 'finish'>
  reports: Pick<LateReports, 'restore'>
  actions: Pick<LateActions, 'restore'>
  refusals: Pick<LateRefusals, 'restore'>
  unanswered: Pick<LateUnanswered, 'restore'>
}

const WITHIN_MS = 5_000
const RETRY_MS = 1_000

export function makeRestoring(deps: Deps): Restoring {
  const { folder, clock, log, tenants, journal, finishing, reports, actions, refusals, unanswered } = deps
  const leaving = new Set<() => void>()
  let cancelRetry: Cancel | null = null
  let isClosed = false

  /** What was said first, then why nobody was talked with, then what the carrier told, then the end: it has all of it in its event. */
  async function store({ waiting }: LeftBehind): Promise<void> {
    await journal.restore(await readEntries(waiting, (tenantId) => tenants.get(tenantId)))
    for (const call of readUnanswered(waiting)) await unanswered.restore(call)
    for (const report of readReports(waiting)) await reports.restore(report)
    for (const ending of readEnds(waiting)) await finishing.finish(ending)
    for (const action of readActions(waiting)) await actions.restore(action)
    for (const refusal of readRefusals(waiting)) await refusals.restore(refusal)
  }

  async function storeAndRemove(left: LeftBehind): Promise<void> {
    leaving.add(left.leave)
    const stored = await outcomeOf(() => store(left))
    if (isClosed) return
    if (isDatabaseTrouble(stored)) return again(left)
    leaving.delete(left.leave)
    const fields = { node: left.node, waiting: left.waiting.length }
    if (stored !== null) {
      log.error({ ...fields, err: stored }, 'what a dead process had not stored cannot be stored: its files stay')
      return left.leave()
    }
    // What is stored leaves the disk: it may be erased from the database before that version starts.
    const unknown = left.waiting.filter(({ kind }) => !WAITING_KINDS.includes(kind))
    const cleared = await outcomeOf(() => (unknown.length > 0 ? left.keepOnly(unknown) : left.remove()))
    if (cleared !== null)
      return log.error({ ...fields, err: cleared }, 'what a dead process had not stored is stored, and its files stay')
    if (unknown.length === 0) return log.info(fields, 'what a dead process had not stored is stored')
    log.warn({ ...fields, unknown: unknown.length }, 'a file of the journal stays for the later version whose it is')
  }

  async function again(left: LeftBehind): Promise<void> {
    await new Promise<void>((resolve) => {
      cancelRetry = clock.after(RETRY_MS, resolve)
    })
    await storeAndRemove(left)
  }

  /** One after the other: each may be 64 MiB. */
  async function restoreAll(): Promise<void> {
    for (const left of await findLeftBehind({ folder, log })) await storeAndRemove(left)
  }

  return {
    async restore() {
      const late = () => new Error('it takes longer')
      const all = restoreAll().catch((err: unknown) => log.error({ err }, 'the files of the journal were not cleared'))
      await withTimeout(clock, all, WITHIN_MS, late).catch(() => log.warn({}, 'what was not stored is stored behind'))
    },
    close() {
      isClosed = true
      cancelRetry?.()
      for (const leave of leaving) leave()
      leaving.clear()
    },
  }
}

/** Null, or why it failed. */
async function outcomeOf(work: () => Promise<void>): Promise<unknown> {
  return work().then(
    () => null,
    (error: unknown) => error,
  )
}
