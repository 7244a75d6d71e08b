import { randomBytes } from 'node:crypto'
import { CompiledQuery } from 'kysely'
import pg from 'pg'
import { encodeParameter } from '../../src/platform/db/parameters.ts'
import { isPrepared } from '../../src/platform/db/prepared.ts'
import type { Db, Tx } from '../../src/platform/db/schema.ts'

/**
 * How the database did what was asked of it: which steps and indexes it took, how much of its tables it looked at, how many
 * of their rows it went on with, and how many rows, and pairs of rows, it compared with what it looked for in vain.
 */
export type QueryPlan = { nodes: Set<string>; indexes: Set<string>; blocks: number; rows: number; inVain: number }

type Node = {
  'Node Type': string
  'Index Name'?: string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: Node[]
}

/**
 * Does `work`, and then each of its queries once more to see how: what those write is undone. Steps that a plan has and that were
 * not taken are left out.
 */
export async function plansOf(db: Db, work: (db: Db) => Promise<unknown>): Promise<QueryPlan[]> {
  const seen: CompiledQuery[] = []
  const watched = db.withPlugin({
    transformQuery: ({ node, queryId }) => {
      seen.push(db.getExecutor().compileQuery(node, queryId))
      return node
    },
    transformResult: async ({ result }) => result,
  })
  await work(watched)
  const plans: QueryPlan[] = []
  for (const query of seen) plans.push(await explained(db, query))
  return plans
}

async function explained(db: Db, query: CompiledQuery): Promise<QueryPlan> {
  const undone = await db.startTransaction().execute()
  try {
    const asked = isPrepared(query.sql) ? await preparedFor(undone, query) : query
    const explain = CompiledQuery.raw(`explain (analyze, buffers, format json) ${asked.sql}`, [...asked.parameters])
    const { rows } = await undone.executeQuery<{ 'QUERY PLAN': [{ Plan: Node }] }>(explain)
    const plan = rows[0]?.['QUERY PLAN'][0].Plan
    if (!plan) throw new Error('there is no plan')
    const taken = nodesOf(plan).filter((node) => node['Actual Loops'] > 0)
    return {
      nodes: new Set(taken.map((node) => node['Node Type'])),
      indexes: new Set(taken.flatMap((node) => node['Index Name'] ?? [])),
      rows: taken.reduce((sum, node) => sum + rowsOf(node), 0),
      inVain: taken.reduce((sum, node) => sum + inVainOf(node), 0),
      blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
    }
  } finally {
    await undone.rollback().execute()
  }
}

/** A prepared statement is done by the plan that it has come to after a while, which knows none of its values. */
async function preparedFor(
  tx: Tx,
  { sql, parameters }: CompiledQuery,
): Promise<Pick<CompiledQuery, 'sql' | 'parameters'>> {
  await tx.executeQuery(CompiledQuery.raw('set local plan_cache_mode = force_generic_plan'))
  const name = `explained_${randomBytes(6).toString('hex')}`
  await tx.executeQuery(CompiledQuery.raw(`prepare ${name} as ${sql}`))
  const values = parameters.map((value) => {
    const text = encodeParameter(value)
    return text === null ? 'null' : pg.escapeLiteral(text)
  })
  return { sql: `execute ${name}(${values.join(', ')})`, parameters: [] }
}

function rowsOf(node: Node): number {
  return node['Relation Name'] === undefined ? 0 : node['Actual Rows'] * node['Actual Loops']
}

function inVainOf(node: Node): number {
  return ((node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0)) * node['Actual Loops']
}

function nodesOf(node: Node): Node[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}
