import { type Clock, withDeadline } from '../../kernel/clock.ts'
import type { AgentId, TenantId } from '../../kernel/ids.ts'
import { redactorFor } from '../../kernel/redaction/redact.ts'
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
  holdsScoring,
  releaseScoring,
  SCORINGS_TOPIC,
  settleScoring,
} from './scoring-store.ts'
import { SilentModels } from './silent-models.ts'

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
/** The session itself comes again after these, by its attempts, and after the last of them from then on. */
const WAITS_MS = [10_000, 30_000, 120_000, 600_000, 1_800_000]
const GIVE_UP_AFTER_MS = 24 * 3_600_000
const NOT_ANSWERED = 'The chat model did not answer within a day of its end.'

type KeptOf = { tenant: TenantRuntime; agentId: AgentId | null }
type Write = (tx: Tx, session: VoiceSessionRow) => Promise<void>
type Asked = {
  model: ChatModel
  stopping: AbortSignal
  claimed: ClaimedScoring
  tenant: TenantRuntime
  conversation: Conversation
  agent: JudgedAgent
}

/**
 * Scores the sessions that have ended, and takes from them what their agents' versions want, once each: it stands beside the calls, and
 * none waits for it. While their chat model does not answer, sessions wait; one that has waited a day is given up, and says so.
 */
export class Scorer {
  readonly #options: Options
  readonly #worker: LeasedWorker<ClaimedScoring>
  readonly #lanes: ScoringLanes
  readonly #silent: SilentModels
  /** Whose session was claimed last: the next tenant is next. */
  #lastTenant: TenantId | null = null

  constructor(options: Options) {
    const { db, clock, log, isAlone = false } = options
    const late = new LateCompletions(options)
    this.#options = options
    this.#lanes = new ScoringLanes(clock)
    this.#silent = new SilentModels(clock)
    this.#worker = new LeasedWorker(
      { db, clock, log, isAlone },
      {
        topic: SCORINGS_TOPIC,
        endLeases: endScoringLeasesAcrossTenants,
        regularly: (stopping) => late.tell(stopping),
        hasRoom: () => this.#lanes.free > 0,
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

  async #claim(): Promise<ClaimedScoring | 'some wait' | 'none waits'> {
    const except = [...this.#lanes.fullTenants, ...this.#silent.waitingTenants]
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
    const asked = { model, stopping, claimed, tenant, conversation, agent }
    const found = await this.#silent.asked(agent.chatModel, tenantId, () => this.#askFor(asked))
    if (found) await this.#settle(claimed, conversation, (tx, session) => this.#keep(tx, of, session, found))
    else await this.#release({ ...claimed, attempts: claimed.attempts - 1 }, 0)
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

  /** @throws ChatFault when a question is not answered: then what is missing is asked for again, later. */
  async #askFor({ model, stopping, claimed, tenant, conversation, agent }: Asked): Promise<Findings> {
    const { db, clock, log } = this.#options
    const { chatModel, agentId } = agent
    const ask = asking(model, (work) => withDeadline(clock, ANSWER_WITHIN_MS, work, stopping))
    const keepVerdict = (verdict: Findings['verdict']) =>
      this.#write(claimed, conversation, holdsScoring, (tx, session) =>
        this.#keep(tx, { tenant, agentId }, session, { verdict, extraction: null }),
      )
    const deps = { db, log, ask, keepVerdict, redactor: redactorFor(tenant.compliance.redact_pii) }
    try {
      const found = await findIn(deps, conversation, agent)
      const faults = this.#silent.answered(chatModel)
      if (faults > 0) log.info({ faults, chat_model: chatModel }, 'sessions are scored again')
      return found
    } catch (err) {
      // Told once, until it answers again.
      const isFault = err instanceof ChatFault && !stopping.aborted
      if (isFault && this.#silent.notAnswered(chatModel, claimed.tenantId))
        log.warn({ err, chat_model: chatModel }, 'sessions wait to be scored: the chat model does not answer')
      throw err
    }
  }

  /** Writes down what came of it, unless somebody else has the session by now. */
  #settle(claimed: ClaimedScoring, conversation: Conversation, write: Write): Promise<void> {
    return this.#write(claimed, conversation, settleScoring, write)
  }

  async #write(
    claimed: ClaimedScoring,
    { session }: Conversation,
    isOurs: typeof settleScoring,
    write: Write,
  ): Promise<void> {
    await this.#options.db.transaction().execute(async (tx) => {
      const current = await lockSession(tx, claimed.tenantId, session)
      if (current && (await isOurs(tx, claimed))) await write(tx, current)
    })
  }

  /** Never rejects: what cannot be given back comes again when its lease is over. */
  async #failed(claimed: ClaimedScoring, err: unknown, isStopping: boolean): Promise<void> {
    const { log, clock } = this.#options
    const { tenantId: tenant_id, sessionId: voice_session_id, attempts, endedAt } = claimed
    try {
      if (isStopping) return await this.#release(claimed, 0)
      if (!(err instanceof ChatFault || isDatabaseTrouble(err)))
        log.error({ tenant_id, voice_session_id, err }, 'a session was not scored')
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
    const isJudged = conversation.session.qa_status !== 'pending'
    const found: Findings = {
      verdict: isJudged ? null : 'It could not be scored within a day of its end.',
      extraction: { missing: NOT_ANSWERED },
    }
    await this.#settle(claimed, conversation, (tx, session) =>
      this.#keep(tx, { tenant, agentId: null }, session, found),
    )
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
