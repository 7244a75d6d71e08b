import { parseArgs } from 'node:util'
import { type ApiPlan, FULL, PARTS, type Part, QUICK, USUAL_PARTS } from './plan.ts'

/** What the command line asks for. */
export type ApiOptions = {
  plan: ApiPlan
  parts: readonly Part[]
  /** A goal that is missed is a failure. */
  check: boolean
  realtime: boolean
  writeDocs: boolean
  machine: string | undefined
  jsonFile: string | undefined
  profileFolder: string | undefined
  help: boolean
}

/** What `--help` prints. */
export const API_USAGE = `npm run bench:api -- [options]

  --check             exit with 1 when a goal is missed
  --quick             a look: 50,000 call logs and 10,000 deliveries in place of 1,000,000 and 100,000
  --rows <n>          so many call logs
  --only a,b          only these: lists, filters, rings, outbox; or analytics, which is left out otherwise
  --calls <n>         for analytics: so many calls of a tenant in place of 10,000,000 (--quick: 200,000)
  --realtime          real-time priority while calls ring, for all that takes part (as root)
  --profile <folder>  CPU profiles of the service, one for each of its processes
  --json <file>       everything that was measured, as JSON
  --write-docs        put the table of a full run into docs/performance.md
  --machine <words>   what to call this machine there

Exit code: 0, or 2 when the run is void, or 1 when it could not run or, with --check, when a goal was missed.`

/** Reads the command line. @throws Error with a sentence for the user when it makes no sense. */
export function parseApiOptions(args: string[]): ApiOptions {
  const { values } = parseArgs({
    args,
    options: {
      check: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      rows: { type: 'string' },
      calls: { type: 'string' },
      only: { type: 'string' },
      realtime: { type: 'boolean', default: false },
      profile: { type: 'string' },
      json: { type: 'string' },
      'write-docs': { type: 'boolean', default: false },
      machine: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  const { check, quick, realtime, machine, help } = values
  const usual = quick ? QUICK : FULL
  const rows = values.rows === undefined ? usual.rows : rowsOf('rows', values.rows)
  const analyticsCalls = values.calls === undefined ? usual.analyticsCalls : rowsOf('calls', values.calls)
  const parts = values.only === undefined ? USUAL_PARTS : partsOf(values.only)
  const isWhole = rows === FULL.rows && !quick && USUAL_PARTS.every((part) => parts.includes(part))
  if (values['write-docs'] && !isWhole) throw new Error('--write-docs: only of a full run')
  return {
    plan: { ...usual, rows, analyticsCalls },
    ...{ parts, check, realtime, machine, help },
    writeDocs: values['write-docs'],
    jsonFile: values.json,
    profileFolder: values.profile,
  }
}

/** Less would leave no page of its own to tenants in the middle. */
const ROWS_MIN = 20_000

function rowsOf(name: string, text: string): number {
  const rows = Number(text)
  if (!Number.isInteger(rows) || rows < ROWS_MIN)
    throw new Error(`--${name} ${text}: not a whole number from ${ROWS_MIN}`)
  return rows
}

function partsOf(text: string): Part[] {
  return text.split(',').map((name) => {
    const part = PARTS.find((one) => one === name)
    if (part === undefined) throw new Error(`--only ${name}: there are ${PARTS.join(', ')}`)
    return part
  })
}
