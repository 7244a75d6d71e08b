import type { Clock } from './kernel/clock.ts'
import type { Database } from './platform/db/schema.ts'
import type { Log } from './platform/log.ts'
import { listBusyTenants } from './records/call-owner-store.ts'
import { makeSchedule, type Schedule } from './schedule.ts'
import { analyzeTable, listTables, type VacuumedTable, vacuumTable } from './vacuum-store.ts'

type Deps = {
  database: Pick<Database, 'db' | 'kind' | 'isIdle' | 'ping'>
  log: Pick<Log, 'warn'>
  /** Whether the service stops: then nothing more is begun. */
  isStopping: () => boolean
}

/** What a table may have for its vacuum to be short: 256 MiB take some tenths of a second, on a busy machine a second or two. */
export type VacuumLimits = { besideCallsBytes: number; mostBytes: number }

const EVERY_MS = 600_000
const LIMITS: VacuumLimits = { besideCallsBytes: 268_435_456, mostBytes: 2_147_483_648 }
/** How often a moment is looked for in which nobody else asks for anything. */
const TRIES = 50
/** For the turn of one who looks. */
const PATIENCE_MS = 1_000
/** The share of its rows by which a table is another one, for whoever makes plans. */
const CHANGED_SHARE = 0.1

/**
 * Vacuums a database that is inside this process every ten minutes, because there its own autovacuum does not run; a server does it by
 * itself.
 */
export function startVacuuming(deps: Deps & { clock: Clock; chance: () => number }): Schedule {
  const { database, clock, log, chance } = deps
  const work = [{ name: 'vacuum', hasEndpoint: false, run: makeVacuum(deps) }]
  const schedule = makeSchedule({
    clock,
    log,
    chance,
    intervalMs: EVERY_MS,
    rareMs: EVERY_MS,
    work: database.kind === 'server' ? [] : work,
  })
  schedule.start()
  return schedule
}

/**
 * Vacuums each table by itself, because nothing else is done meanwhile: in a moment in which nobody asks for anything, a bigger one only while
 * no call goes on, and none that might come near the time at which a statement ends the database. Without such a moment a table
 * waits for the next time.
 */
export function makeVacuum({ database, log, isStopping }: Deps, limits = LIMITS): () => Promise<void> {
  const { db } = database
  /** How many rows a table had when it was analyzed. */
  const analyzed = new Map<string, number>()
  const told = new Set<string>()

  /** Asks in its turn: whoever stood in the line before has had theirs then. */
  async function isQuiet(): Promise<boolean> {
    for (let tries = 0; tries < TRIES && !isStopping(); tries += 1) {
      const answers = await database.ping(PATIENCE_MS).then(
        () => true,
        () => false,
      )
      if (!answers || database.isIdle()) return answers
    }
    return false
  }

  async function mayBegin({ name, bytes }: VacuumedTable): Promise<boolean> {
    if (bytes > limits.mostBytes) {
      if (!told.has(name))
        log.warn({ table: name, bytes }, 'a table is too big to be vacuumed: use a PostgreSQL server')
      told.add(name)
      return false
    }
    if (bytes > limits.besideCallsBytes && (await listBusyTenants(db)).length > 0) return false
    return isQuiet()
  }

  return async () => {
    for (const table of await listTables(db)) {
      if (!(await mayBegin(table))) continue
      await vacuumTable(db, table)
      const before = analyzed.get(table.name)
      if (before !== undefined && Math.abs(table.rows - before) <= before * CHANGED_SHARE) continue
      if (!(await isQuiet())) continue
      await analyzeTable(db, table)
      analyzed.set(table.name, table.rows)
    }
  }
}
