import { type Logger, pino } from 'pino'
import { type Cancel, systemClock } from '../kernel/clock.ts'
import { currentRequestId } from './current-request.ts'
import { withErrorFacts } from './log-errors.ts'
import { makeLineCleaner } from './log-lines.ts'
import { LogOutput } from './log-output.ts'

/**
 * One line of the log. `message` is a constant: what varies goes into `fields`, and what could tell who somebody is goes
 * into `fields.pii`, which is never written. An error goes into `fields.err`.
 */
type LogMethod = {
  (message: string): void
  (fields: object, message: string): void
}

/** What writes lines; `child` returns a log whose every line carries `fields` too. */
export type Log = {
  debug: LogMethod
  info: LogMethod
  warn: LogMethod
  error: LogMethod
  fatal: LogMethod
  child(fields: Record<string, unknown>): Log
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/** Takes finished lines, each with its line feed. */
export type LogDestination = { write(line: string): void; flushSync?(): void }

type LogOptions = {
  level: LogLevel
  /** Default: the standard output, without blocking. */
  destination?: LogDestination
  /** Exact texts that no line may hold, such as the keys of the configuration. Those under 6 characters are ignored. */
  secrets: string[]
  /** What time it is, in ms since 1970. Default: by the clock of the machine. */
  now?: () => number
}

const STANDARD_OUTPUT = 1
const machineNow = () => systemClock.now()

/**
 * Makes the log: one JSON object a line, with an ISO `time`, the `level` as a word and `msg`.
 *
 * Personal data, the given secrets, credentials of known form and all but the last four digits of phone numbers are taken
 * out of every finished line before it is written. What is logged on behalf of a request tells its `request_id`.
 */
export function makeLog({ level, destination: target = standardOutput(), secrets, now = machineNow }: LogOptions): Log {
  const clean = makeLineCleaner(secrets)
  const watchers = new Set<LineWatcher>()
  const cleaned: LogDestination = {
    write(line) {
      const text = clean(line)
      target.write(text)
      for (const watcher of watchers) watcher(text)
    },
    flushSync: () => target.flushSync?.(),
  }
  const log = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      formatters: { level: (word) => ({ level: word }), log: withErrorFacts },
      // The formatter above has replaced every error already: pino's own serializer would have nothing to add.
      serializers: { err: (value: unknown) => value },
      mixin: (_fields, _level, logger) => requestFields(logger),
    },
    cleaned,
  )
  const made = withCleanChildren(log)
  watchersOf.set(made, watchers)
  return made
}

/** Takes a line as it was written, with its line feed. It must not log. */
export type LineWatcher = (line: string) => void

const watchersOf = new WeakMap<Log, Set<LineWatcher>>()

/**
 * Tells of every line that the log and its children write, behind all that is taken out of it, until cancelled.
 *
 * @throws Error for what is no log of `makeLog`, or only a child of one.
 */
export function watchLines(log: Log, watcher: LineWatcher): Cancel {
  const watchers = watchersOf.get(log)
  if (!watchers) throw new Error('not a log of makeLog')
  watchers.add(watcher)
  return () => void watchers.delete(watcher)
}

/** Children of a request's log have it for their prototype, and tell of it by themselves. */
function requestFields(logger: object): object {
  if ('isOfRequest' in logger) return {}
  const id = currentRequestId()
  return id === null ? {} : { request_id: id }
}

/** The formatter of a log is not asked about the fields of its children. */
function withCleanChildren(log: Logger): Log {
  const { child } = log
  return Object.assign(log, {
    child(this: Logger, fields: Record<string, unknown>): Log {
      const made = child.call(this, withErrorFacts(fields))
      return 'request_id' in fields ? Object.assign(made, { isOfRequest: true }) : made
    },
  })
}

let output: LogOutput | null = null

/** One for the process, which is to flush it at its end. */
export function standardOutput(): LogOutput {
  output ??= new LogOutput(STANDARD_OUTPUT)
  return output
}
