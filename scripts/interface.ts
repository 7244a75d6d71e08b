// The interface, row by row: `npm run interface` prints what is there and what is open; with --check it compares the rows with the
// router, the descriptions and the tests, and runs each endpoint's test with that endpoint broken, which the test has to notice.
// Ends with code 1 on any fault.
import type { EndpointRow, Row } from '../service/test/interface/row.ts'
import { ENDPOINT_ROWS, ROWS } from '../service/test/interface/rows.ts'
import { argumentsOf, planOf, prepareFolder, type RowVerdict, runsIn, verdictOf } from './interface/breaking.ts'
import { makeRunFolder, sweepAbandonedRuns } from './needs/run-folder.ts'
import { runVitest } from './testing/vitest.ts'

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort(signal))

type Checked = { isListed: boolean; verdicts: Map<Row, RowVerdict> }

async function check(): Promise<Checked> {
  sweepAbandonedRuns()
  const folder = makeRunFolder()
  const plan = planOf(ENDPOINT_ROWS)
  const broken = prepareFolder(folder.path, plan)
  const vitest = (args: string[], env: NodeJS.ProcessEnv) =>
    runVitest({ folder, args, env: { ...process.env, TMPDIR: `${folder.path}/tmp`, ...env }, signal: stopping.signal })
  try {
    const listed = await vitest(['service/test/interface', '--project', 'unit'], {})
    await vitest(argumentsOf(plan), { PARLEY_BROKEN_ROUTES: broken })
    const runs = runsIn(broken)
    const there = ENDPOINT_ROWS.filter(({ proof }) => proof !== null)
    return {
      isListed: listed.exitCode === 0,
      verdicts: new Map(there.map((row): [EndpointRow, RowVerdict] => [row, verdictOf(row, runs)])),
    }
  } finally {
    folder.remove()
  }
}

function tell(row: Row, verdict: RowVerdict | undefined): void {
  const state = row.proof === null ? 'open' : (verdict ?? 'there')
  console.log(`${state.padEnd(12)} ${row.name}${row.proof ? ` — ${row.proof.file} › ${row.proof.test}` : ''}`)
}

const { isListed, verdicts } = process.argv.includes('--check')
  ? await check()
  : { isListed: true, verdicts: new Map<Row, RowVerdict>() }
for (const row of ROWS) tell(row, verdicts.get(row))
const open = ROWS.filter(({ proof }) => proof === null).length
const noticed = [...verdicts.values()].filter((verdict) => verdict === 'noticed').length
if (!isListed)
  console.log('The rows are not what the service says of itself, or name tests that there are not: see above.')
const broken = verdicts.size > 0 ? `, broken routes noticed ${noticed} of ${verdicts.size}` : ''
console.log(`rows ${ROWS.length}, there ${ROWS.length - open}, open ${open}${broken}`)
process.exitCode = isListed && noticed === verdicts.size && !stopping.signal.aborted ? 0 : 1
