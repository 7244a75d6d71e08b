import { spawn } from 'node:child_process'
import { constants } from 'node:os'

/**
 * Runs a program and keeps what it writes (progress, warnings) to itself unless it fails.
 * @param {{ command: string, args: string[], cwd: string, names: { doing: string, program: string, command: string } }} run
 *   `names` is how sentences call what is done, the program, and what was run
 * @param {(pid: number) => void} onStart told the id of the process
 * @returns {Promise<void>}
 * @throws Error with an `exitCode`, and what the program wrote
 */
export function runQuietly({ command, args, cwd, names }, onStart) {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  if (child.pid !== undefined) onStart(child.pid)
  const output = []
  child.stdout.on('data', (chunk) => output.push(chunk))
  child.stderr.on('data', (chunk) => output.push(chunk))
  const interrupted = forwardSignals(child)
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`${names.program} could not be run: ${error.message}`)))
    child.on('close', (code, signal) => {
      if (interrupted.by) reject(failure(`${names.doing} was interrupted.`, 128 + constants.signals[interrupted.by]))
      else if (code === 0) resolve()
      else {
        const ending = `${names.command} ended with ${signal ?? `code ${code}`}.`
        reject(failure(`${Buffer.concat(output)}\n${names.doing} failed: ${ending}`, 1))
      }
    })
  })
}

function failure(message, exitCode) {
  return Object.assign(new Error(message), { exitCode })
}

/** Passes signals on to the child and remembers which came: we end after it has, and with the signal's code. */
function forwardSignals(child) {
  const interrupted = { by: undefined }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      interrupted.by = signal
      child.kill(signal)
    })
  }
  return interrupted
}
