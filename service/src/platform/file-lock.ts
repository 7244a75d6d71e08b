import { DatabaseSync } from 'node:sqlite'

const SQLITE_BUSY = 5

/**
 * Takes a file for this process until it ends, however it ends: the lock is the operating system's, on a file that SQLite holds
 * open, so a crash leaves nothing to clean up but the file, which is empty. Blocks for a millisecond, and for `waitMs` at most while another
 * holder has it.
 *
 * @returns what gives it back; null when another holder, in this process or another, has it.
 * @throws Error when no lock can be had there.
 */
export function lockFile(path: string, waitMs = 0): (() => void) | null {
  const file = new DatabaseSync(path, { timeout: waitMs })
  try {
    file.exec('pragma locking_mode = exclusive; begin exclusive')
    return () => file.close()
  } catch (error) {
    file.close()
    if (isBusy(error)) return null
    throw error
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}
