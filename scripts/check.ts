// Everything that is checked without running the product: `npm run check`. Prints a line for each step, all that a
// failing one says, and the longest files and functions; ends with code 1 when a step failed.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkFloors } from './check/floors.ts'
import { missingPackages } from './check/lockfile.ts'
import { type Extent, longestFiles, longestFunctions } from './check/longest.ts'
import { isForTests } from './check/paths.ts'
import type { Source } from './check/source.ts'
import { inspection, program, runSteps, type Step, type StepResult } from './check/step.ts'
import { readTree } from './check/tree.ts'
import { describeViolation } from './check/violation.ts'

const ROOT = join(import.meta.dirname, '..')
const LONGEST = 5
/** As many as the smallest machine that we build on has cores. */
const AT_ONCE = 2

/** Generators whose output is committed: each is run with `--check`, and fails when what it would write differs. */
const GENERATED = [
  { name: 'docs in step with settings, events and interface', script: 'scripts/docs.ts' },
  { name: 'types of the API in step with the service', script: 'scripts/client-types.ts' },
]

/** Reads the sources when they are first asked for, and once: to parse them takes seconds. */
function readOnce(): () => Source[] {
  let sources: Source[] | undefined
  return () => {
    sources ??= readTree(ROOT)
    return sources
  }
}

const tree = readOnce()

function lockfileComplaints(): string[] {
  const lockfile = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const missing = Object.keys(missingPackages(lockfile))
  if (missing.length === 0) return []
  return [...missing.map((place) => `missing: ${place}`), 'Run: node scripts/run.mjs scripts/complete-lockfile.ts']
}

/** The slow ones first, so that the last to end is not one that began last. */
const STEPS: Step[] = [
  program('types (tsc)', 'tsc', ['--noEmit', '-p', '.']),
  program('types of the dashboard (tsc)', 'tsc', ['--noEmit', '-p', 'dashboard']),
  program('lint (oxlint, with types)', 'oxlint', ['--type-aware', '--deny-warnings']),
  program('format and lint (biome)', 'biome', ['ci', '--error-on-warnings', '--colors=off', '.']),
  program('dead code (knip)', 'knip', ['--no-progress']),
  inspection('floors', () => checkFloors(tree()).map(describeViolation)),
  inspection('lockfile', lockfileComplaints),
  ...GENERATED.map(({ name, script }) => program(name, script, ['--check'])),
]

function tell({ name, ok, output, durationMs }: StepResult): void {
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name} (${(durationMs / 1000).toFixed(1)} s)`)
  if (!ok) console.log(output.trimEnd())
}

function tellLongest(title: string, extents: Extent[], place: (extent: Extent) => string): void {
  console.log(`\n${title}`)
  for (const extent of extents) console.log(`${String(extent.lines).padStart(5)}  ${place(extent)}`)
}

function tellSizes(): void {
  const sources = tree()
  const [tests, code] = [
    sources.filter(({ path }) => isForTests(path)),
    sources.filter(({ path }) => !isForTests(path)),
  ]
  const functions = longestFunctions(code, LONGEST)
  tellLongest('Longest files', longestFiles(code, LONGEST), ({ file }) => file)
  tellLongest('Longest test files', longestFiles(tests, LONGEST), ({ file }) => file)
  tellLongest('Longest functions', functions, ({ name, file, line }) => `${name}  ${file}:${line}`)
}

const results = await runSteps(STEPS, AT_ONCE, tell)
tellSizes()
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1
