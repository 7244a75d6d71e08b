import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../../kernel/clock.ts'

/** The folder cannot be used as it is; the message tells the operator what to do. */
export class FolderError extends Error {
  override readonly name = 'FolderError'
}

const SQLITE_BUSY = 5

/**
 * Takes the folder for this process until it ends, however it ends: the lock is the operating system's, on a file that
 * SQLite holds open, so a crash leaves nothing to clean up. The holder writes itself into `owner.json`, for the message only.
 *
 * @param pid of this process, for that message.
 * @returns what gives the folder back.
 * @throws FolderError when another process has it, or when no lock can be had there.
 */
export function lockFolder(folder: string, pid: number): () => void {
  const file = openLockFile(folder)
  try {
    file.exec('pragma locking_mode = exclusive; begin exclusive')
    writeOwner(folder, pid)
  } catch (error) {
    file.close()
    throw isBusy(error) ? new FolderError(inUse(folder), { cause: error }) : unusable(folder, error)
  }
  return () => file.close()
}

function openLockFile(folder: string): DatabaseSync {
  try {
    return new DatabaseSync(join(folder, 'lock'))
  } catch (error) {
    throw unusable(folder, error)
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}

type Owner = { pid: number; since: string }

function ownerPath(folder: string): string {
  return join(folder, 'owner.json')
}

function writeOwner(folder: string, pid: number): void {
  const owner: Owner = { pid, since: new Date(systemClock.now()).toISOString() }
  writeFileSync(ownerPath(folder), JSON.stringify(owner))
}

function inUse(folder: string): string {
  return `The database in ${folder} is in use by ${describeOwner(folder)}. Stop it, or set DATA_DIR to another folder.`
}

/** The owner may have locked and not yet written, or run in a container where its number means another process. */
function describeOwner(folder: string): string {
  try {
    const owner: Partial<Owner> = JSON.parse(readFileSync(ownerPath(folder), 'utf8'))
    return `process ${owner.pid} (since ${owner.since})`
  } catch {
    return 'another process'
  }
}

/** What is said about a folder that cannot be written or locked. */
export function unusable(folder: string, cause: unknown): FolderError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new FolderError(`The folder ${folder} cannot hold the database (${reason}). Set DATA_DIR to another folder.`, {
    cause,
  })
}
