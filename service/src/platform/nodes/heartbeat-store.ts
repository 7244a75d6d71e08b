import { type Generated, sql } from 'kysely'
import type { NodeId } from '../../kernel/ids.ts'
import type { Db } from '../db/schema.ts'

declare module '../db/schema.ts' {
  interface Schema {
    nodes: {
      node_id: NodeId
      started_at: Generated<Date>
      heartbeat_at: Generated<Date>
      version: string
      /** It ends its calls and takes no more. */
      stopping: Generated<boolean>
      /** It brings calls back that lost their stream; an earlier version does not say so. */
      resumes: Generated<boolean>
    }
  }
}

/** More than an installation has. */
const MAX_NODES = 1_000

const databaseTime = sql<Date>`clock_timestamp()`

/** Says that the node is alive, by the database's clock: the clocks of the nodes need not agree. Returns what that clock says. */
export async function beat(db: Db, nodeId: NodeId, version: string): Promise<Date> {
  const { at } = await db
    .insertInto('nodes')
    .values({ node_id: nodeId, version, resumes: true })
    .onConflict((conflict) => conflict.column('node_id').doUpdateSet({ heartbeat_at: sql`now()` }))
    .returning(databaseTime.as('at'))
    .executeTakeFirstOrThrow()
  return at
}

/** What the database's clock says, in ms since the epoch. */
export async function askTime(db: Db): Promise<number> {
  const { at } = await db.selectNoFrom(databaseTime.as('at')).executeTakeFirstOrThrow()
  return at.getTime()
}

/** Says that the node has stopped. Repeating it changes nothing. */
export async function removeNode(db: Db, nodeId: NodeId): Promise<void> {
  await db.deleteFrom('nodes').where('node_id', '=', nodeId).execute()
}

/** Says that the node ends its calls and takes no more. Repeating it changes nothing. */
export async function saysStopping(db: Db, nodeId: NodeId): Promise<void> {
  await db.updateTable('nodes').set({ stopping: true }).where('node_id', '=', nodeId).execute()
}

/** Whether another node takes calls that lost their stream: it was heard from within the last `withinMs`, and does not stop. */
export async function hasHeir(db: Db, nodeId: NodeId, withinMs: number): Promise<boolean> {
  const heir = await resumers(db, withinMs).where('node_id', '<>', nodeId).executeTakeFirst()
  return heir !== undefined
}

/** Whether any node takes them, this one or another. */
export async function hasResumer(db: Db, withinMs: number): Promise<boolean> {
  return (await resumers(db, withinMs).executeTakeFirst()) !== undefined
}

/** Whether the node was heard from within the last `withinMs`. */
export async function isLive(db: Db, nodeId: NodeId, withinMs: number): Promise<boolean> {
  const query = db.selectFrom('nodes').select('node_id').where('node_id', '=', nodeId).where(isHeardFrom(withinMs))
  return (await query.executeTakeFirst()) !== undefined
}

function resumers(db: Db, withinMs: number) {
  return db
    .selectFrom('nodes')
    .select('node_id')
    .where('stopping', '=', false)
    .where('resumes', '=', true)
    .where(isHeardFrom(withinMs))
    .limit(1)
}

/**
 * For a query that has `nodes`: whether the node was heard from within the last `withinMs`. What it wrote before the clock was put back,
 * and did not write anew since, is no sign of life for as long as it seems to be in the future.
 */
export function isHeardFrom(withinMs: number) {
  return sql<boolean>`nodes.heartbeat_at >= ${ago(withinMs)} and ${isOfThisClock}`
}

/** A beat is ahead of whoever reads it in a transaction that began before it; by no minute. */
const isOfThisClock = sql<boolean>`nodes.heartbeat_at <= ${ago(-60_000)}`

/** Forgets the nodes that were not heard from for `silentMs`. */
export async function pruneNodes(db: Db, silentMs: number): Promise<void> {
  await db.deleteFrom('nodes').where('heartbeat_at', '<', ago(silentMs)).execute()
}

/** The nodes that were heard from within the last `withinMs`, oldest first; at most 1,000. */
export async function liveNodes(db: Db, withinMs: number): Promise<NodeId[]> {
  const rows = await db
    .selectFrom('nodes')
    .select('node_id')
    .where(isHeardFrom(withinMs))
    .orderBy('started_at')
    .orderBy('node_id')
    .limit(MAX_NODES)
    .execute()
  return rows.map(({ node_id }) => node_id)
}

/**
 * How many nodes were heard from within `withinMs` before the last that was: all of them, where the database takes nobody's heartbeat.
 */
export async function countNodes(db: Db, withinMs: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from nodes
     where ${isOfThisClock}
       and heartbeat_at >= (select max(heartbeat_at) from nodes where ${isOfThisClock})
                           - ${withinMs} * interval '1 millisecond'`.execute(db)
  return rows[0]?.count ?? 0
}

function ago(ms: number) {
  return sql<Date>`now() - ${ms} * interval '1 millisecond'`
}
