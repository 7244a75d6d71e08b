import { type SpawnOptions, spawn } from 'node:child_process'

/** How a command ended, and everything it printed on either stream. */
export type CommandResult = { ok: boolean; output: string }

/**
 * Runs a command to its end and keeps what it prints. A command that cannot be started is not `ok`; one that is
 * stopped through `options.signal` ends by SIGTERM.
 */
export function runCommand(command: string, args: string[], options: SpawnOptions): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const keep = (chunk: Buffer): void => {
      output += chunk.toString()
    }
    child.stdout?.on('data', keep)
    child.stderr?.on('data', keep)
    child.on('error', (error) => keep(Buffer.from(`${error.message}\n`)))
    child.on('close', (code) => resolve({ ok: code === 0, output }))
  })
}
