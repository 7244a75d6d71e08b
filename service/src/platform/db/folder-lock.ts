import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../kernel/clock.ts'
import { lockFile } from '../file-lock.ts'

/** The folder cannot be used as it is; the message tells the operator what to do. */
export class FolderError extends Error {
  override readonly name = 'FolderError'
}

/**
 * Takes the folder for this process until it ends, however it ends, by the lock of a file in it. The holder writes itself into
 * `owner.json`, for the message only.
 *
 * @param pid of this process, for that message.
 * @returns what gives the folder back.
 * @throws FolderError when another process has it, or when no lock can be had there.
 */
export function lockFolder(folder: string, pid: number): () => void {
  const unlock = locked(folder)
  if (!unlock) throw new FolderError(inUse(folder))
  try {
    writeOwner(folder, pid)
    return unlock
  } catch (error) {
    unlock()
    throw unusable(folder, error)
  }
}

function locked(folder: string): (() => void) | null {
  try {
    return lockFile(join(folder, 'lock'))
  } catch (error) {
    throw unusable(folder, error)
  }
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
