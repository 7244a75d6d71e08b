import { sql } from 'kysely'
import { isDiskFull, isUnavailable } from './errors.ts'
import type { Db } from './schema.ts'

/** A quarter of a megabyte, which no page that is there already has room for. */
const ROWS = 130

/**
 * Whether the disk of the database was full when something was written last. Only what was refused tells it: reading goes on, and so does
 * a heartbeat, whose row is written over in place.
 */
export class FullDisk {
  #isFull = false

  /** To be told of whatever the database answers with an error. */
  saw(error: unknown): void {
    if (isDiskFull(error)) this.#isFull = true
  }

  /** Once something was refused for want of room, tries each time whether there is some again. @throws AppError `unavailable`. */
  async expectRoom(db: Db): Promise<void> {
    if (!this.#isFull) return
    try {
      await takeRoom(db)
    } catch (error) {
      if (isUnavailable(error)) throw error
      // A role that may make no tables of its own learns it from what it writes next.
    }
    this.#isFull = false
  }
}

async function takeRoom(db: Db): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`create temporary table room (filling text) on commit drop`.execute(tx)
    await sql`insert into room select repeat(md5(n::text), 60) from generate_series(1, ${sql.lit(ROWS)}) as n`.execute(
      tx,
    )
  })
}
