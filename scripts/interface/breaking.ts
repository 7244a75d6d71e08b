import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BreakingPlan, BrokenRun } from '../../service/test/interface/broken-routes.ts'
import type { EndpointRow, Proof } from '../../service/test/interface/row.ts'

/** What became of a row whose route was broken. */
export type RowVerdict = 'noticed' | 'stays green' | 'never asks' | 'fails anyway' | 'not run'

type Proven = EndpointRow & { proof: Proof }

const proven = (rows: EndpointRow[]): Proven[] => rows.filter((row): row is Proven => row.proof !== null)

/** The routes that each test has to notice, one after another. */
export function planOf(rows: EndpointRow[]): BreakingPlan {
  const plan: BreakingPlan = {}
  for (const { name, proof } of proven(rows)) {
    plan[proof.file] ??= {}
    const tests = plan[proof.file] ?? {}
    tests[proof.test] = [...(tests[proof.test] ?? []), name]
  }
  return plan
}

/** For tests that fail for want of time before they have shown anything. */
const SPARE_RUNS = 3

/** What vitest is told: the files of the plan, their tests by name, and to repeat each as often as it has routes. */
export function argumentsOf(plan: BreakingPlan): string[] {
  const tests = Object.values(plan).flatMap((each) => Object.entries(each))
  const names = tests.map(([name]) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  const most = Math.max(...tests.map(([, routes]) => routes.length))
  return [
    ...Object.keys(plan),
    // A process for each file: what a test leaves behind that failed is not to meet another one.
    ...['--project', 'unit', '--project', 'embedded', '--isolate', '--retry', String(most + SPARE_RUNS)],
    ...['--testNamePattern', `(^| )(${names.join('|')})$`],
  ]
}

/** Makes a folder for the tests to read their plan from and write what came of it to. */
export function prepareFolder(parent: string, plan: BreakingPlan): string {
  const folder = join(parent, 'broken-routes')
  mkdirSync(folder)
  writeFileSync(join(folder, 'plan.json'), JSON.stringify(plan))
  return folder
}

/** What the tests wrote down. */
export function runsIn(folder: string): BrokenRun[] {
  const path = join(folder, 'runs.jsonl')
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as BrokenRun)
}

/**
 * What became of a row: its test noticed when it failed with the route broken, and had asked for that route; and passed, in the
 * end, with nothing broken.
 */
export function verdictOf({ name, proof }: EndpointRow, runs: BrokenRun[]): RowVerdict {
  const own = runs.filter(({ file, test }) => file === proof?.file && test === proof.test)
  const broken = own.filter(({ route }) => route === name)
  if (broken.length === 0) return 'not run'
  if (broken.some(({ isRed }) => !isRed)) return 'stays green'
  if (broken.every(({ asked }) => asked === 0)) return 'never asks'
  return own.some(({ route, isRed }) => route === null && !isRed) ? 'noticed' : 'fails anyway'
}
