import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { App } from './app.ts'
import { commitOf } from './commit.ts'
import { type Config, readConfig } from './config.ts'
import { secretsOf } from './config-secrets.ts'
import { openDatabase, sharedClockOf } from './database.ts'
import { explain } from './explain.ts'
import { keepAlive, systemClock } from './kernel/clock.ts'
import { misspeltIn } from './misspelt-settings.ts'
import { type Log, makeLog, standardOutput } from './platform/log.ts'
import { type Rehearsal, type StartBeside, startRehearsal } from './rehearsal.ts'
import { welcome } from './welcome.ts'

/** A stop that takes so much longer than all of its parts may, once no call is left, is ended by force; it takes a moment. */
const STOP_MARGIN_MS = 1_000

/** Ctrl-C in a terminal arrives twice, from the terminal and from npm: only a later one means "at once". */
const SAME_REQUEST_MS = 500

const ROOT = new URL('../../', import.meta.url)

async function main(): Promise<void> {
  writeLastLines()
  const config = readConfig(process.env)
  const sharedClock = sharedClockOf(config)
  const now = () => (sharedClock ?? systemClock).now()
  const log = makeLog({ level: config.logLevel, secrets: secretsOf(config), now })
  crashOnTheUnexpected(log)
  for (const { variable, meant } of misspeltIn(process.env))
    log.warn({ variable, meant }, 'a variable that is no setting is called almost as one is')
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  const commit = await commitOf(ROOT)

  const running: Running = { app: null, rehearsal: null }
  stopOnSignal(running, log)
  // The database and the simulator start beside this thread, which meanwhile reads the modules of all floors.
  const [rehearsal, database, { makeDeps }, { buildApp }] = await Promise.all([
    rehearse(config, running, log),
    openDatabase(config, log, process.pid),
    import('./deps.ts'),
    import('./app.ts'),
  ])
  const facts = { version, commit, pid: process.pid, simulated: rehearsal?.simulated, database, sharedClock }
  const app = await buildApp(await makeDeps(rehearsal?.config ?? config, log, facts))
  running.app = app
  const address = await app.listen()
  await rehearsal?.announce(app.publicUrl())
  log.info({ address, version, commit, database: config.database.kind }, 'listening')
  if (process.argv.includes('--welcome')) {
    const { adminKey, adminUsername: username } = config
    const { simulated } = facts
    const shown = { adminEnabled: adminKey !== null, username, demo: await app.hasDemo(), simulated }
    process.stdout.write(welcome(address, shown))
  }
  await app.prepare()
}

async function rehearse(config: Config, running: Running, log: Log): Promise<Rehearsal | null> {
  running.rehearsal = await startRehearsal({ config, clock: systemClock, log, start: startBeside })
  return running.rehearsal
}

/**
 * In a group of its own, so that Ctrl-C in a terminal does not end it before the calls that it carries; with a channel to
 * here, which closes when this process is gone in whatever way, and none of this process's secrets.
 */
const startBeside: StartBeside = (program, args) =>
  spawn(process.execPath, [fileURLToPath(program), ...args], {
    detached: true,
    env: {},
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })

/** What there is to stop: nothing yet while the service starts. */
type Running = { app: App | null; rehearsal: Rehearsal | null }

/**
 * From the first moment on: process 1 of a container is not stopped by a signal that it has no listener for. SIGHUP comes from a terminal
 * that was closed, perhaps more than once, and behind a Ctrl-C: calls do not end for that, nor sooner.
 */
function stopOnSignal(running: Running, log: Log): void {
  let askedAtMs: number | null = null
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const nowMs = systemClock.monotonicMs()
      if (askedAtMs !== null && nowMs - askedAtMs > SAME_REQUEST_MS && signal !== 'SIGHUP') process.exit(1)
      if (askedAtMs !== null) return
      askedAtMs = nowMs
      log.info({ signal }, 'stopping')
      stop(running, log).then(
        () => process.exit(0),
        (err: unknown) => {
          log.error({ err }, 'stop failed')
          process.exit(1)
        },
      )
    })
  }
}

/** Live calls come to their end first. */
async function stop({ app, rehearsal }: Running, log: Log): Promise<void> {
  await app?.drain()
  systemClock.after((app?.closeWithinMs ?? 0) + STOP_MARGIN_MS, () => {
    log.error({}, 'stopped by force')
    process.exit(1)
  })
  await app?.close()
  await rehearsal?.stop()
}

/** Whoever reads the log has its last lines, and does not hold up the end if they do not take them. */
function writeLastLines(): void {
  // Node has a pipe say that it is full, in place of blocking, once it has made a stream of it.
  void process.stdout
  process.on('exit', () => standardOutput().flushSync())
}

/** After an error that nobody expected the state is unknown: end, and let the supervisor start a sound process. */
function crashOnTheUnexpected(log: Log): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (err: unknown) => {
      log.fatal({ err }, 'unexpected error')
      process.exit(1)
    })
  }
}

/** Waiting for a database that is not up yet must not read as having nothing left to do. */
const started = keepAlive()
main().then(started, (error: unknown) => {
  process.stderr.write(`${explain(error)}\n`)
  process.exit(1)
})
