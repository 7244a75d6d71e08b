import type { Clock } from '../../kernel/clock.ts'
import type { AgentId, TenantId } from '../../kernel/ids.ts'
import { redactorFor } from '../../kernel/redaction/redact.ts'
import { withDeadline } from '../../platform/chat/deadline.ts'
import { ChatFault, type ChatModel } from '../../platform/chat/port.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import { LeasedWorker } from '../../platform/leased-worker.ts'
import type { Log } from '../../platform/log.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { isDatabaseTrouble } from '../database-trouble.ts'
import type { VoiceSessionRow } from '../voice-session-store.ts'
import { asking } from './asking.ts'
import type { Verdict } from './assessment.ts'
import {
  type Conversation,
  type FindJudged,
  type JudgedAgent,
  readConversation,
  whyUnscorable,
} from './conversation.ts'
import type { EvaluationSource } from './evaluation-store.ts'
import { ANSWER_WITHIN_MS } from './evaluations.ts'
import { type Findings, findIn, nothingFound } from './findings.ts'
import { LateCompletions } from './held-completions.ts'
import { heuristicCriteria } from './heuristics.ts'
import { keepEvaluation, keepUnscored, lockSession } from './keep-evaluation.ts'
import { keepExtraction } from './keep-extraction.ts'
import { averageOf } from './scores.ts'
import { ScoringLanes } from './scoring-lanes.ts'
import {
  type ClaimedScoring,
  claimScoringAcrossTenants,
  endScoringLeasesAcrossTenants,
  releaseScoring,
  SCORINGS_TOPIC,
  settleScoring,
} from './scoring-store.ts'

type Options = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'warn' | 'error'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  findJudged: FindJudged
  /** Null while none is configured: then only the records speak. */
  model: ChatModel | null
  /** No other process is on the database: what was claimed before the start is nobody's. */
  isAlone?: boolean
}

/** Longer than four answers of the model take: two that score, two that extract. */
const LEASE_MS = 4 * ANSWER_WITHIN_MS + 60_000
/** A model that does not answer is asked again, by one session at a time, after this; twice as long after each fault. */
const FIRST_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 300_000
/** The session itself comes again after these, by its attempts, and after the last of them from then on. */
const WAITS_MS = [10_000, 30_000, 120_000, 600_000, 1_800_000]
const GIVE_UP_AFTER_MS = 24 * 3_600_000
const NOT_ANSWERED = 'The chat model did not answer within a day of its end.'

type KeptOf = { tenant: TenantRuntime; agentId: AgentId | null }

/**
 * Scores the sessions that have ended, and takes from them what their agents' versions want, once each: it stands beside the calls, and
 * none waits for it. While the chat model does not answer, sessions wait; one that has waited a day is given up, and says so.
 */
export class Scorer {
  readonly #options: Options
  readonly #worker: LeasedWorker<ClaimedScoring>
  readonly #lanes: ScoringLanes
  /** Whose session was claimed last: the next tenant is next. */
  #lastTenant: TenantId | null = null
  /** Of the chat model, one after the other. */
  #faults = 0
  #pausedUntilMs = 0

