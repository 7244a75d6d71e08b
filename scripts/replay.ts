// Runs a voice session again from its event log: `npm run replay -- <voice session id>`.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unpackChunks } from '../service/src/voice/event-log/chunks.ts'
import { type EventLog, readLines } from '../service/src/voice/event-log/lines.ts'
import { type Replay, replay } from '../service/src/voice/event-log/replay.ts'
import { readArguments, UsageError } from './live/options.ts'
import { EXIT, readSurroundings, runProgram } from './live/program.ts'

const USAGE = `npm run replay -- <voice session id> [--show]

Runs what happened in a session through the session's own rules as they are now, and looks whether the same follows from
it: every command, timer, turn of the record, and the end. Reads DATA_DIR/event-logs; the service may be running.

  --show   also prints every event, with what followed

Exit code: 0 when nothing differs, 1 when something does (the first difference is shown) or there is no log, 2 for a
command line that makes no sense.
`

const OPTIONS = {
  show: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false, short: 'h' },
} as const

type Part = { name: string; log: EventLog }
type Say = (line: string) => void

/** The logs of a session, one for each node or stream that began anew with its call, in their order. */
async function readParts(folder: string, sessionId: string): Promise<Part[]> {
  const tenants = await readdir(folder).catch(() => [])
  const parts: Part[] = []
  for (const tenant of tenants) {
    const names = await readdir(join(folder, tenant, sessionId)).catch(() => [])
    for (const name of names.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))) {
      const bytes = await readFile(join(folder, tenant, sessionId, name))
      parts.push({ name, log: readLines(unpackChunks(bytes)) })
    }
  }
  return parts
}

function tell({ name, log }: Part, { steps, difference, endedBy }: Replay, say: Say): void {
  const { head, isWhole } = log
  const cut = isWhole ? '' : ', which is all that was written of it'
  say(`${name}: ${steps} events of version ${head.version}${cut}`)
  if (!difference) return say(`  the same follows; ended by ${endedBy ?? 'nothing yet'}`)
  const { index, step, now } = difference
  say(`  event ${index + 1}, ${((step.atUs - head.startUs) / 1_000).toFixed(3)} ms after the start, has other effects:`)
  say(`  event ${JSON.stringify(step.event)}`)
  say(`  then  ${step.sketch || '(nothing)'}`)
  say(`  now   ${now || '(nothing)'}`)
}

function show({ head, steps }: EventLog, say: Say): void {
  for (const { atUs, event, sketch } of steps)
    say(`${((atUs - head.startUs) / 1_000).toFixed(3).padStart(12)}  ${JSON.stringify(event)}  →  ${sketch}`)
}

await runProgram(async () => {
  const { values, positionals } = readArguments(OPTIONS)
  const { config, say, complain } = readSurroundings()
  if (values.help) {
    say(USAGE)
    return EXIT.ok
  }
  const [sessionId, ...more] = positionals
  if (sessionId === undefined || more.length > 0 || !/^[0-9a-f-]{36}$/.test(sessionId)) throw new UsageError(USAGE)
  const parts = await readParts(join(config.dataDir, 'event-logs'), sessionId)
  if (parts.length === 0) {
    complain(
      `There is no log of ${sessionId} in ${config.dataDir}: its session was erased, ran elsewhere, or is too new.`,
    )
    return EXIT.failed
  }
  const replays = parts.map((part) => ({ part, result: replay(part.log) }))
  for (const { part, result } of replays) {
    if (values.show) show(part.log, say)
    tell(part, result, say)
  }
  return replays.every(({ result }) => result.difference === null) ? EXIT.ok : EXIT.failed
})
