import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { type PhoneNumber, spellingsOf } from '../../kernel/phone.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { SessionId } from '../../records/call-values.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { eraseFromCampaigns } from './erase-contacts.ts'
import type { EraseSession, ErasureReceipt } from './erase-session.ts'
import { endOfPage, type KeyedTable, type KeyPage } from './key-page-store.ts'
import { eraseMentions, MENTION_TABLES } from './mention-store.ts'
import { type ClaimedErasure, countErased, type ErasureProgress, type NumberCounts } from './number-erasure-store.ts'
import { type NumberMention, numberMention } from './number-mention.ts'
import {
  eraseCallLogs,
  eraseContacts,
  eraseTasks,
  listSessionsOf,
  type NumberSubject,
  SUBJECT_TABLES,
} from './number-subject-store.ts'

/**
 * Erases a number step by step, and in each through a table of the tenant by its keys, some rows at a time. A piece is a transaction that
 * also counts what it has erased and notes how far it has come, so that whoever goes on begins behind it.
 *
 * The function resolves with false while a call of the number is live. @throws Lost, TurnOver once it is `untilMs`, monotonic.
 */
export type EraseAll = (claimed: ClaimedErasure, phone: PhoneNumber, untilMs: number) => Promise<boolean>

type Deps = {
  db: Db
  clock: Pick<Clock, 'monotonicMs' | 'now'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  erase: EraseSession
  /** Whether the service stops: then nothing more is begun. */
  isStopping: () => boolean
}

/** Looked at in one transaction: words, of which there may be much in a row, and who called whom. */
const WORDS_AT_A_TIME = 200
const CALLS_AT_A_TIME = 1_000
/** Longer than a piece takes; each one takes as long anew. Whoever dies is followed after this. */
export const LEASE_MS = 60_000

/** Somebody else has gone on with it. */
export class Lost extends Error {}

/** Its time is over: it is gone on with later. */
export class TurnOver extends Error {}

/**
 * So far the clocks of two nodes may be apart. What was written down by one that is ahead seems to be later than the request, and must not
 * stay; of what truly is that little later some goes too, if the request is not done by then, but nothing of a call that goes on.
 */
const CLOCKS_APART_MS = 15 * 60_000

/** The first step, in which each session is a transaction of its own. */
const SESSIONS = 'sessions'

/** Of whom what is looked for, and until when it may be. */
type Job = {
  claimed: ClaimedErasure
  tenant: TenantRuntime | null
  subject: NumberSubject
  mention: NumberMention
  untilMs: number
}

/** What is done with one table, a page of it at a time. */
type Step = {
  name: string
  of: KeyedTable
  rows: number
  piece: (tx: Tx, job: Job, of: { page: KeyPage; now: Date }) => Promise<NumberCounts>
}

const STEPS: Step[] = [
  ownStep('call logs', SUBJECT_TABLES.callLogs, eraseCallLogs),
  ownStep('tasks', SUBJECT_TABLES.tasks, eraseTasks),
  {
    ...ownStep('contacts', SUBJECT_TABLES.contacts, eraseContacts),
    async piece(tx, { claimed, tenant, subject }, of) {
      if (!tenant) return eraseContacts(tx, claimed.tenant_id, subject, of.page)
      return eraseFromCampaigns(tx, tenant, subject, of)
    },
  },
  ...MENTION_TABLES.map((of) => ({
    ...{ name: `mentions: ${of.table}`, of, rows: WORDS_AT_A_TIME },
    async piece(tx: Tx, { claimed, subject, mention }: Job, { page }: { page: KeyPage }) {
      const mentions = await eraseMentions(tx, claimed.tenant_id, of, { mention, subject, page })
      return mentions === 0 ? {} : { mentions }
    },
  })),
]

type ErasePage = (tx: Tx, tenantId: TenantId, subject: NumberSubject, page: KeyPage) => Promise<NumberCounts>

function ownStep(name: string, of: KeyedTable, erasePage: ErasePage): Step {
  const piece: Step['piece'] = (tx, { claimed, subject }, { page }) => erasePage(tx, claimed.tenant_id, subject, page)
  return { name, of, rows: CALLS_AT_A_TIME, piece }
}