  constructor(options: Options) {
    const { db, clock, isAlone = false } = options
    const late = new LateCompletions(options)
    this.#options = options
    this.#lanes = new ScoringLanes(clock)
    this.#worker = new LeasedWorker(
      { db, clock, isAlone },
      {
        topic: SCORINGS_TOPIC,
        endLeases: endScoringLeasesAcrossTenants,
        regularly: (stopping) => late.tell(stopping),
        hasRoom: () => this.#room > 0,
        claim: () => this.#claim(),
        work: (claimed, stopping) => this.#inLane(claimed, stopping),
        failed: (claimed, err, isStopping) => this.#failed(claimed, err, isStopping),
      },
    )
  }

  /** Resolves when it is under way. @throws the database's error. */
  start(): Promise<void> {
    return this.#worker.start()
  }

  /** Begins nothing more, and gives back what is under way. Never rejects. Again, it waits for the same end. */
  close(): Promise<void> {
    return this.#worker.close()
  }

  /** How many more sessions may be begun by now. */
  get #room(): number {
    if (this.#options.clock.monotonicMs() < this.#pausedUntilMs) return 0
    return this.#faults > 0 ? 1 - this.#lanes.taken : this.#lanes.free
  }

  async #claim(): Promise<ClaimedScoring | 'some wait' | 'none waits'> {
    const except = this.#lanes.fullTenants
    const ask = { now: this.#now, leaseMs: LEASE_MS, except, after: this.#lastTenant }
    const claimed = await claimScoringAcrossTenants(this.#options.db, ask)
    if (!claimed) return except.length > 0 ? 'some wait' : 'none waits'
    this.#lastTenant = claimed.tenantId
    return claimed
  }

  async #inLane(claimed: ClaimedScoring, stopping: AbortSignal): Promise<void> {
    const giveBack = this.#lanes.take(claimed.tenantId, () => this.#worker.look())
    try {
      await this.#score(claimed, stopping)
    } finally {
      giveBack()
    }
  }

  async #score(claimed: ClaimedScoring, stopping: AbortSignal): Promise<void> {
    const { db, tenants, findJudged, model } = this.#options
    const { tenantId, sessionId } = claimed
    const tenant = await tenants.get(tenantId)
    const conversation = tenant && (await readConversation(db, tenantId, sessionId))
    // What is gone has taken its place on the list with it.
    if (!conversation) return
    const agent = await findJudged(tenant, conversation.session)
    const of = { tenant, agentId: agent.agentId }
    const byRecords = recordsVerdict(conversation)
    const keepByRecords = async (tx: Tx, session: VoiceSessionRow) => {
      if (byRecords) await this.#keepVerdict(tx, of, session, { source: 'heuristic', verdict: byRecords })
    }
    const reason = whyUnscorable(conversation)
    if (reason !== null || !model) {
      const found = nothingFound(reason ?? 'No chat model is configured.')
      await this.#settle(claimed, conversation, async (tx, session) => {
        await keepByRecords(tx, session)
        await this.#keep(tx, of, session, found)
      })
      return
    }
    // What the records say is there while the model takes its time.
    await db.transaction().execute(async (tx) => {
      const session = await lockSession(tx, tenantId, conversation.session)
      if (session) await keepByRecords(tx, session)
    })
    const found = await this.#askFor({ model, stopping }, tenant, conversation, agent)
    await this.#settle(claimed, conversation, (tx, session) => this.#keep(tx, of, session, found))
  }

  async #keep(tx: Tx, of: KeptOf, session: VoiceSessionRow, { verdict, extraction }: Findings): Promise<void> {
    if (typeof verdict === 'string') await keepUnscored(tx, session, verdict)
    else if (verdict) await this.#keepVerdict(tx, of, session, { source: 'model', verdict })
    // Last: the end of the session, which may be told with it, has the summary in it.
    const told = { tenant: of.tenant, callSid: session.call_sid, now: this.#now }
    if (extraction) await keepExtraction(tx, told, extraction)
  }

  async #keepVerdict(
    tx: Tx,
    { tenant, agentId }: KeptOf,
    session: VoiceSessionRow,
    given: { source: EvaluationSource; verdict: Verdict },
  ): Promise<void> {
    await keepEvaluation(tx, tenant, { session, agentId, ...given, now: this.#now })
  }

  /** @throws ChatFault when a question is not answered: then all of them are asked again, later. */
  async #askFor(
    { model, stopping }: { model: ChatModel; stopping: AbortSignal },
    tenant: TenantRuntime,
    conversation: Conversation,
    agent: JudgedAgent,
  ): Promise<Findings> {
    const { db, clock, log } = this.#options
    const ask = asking(model, (work) => withDeadline(clock, ANSWER_WITHIN_MS, work, stopping))
    const found = await findIn(
      { db, log, ask, redactor: redactorFor(tenant.compliance.redact_pii) },
      conversation,
      agent,
    )
    this.#answered()
    return found
  }

  /** Writes down what came of it, unless somebody else has the session by now. */
  async #settle(
    claimed: ClaimedScoring,
    { session }: Conversation,
    write: (tx: Tx, session: VoiceSessionRow) => Promise<void>,
  ): Promise<void> {
    await this.#options.db.transaction().execute(async (tx) => {
      const current = await lockSession(tx, claimed.tenantId, session)
      if (current && (await settleScoring(tx, claimed))) await write(tx, current)
    })
  }

  /** Never rejects: what cannot be given back comes again when its lease is over. */
  async #failed(claimed: ClaimedScoring, err: unknown, isStopping: boolean): Promise<void> {
    const { log, clock } = this.#options
    const { tenantId: tenant_id, sessionId: voice_session_id, attempts, endedAt } = claimed
    try {
      if (isStopping) return await this.#release(claimed, 0)
      if (err instanceof ChatFault) this.#notAnswered(err)
      else if (!isDatabaseTrouble(err)) log.error({ tenant_id, voice_session_id, err }, 'a session was not scored')
      const waitMs = WAITS_MS[attempts - 1] ?? WAITS_MS.at(-1) ?? 0
      if (clock.now() - endedAt.getTime() < GIVE_UP_AFTER_MS) return await this.#release(claimed, waitMs)
      await this.#giveUp(claimed)
    } catch (error) {
      log.info({ tenant_id, voice_session_id, err: error }, 'a session that was not scored waits for its lease to end')
    }
  }

  #release(claimed: ClaimedScoring, waitMs: number): Promise<void> {
    const { db, clock } = this.#options
    return releaseScoring(db, claimed, new Date(clock.now() + waitMs))
  }

  /** Asks for and writes as little as it can: whatever has failed for a day may be part of the rest. */
  async #giveUp(claimed: ClaimedScoring): Promise<void> {
    const conversation = await readConversation(this.#options.db, claimed.tenantId, claimed.sessionId)
    if (!conversation) return
    const { tenants } = this.#options
    const tenant = await tenants.get(claimed.tenantId)
    if (!tenant) return
    const found: Findings = {
      verdict: 'It could not be scored within a day of its end.',
      extraction: { missing: NOT_ANSWERED },
    }
    await this.#settle(claimed, conversation, (tx, session) =>
      this.#keep(tx, { tenant, agentId: null }, session, found),
    )
  }

  #answered(): void {
    if (this.#faults > 0) this.#options.log.info({ faults: this.#faults }, 'sessions are scored again')
    this.#faults = 0
    this.#pausedUntilMs = 0
  }

  /** Told once, until it answers again. */
  #notAnswered(err: ChatFault): void {
    const { clock, log } = this.#options
    // Of those that were under way together the first one speaks for all.
    if (clock.monotonicMs() < this.#pausedUntilMs) return
    if (this.#faults === 0) log.warn({ err }, 'sessions wait to be scored: the chat model does not answer')
    this.#faults += 1
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#faults - 1))
    this.#pausedUntilMs = clock.monotonicMs() + pauseMs
  }

  get #now(): Date {
    return new Date(this.#options.clock.now())
  }
}

/** What the records say of a session by themselves; null where nothing was said in it. */
function recordsVerdict({ session, turns, calls }: Conversation): Verdict | null {
  if (session.started_at === null || session.ended_at === null || turns.length === 0) return null
  const durationMs = session.ended_at.getTime() - session.started_at.getTime()
  const criteria = heuristicCriteria({ durationMs, endReason: session.end_reason, turns, calls })
  const score = averageOf(criteria)
  return score === null ? null : { score, criteria, summary: null }
}
