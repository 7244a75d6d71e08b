import { type ColumnType, sql } from 'kysely'
import type { AgentId, AgentVersionId, TenantId } from '../../kernel/ids.ts'
import type { PageRequest } from '../../kernel/pages.ts'
import { type FittingRows, fittingRows } from '../../platform/db/fitting-rows.ts'
import { newestFirst } from '../../platform/db/newest-first.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { SessionId } from '../call-values.ts'

/** Who says so: the chat model, a person, or the records alone. */
export const EVALUATION_SOURCES = ['model', 'human', 'heuristic'] as const
export type EvaluationSource = (typeof EVALUATION_SOURCES)[number]

/** From this score on a conversation is of high quality. */
export const HIGH_QUALITY = 0.8

/** How good a conversation was in one respect, from 0 to 1, and why. */
export type CriterionScore = { name: string; score: number; reason: string | null }

/** How good a conversation was. A score has four decimals at most. */
export type EvaluationRow = {
  tenant_id: TenantId
  id: string
  session_id: SessionId
  /** That of the session. */
  session_ended_at: Date
  agent_id: AgentId | null
  agent_key: string | null
  agent_version_id: AgentVersionId | null
  source: EvaluationSource
  score: number
  criteria: CriterionScore[]
  summary: string | null
  created_at: Date
}

declare module '../../platform/db/schema.ts' {
  interface Schema {
    evaluations: Omit<EvaluationRow, 'score' | 'criteria'> & {
      /** Read as text: four decimals, exact. */
      score: ColumnType<string, number, never>
      /** Written as text: a driver would take a list for one of the database's own. */
      criteria: ColumnType<CriterionScore[], string, never>
    }
  }
}

/** What evaluations can be looked for by. What is undefined is not asked. */
export type EvaluationFilter = {
  sessionId?: SessionId | undefined
  agentKey?: string | undefined
  agentVersionId?: AgentVersionId | undefined
  source?: EvaluationSource | undefined
  /** Of `created_at`, inclusive. */
  after?: Date | undefined
  /** Of `created_at`, exclusive. */
  before?: Date | undefined
}

function evaluationsOf(db: Db, tenantId: TenantId) {
  return db
    .selectFrom('evaluations')
    .select(['tenant_id', 'id', 'session_id', 'session_ended_at', 'agent_id', 'agent_key', 'agent_version_id'])
    .select(['source', 'criteria', 'summary', 'created_at'])
    .select(sql<number>`score::float8`.as('score'))
    .where('tenant_id', '=', tenantId)
}

/** Adds an evaluation. Where it is one of the records, and the session has one of these already, that one stays. */
export async function insertEvaluation(tx: Tx, evaluation: EvaluationRow): Promise<void> {
  await tx
    .insertInto('evaluations')
    .values({ ...evaluation, criteria: JSON.stringify(evaluation.criteria) })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'session_id']).where('source', '=', 'heuristic').doNothing(),
    )
    .execute()
}

/** A page of the tenant's evaluations, newest first. */
export async function listEvaluations(
  db: Db,
  tenantId: TenantId,
  filter: EvaluationFilter,
  page: PageRequest,
): Promise<FittingRows<EvaluationRow>> {
  const { sessionId, agentKey, agentVersionId, source, after, before } = filter
  const query = evaluationsOf(db, tenantId)
    .$if(sessionId !== undefined, (query) => query.where('session_id', '=', sessionId as SessionId))
    .$if(agentKey !== undefined, (query) => query.where('agent_key', '=', agentKey as string))
    .$if(agentVersionId !== undefined, (query) =>
      query.where('agent_version_id', '=', agentVersionId as AgentVersionId),
    )
    .$if(source !== undefined, (query) => query.where('source', '=', source as EvaluationSource))
    .$if(after !== undefined, (query) => query.where('created_at', '>=', after as Date))
    .$if(before !== undefined, (query) => query.where('created_at', '<', before as Date))
    .$call(newestFirst('evaluations', page))
  return fittingRows(db, query, ['criteria', 'summary'], page.limit)
}

/** The evaluation of a session that counts: a person's newest, else the model's newest; null when it has neither. */
export async function findDecisive(db: Db, tenantId: TenantId, sessionId: SessionId): Promise<EvaluationRow | null> {
  const row = await evaluationsOf(db, tenantId)
    .where('session_id', '=', sessionId)
    .where('source', '<>', 'heuristic')
    .orderBy(sql`source = 'human'`, 'desc')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ?? null
}

/** What was said last of a session in sum: by a person, else by a model; null when nobody has said anything. */
export async function findSummary(db: Db, tenantId: TenantId, sessionId: SessionId): Promise<string | null> {
  const row = await evaluationsOf(db, tenantId)
    .where('session_id', '=', sessionId)
    .where('source', '<>', 'heuristic')
    .where('summary', 'is not', null)
    .orderBy(sql`source = 'human'`, 'desc')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.summary ?? null
}

/** Whether a model has scored the session. */
export async function hasEvaluationOfModel(db: Db, tenantId: TenantId, sessionId: SessionId): Promise<boolean> {
  const row = await db
    .selectFrom('evaluations')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .where('source', '=', 'model')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** What the sessions of a version were worth; both figures have four decimals at most. */
export type VersionScores = { eval_count: number; avg_score: number; high_quality_rate: number }

/**
 * `begunSince`: sessions that began before do not count; null: whenever they began. `isTried`: of who talked to it in a browser, nobody
 * counts: they have named it.
 */
type ScoredVersion = { id: AgentVersionId; begunSince: Date | null; isTried: boolean }

/**
 * What the sessions of these versions that ended since then were worth, by what counts of each. A version without any is not
 * among them. Scores are exact decimals, so the figures do not depend on the order in which they came.
 */
export async function scoresOfVersions(
  db: Db,
  tenantId: TenantId,
  { versions, since }: { versions: ScoredVersion[]; since: Date },
): Promise<Map<AgentVersionId, VersionScores>> {
  const { rows } = await sql<VersionScores & { agent_version_id: AgentVersionId }>`
    with decisive as (
      select distinct on (session_id) agent_version_id, score
        from unnest(${versions.map(({ id }) => id)}::uuid[],
                    ${versions.map(({ begunSince }) => begunSince)}::timestamptz[],
                    ${versions.map(({ isTried }) => isTried)}::boolean[]) as version (version_id, begun_since, is_tried)
        join evaluations on tenant_id = ${tenantId} and agent_version_id = version_id
         and session_ended_at >= ${since} and source <> 'heuristic'
       where (begun_since is null
              or exists (select 1 from voice_sessions session
                          where session.tenant_id = ${tenantId} and session.id = session_id and session.created_at >= begun_since))
         and not (is_tried
                  and exists (select 1 from voice_sessions session
                               where session.tenant_id = ${tenantId} and session.id = session_id and session.direction = 'browser'))
       order by session_id, source = 'human' desc, created_at desc, id desc)
    select agent_version_id, count(*)::integer as eval_count, round(avg(score), 4)::float8 as avg_score,
           round(avg((score >= ${HIGH_QUALITY}::numeric)::integer), 4)::float8 as high_quality_rate
      from decisive
     group by agent_version_id`.execute(db)
  return new Map(rows.map(({ agent_version_id, ...scores }) => [agent_version_id, scores]))
}