export function makeEraseAll({ db, clock, tenants, erase, isStopping }: Deps): EraseAll {
  async function eraseAll(claimed: ClaimedErasure, phone: PhoneNumber, untilMs: number): Promise<boolean> {
    const { progress } = claimed
    const mention = numberMention(phone)
    const askedAt = claimed.created_at
    const until = new Date(askedAt.getTime() + CLOCKS_APART_MS)
    const subject: NumberSubject = { spellings: spellingsOf(phone), wholePattern: mention.wholePattern, askedAt, until }
    // Asked before the transactions: the embedded database has one connection, which they own.
    const job: Job = { claimed, tenant: await tenants.get(claimed.tenant_id), subject, mention, untilMs }
    const at = STEPS.findIndex(({ name }) => name === progress?.step)
    // A session that is not over has the number yet: nothing else is taken out of it either until it is.
    if (at === -1 && !(await eraseSessions(job))) return false
    for (const step of STEPS.slice(Math.max(at, 0)))
      await inPages(job, step, step.name === progress?.step ? progress.after : null)
    return true
  }

  function expectTime({ untilMs }: Job): void {
    if (isStopping()) throw new Lost()
    if (clock.monotonicMs() >= untilMs) throw new TurnOver()
  }

  async function inPages(job: Job, step: Step, begin: string[] | null): Promise<void> {
    const { tenant_id: tenantId } = job.claimed
    const next = STEPS[STEPS.indexOf(step) + 1]
    for (let after = begin; ; ) {
      expectTime(job)
      const until: string[] | null = await db.transaction().execute(async (tx) => {
        const end = await endOfPage(tx, tenantId, step.of, { after, limit: step.rows })
        if (end === null) {
          if (next) await note(tx, job.claimed, { counts: {}, progress: { step: next.name, after: null } })
          return null
        }
        const counts = await step.piece(tx, job, { page: { after, until: end }, now: new Date(clock.now()) })
        await note(tx, job.claimed, { counts, progress: { step: step.name, after: end } })
        return end
      })
      if (until === null) return
      after = until
    }
  }

  async function note(
    tx: Tx,
    claimed: ClaimedErasure,
    done: { counts: NumberCounts; progress: ErasureProgress | null },
  ): Promise<void> {
    if (!(await countErased(tx, claimed, { ...done, leaseMs: LEASE_MS }))) throw new Lost()
  }

  /** @returns false when one of them is live again: the request waits for its end, and looks at all of them again then. */
  async function eraseSessions(job: Job): Promise<boolean> {
    const { claimed } = job
    const of = SUBJECT_TABLES.sessions
    let isWhole = true
    let after = claimed.progress?.step === SESSIONS ? claimed.progress.after : null
    for (;;) {
      expectTime(job)
      const found = await db.transaction().execute(async (tx) => {
        const until = await endOfPage(tx, claimed.tenant_id, of, { after, limit: CALLS_AT_A_TIME })
        return until && { until, ids: await listSessionsOf(tx, claimed.tenant_id, job.subject, { after, until }) }
      })
      if (!found) break
      const reached = () => (isWhole ? { step: SESSIONS, after } : null)
      for (const id of found.ids) isWhole = (await eraseOne(job, id, reached())) && isWhole
      after = found.until
      await db.transaction().execute((tx) => note(tx, claimed, { counts: {}, progress: reached() }))
    }
    return isWhole
  }

  /** @returns false when it is not over. */
  async function eraseOne(job: Job, id: SessionId, progress: ErasureProgress | null): Promise<boolean> {
    const { claimed } = job
    expectTime(job)
    try {
      const within = (tx: Tx, receipt: ErasureReceipt) => note(tx, claimed, { counts: countsOf(receipt), progress })
      await erase(claimed.tenant_id, id, { within })
      return true
    } catch (err) {
      if (!(err instanceof AppError)) throw err
      // Erased by somebody else meanwhile, or not over.
      return err.code === 'not_found'
    }
  }

  return eraseAll
}

function countsOf(receipt: ErasureReceipt): NumberCounts {
  const { transcriptTurns, functionCalls, recordingParts, supervisorActions, deliveries } = receipt
  return {
    ...{ voice_sessions: 1, transcript_turns: transcriptTurns, function_calls: functionCalls },
    ...{ recording_parts: recordingParts, supervisor_actions: supervisorActions, deliveries },
  }
}
