import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Child, type Place } from './child.ts'

/** The service as a process. `address`: where it listens. `said`: the last lines of its log, for whoever wonders what went wrong. */
export type ServiceProcess = { child: Child; address: string; said(): string; stop(): Promise<void> }

/** `settings`: the whole of its environment. `nodeArgs`: options for Node itself. */
export type ServiceOptions = { settings: Record<string, string>; nodeArgs: string[]; place: Place }

const LAUNCHER = new URL('../../scripts/run.mjs', import.meta.url)
const MAIN = fileURLToPath(new URL('../../service/src/main.ts', import.meta.url))
const PACKAGE = new URL('../../package.json', import.meta.url)
/** The service gives its own parts nearly three seconds to end. */
const STOP_TIMEOUT_MS = 10_000
const LINES_KEPT = 20

/**
 * Starts the service as its users do, by its launcher, which ends it when this process is gone. Its log is read and, but
 * for the last lines, forgotten. @throws Error with these lines when it ends before it listens.
 */
export async function startService({ settings, nodeArgs, place }: ServiceOptions): Promise<ServiceProcess> {
  const child = await Child.start(LAUNCHER, [MAIN], {
    ...place,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { PATH: process.env['PATH'], ...settings },
    nodeArgs: [...usualNodeArgs(), ...nodeArgs],
    stopTimeoutMs: STOP_TIMEOUT_MS,
  })
  const lines: string[] = []
  const said = () => lines.join('\n')
  try {
    return { child, address: await child.before(listening(child, lines)), said, stop: () => child.stop() }
  } catch (error) {
    throw new Error(`the service did not start:\n${said()}`, { cause: error })
  }
}

/** The options that `npm run serve` gives to Node: what is measured is what runs. */
function usualNodeArgs(): string[] {
  const { scripts } = JSON.parse(readFileSync(PACKAGE, 'utf8'))
  return String(scripts.serve)
    .split(' ')
    .filter((word) => word.startsWith('--'))
}

function listening(child: Child, lines: string[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  for (const input of [child.process.stdout, child.process.stderr]) {
    if (input === null) continue
    createInterface({ input }).on('line', (line) => {
      lines.push(line)
      if (lines.length > LINES_KEPT) lines.shift()
      const address = addressIn(line)
      if (address !== undefined) resolve(address)
    })
  }
  return promise
}

function addressIn(line: string): string | undefined {
  return line.includes('"msg":"listening"') ? JSON.parse(line).address : undefined
}
