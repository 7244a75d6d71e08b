import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { appendFileSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'

/**
 * A setup file of every test run, which does nothing without PARLEY_BROKEN_ROUTES: a folder with a plan of which routes are to
 * fail while which test runs. A test that is in the plan is run once for each of its routes, with that one broken, and has to
 * fail each time; then once with none, and has to pass. What came of it is written beside the plan.
 */

/** By file and name of a test, the routes to be broken, one after another. */
export type BreakingPlan = Record<string, Record<string, string[]>>

/** A run of a test; `route` is null when nothing was broken. `asked` is how often the broken route was. */
export type BrokenRun = { file: string; test: string; route: string | null; asked: number; isRed: boolean }

const ROOT = join(import.meta.dirname, '../../..')
const folder = process.env['PARLEY_BROKEN_ROUTES']

if (folder !== undefined) breakRoutes(folder)

function breakRoutes(from: string): void {
  const plan = JSON.parse(readFileSync(join(from, 'plan.json'), 'utf8')) as BreakingPlan
  /** By the id of a test, the routes of which it has shown whether it notices. */
  const done = new Map<string, number>()
  let broken: string | null = null
  let asked = 0

  // Of every server that is made from now on. Credentials and shapes are looked at before, so that a test which only shows
  // refusals does not notice.
  const breakServer = (message: unknown): void => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('preHandler', async ({ method, routeOptions }) => {
      if (broken === null || `${method} ${routeOptions.url}` !== broken) return
      asked += 1
      throw new Error('broken, to see who notices')
    })
  }
  beforeAll(() => subscribe('fastify.initialization', breakServer))
  afterAll(() => void unsubscribe('fastify.initialization', breakServer))

  const planned = (file: string, test: string) => plan[relative(ROOT, file)]?.[test]

  beforeEach(({ task }) => {
    asked = 0
    broken = planned(task.file.filepath, task.name)?.[done.get(task.id) ?? 0] ?? null
  })

  afterEach(({ task }) => {
    const { filepath } = task.file
    if (!planned(filepath, task.name)) return
    const route = broken
    broken = null
    const isRed = task.result?.state === 'fail'
    const run: BrokenRun = { file: relative(ROOT, filepath), test: task.name, route, asked, isRed }
    appendFileSync(join(from, 'runs.jsonl'), `${JSON.stringify(run)}\n`)
    // What fails before it asks has shown nothing: again.
    if (asked > 0 || !isRed) done.set(task.id, (done.get(task.id) ?? 0) + 1)
    // So that the next run comes.
    if (route !== null && !isRed) throw new Error(`passes without ${route}`)
  })
}
