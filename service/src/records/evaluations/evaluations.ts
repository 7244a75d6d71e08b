import { type Clock, withDeadline } from '../../kernel/clock.ts'
import { AppError, notSetUp } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { type Page, type PageRequest, toPage } from '../../kernel/pages.ts'
import { ChatFault, type ChatModel } from '../../platform/chat/port.ts'
import { isUuid } from '../../platform/db/newest-first.ts'
import type { Db } from '../../platform/db/schema.ts'
import type { Log } from '../../platform/log.ts'
import { knownTenant } from '../../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import type { SessionId } from '../call-values.ts'
import { storable } from '../storable.ts'
import { asking } from './asking.ts'
import { assess, NoAssessment, type Verdict } from './assessment.ts'
import { type Conversation, type FindJudged, NO_CRITERIA, readConversation, whyUnscorable } from './conversation.ts'
import {
  type EvaluationFilter,
  type EvaluationRow,
  type EvaluationSource,
  listEvaluations,
} from './evaluation-store.ts'
import { REFUSED } from './findings.ts'
import { keepEvaluation, lockSession } from './keep-evaluation.ts'
import { asScore } from './scores.ts'
import { dropScoring } from './scoring-store.ts'

/** How good the conversations of tenants were. */
export type Evaluations = {
  /** Newest first. */
  list(tenantId: TenantId, filter: EvaluationFilter, page: PageRequest): Promise<Page<EvaluationRow>>
  /**
   * Writes down what a person thinks of a session: from now on that counts for it.
   *
   * @throws AppError `not_found` when the tenant has no such session, `conflict` before it has ended.
   */
  record(tenantId: TenantId, sessionId: string, verdict: Verdict): Promise<EvaluationRow>
  /**
   * Has the chat model score a session now, whether it was scored before or not.
   *
   * @throws AppError `not_found`; `conflict` before it has ended, and where there is nothing to score; `unavailable` when the
   * chat model is not there, `upstream_failed` when it refuses, or answers with no assessment, `rate_limited` while too many wait.
   */
  score(tenantId: TenantId, sessionId: string): Promise<EvaluationRow>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  findJudged: FindJudged
  /** Null while none is configured. */
  model: ChatModel | null
}

/** How long the model has for an answer. */
export const ANSWER_WITHIN_MS = 30_000
/** Sessions that somebody waits for, at a time. */
const MAX_WAITING = 16
const MAX_WAITING_OF_TENANT = 4

export function makeEvaluations(deps: Deps): Evaluations {
  const { db, clock, log, tenants, findJudged, model } = deps
  const waiting = new Waiting()

  async function ended(tenantId: TenantId, sessionId: string): Promise<Conversation> {
    const found = isUuid(sessionId) ? await readConversation(db, tenantId, sessionId as SessionId) : null
    if (!found) throw unknownSession()
    if (found.session.ended_at === null)
      throw new AppError('conflict', 'The session has not ended: it can be scored when it has.')
    return found
  }

  type Said = { source: EvaluationSource; verdict: Verdict; agentId: EvaluationRow['agent_id'] }

  function keep(tenant: TenantRuntime, { session }: Conversation, said: Said): Promise<EvaluationRow> {
    return db.transaction().execute(async (tx) => {
      const current = await lockSession(tx, tenant.tenant_id, session)
      if (!current) throw unknownSession()
      // What is still to be taken from the conversation keeps it on the list.
      if (said.source === 'model' && current.extraction_status !== 'pending')
        await dropScoring(tx, tenant.tenant_id, session.id)
      return keepEvaluation(tx, tenant, { ...said, session: current, now: new Date(clock.now()) })
    })
  }

  async function scoreNow(tenantId: TenantId, sessionId: string, chat: ChatModel): Promise<EvaluationRow> {
    const conversation = await ended(tenantId, sessionId)
    const tenant = await knownTenant(tenants, tenantId)
    const judged = await findJudged(tenant, conversation.session)
    const reason = whyUnscorable(conversation) ?? (judged.criteria.length === 0 ? NO_CRITERIA : null)
    if (reason !== null) throw new AppError('conflict', `There is nothing to score: ${lowerFirst(reason)}`)
    const { agentId, criteria, chatModel } = judged
    const ask = asking(chat, (work) => withDeadline(clock, ANSWER_WITHIN_MS, work))
    const verdict = await assess(ask, { criteria, chatModel, conversation }).catch((err: unknown) => {
      throw told(err, tenantId)
    })
    return keep(tenant, conversation, { source: 'model', verdict, agentId })
  }

  function told(err: unknown, tenant_id: TenantId): unknown {
    if (!(err instanceof ChatFault || err instanceof NoAssessment)) return err
    log.warn({ err, tenant_id }, 'a chat model did not score a session')
    if (err instanceof NoAssessment)
      return new AppError('upstream_failed', 'The chat model answered twice with something that is no assessment.', {
        cause: err,
      })
    return err.isRefusal
      ? new AppError('upstream_failed', REFUSED, { cause: err })
      : new AppError('unavailable', 'The chat model does not answer. Try again later.', { cause: err })
  }

  return {
    async list(tenantId, filter, page) {
      const { sessionId, agentVersionId } = filter
      if ([sessionId, agentVersionId].some((id) => id !== undefined && !isUuid(id)))
        return { rows: [], nextCursor: null }
      const { rows, limit } = await listEvaluations(db, tenantId, filter, page)
      return toPage(rows, limit, (row) => ({ createdAt: row.created_at, id: row.id }))
    },
    async record(tenantId, sessionId, { score, criteria, summary }) {
      const conversation = await ended(tenantId, sessionId)
      const tenant = await knownTenant(tenants, tenantId)
      const { agentId } = await findJudged(tenant, conversation.session)
      const verdict = {
        score: asScore(score),
        criteria: criteria.map((each) => ({
          ...{ name: storable(each.name), score: asScore(each.score) },
          reason: each.reason && storable(each.reason),
        })),
        summary: summary && storable(summary),
      }
      return keep(tenant, conversation, { source: 'human', verdict, agentId })
    },
    async score(tenantId, sessionId) {
      if (!model)
        throw notSetUp(
          "No chat model is configured: set OPENAI_API_KEY, and OPENAI_BASE_URL where the realtime model is not OpenAI's.",
        )
      return waiting.counted(tenantId, () => scoreNow(tenantId, sessionId, model))
    },
  }
}

function unknownSession(): AppError {
  return new AppError('not_found', 'There is no such voice session.')
}

export function lowerFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}

/** Counts who waits for the model. */
class Waiting {
  readonly #byTenant = new Map<TenantId, number>()
  #all = 0

  /** @throws AppError `rate_limited` when there are as many as there may be. */
  async counted<T>(tenantId: TenantId, work: () => Promise<T>): Promise<T> {
    const own = this.#byTenant.get(tenantId) ?? 0
    if (own >= MAX_WAITING_OF_TENANT || this.#all >= MAX_WAITING) {
      throw new AppError(
        'rate_limited',
        'Too many sessions wait for the chat model: send it again once one is scored.',
        {
          headers: { 'retry-after': '5' },
        },
      )
    }
    this.#add(tenantId, 1)
    return work().finally(() => this.#add(tenantId, -1))
  }

  #add(tenantId: TenantId, count: number): void {
    this.#all += count
    const own = (this.#byTenant.get(tenantId) ?? 0) + count
    if (own === 0) this.#byTenant.delete(tenantId)
    else this.#byTenant.set(tenantId, own)
  }
}
