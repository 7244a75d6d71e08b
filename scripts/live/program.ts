import { type Config, ConfigError, readConfig } from '../../service/src/config.ts'
import { makeMask } from './mask.ts'
import { UsageError } from './options.ts'

/** How a command ends: all is well, something is not, the command line or the settings make no sense. */
export const EXIT = { ok: 0, failed: 1, misused: 2 } as const

/** What a command works with. */
export type Surroundings = {
  config: Config
  /** Writes a line; every secret of the settings is taken out of it. */
  say(line: string): void
  /** The same, to the standard error. */
  complain(line: string): void
}

/** The settings of the environment, and where to write to. @throws ConfigError with everything that is wrong with them. */
export function readSurroundings(): Surroundings {
  const config = readConfig({ ...serverOfCompose(process.env), ...process.env })
  const mask = makeMask(config)
  return {
    config,
    say: (line) => process.stdout.write(`${mask(line)}\n`),
    complain: (line) => process.stderr.write(`${mask(line)}\n`),
  }
}

/** In a `.env` that is of compose, the password stands for the address of the server, which compose makes of it. */
function serverOfCompose({ POSTGRES_PASSWORD: password }: NodeJS.ProcessEnv): Record<string, string> {
  return password ? { DATABASE_URL: `postgres://parley:${password}@postgres:5432/parley` } : {}
}

/**
 * Runs a command and sets the exit code of the process to what it returns. Settings and command lines that make no sense
 * are told on the standard error, without a stack.
 */
export async function runProgram(command: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await command()
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = EXIT.misused
  }
}
