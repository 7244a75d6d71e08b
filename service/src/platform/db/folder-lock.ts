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
  return new FolderError(
    `The folder ${folder} cannot hold the database (${reasonOf(cause)}). Mend that, or set DATA_DIR to another folder.`,
    {
      cause,
    },
  )
}

/** What the embedded database throws where its files fail is no Error, and has the numbers of WASI. */
const WASI_ERRORS = new Map<unknown, string>([
  [2, 'EACCES: permission denied'],
  [19, 'EDQUOT: the quota of the disk is used up'],
  [22, 'EFBIG: a file would be too large'],
  [29, 'EIO: the disk fails'],
  [33, 'EMFILE: too many open files'],
  [41, 'ENFILE: too many open files on this machine'],
  [51, 'ENOSPC: no space left on the disk'],
  [63, 'EPERM: operation not permitted'],
  [69, 'EROFS: the disk can only be read'],
])

function reasonOf(cause: unknown): string {
  if (typeof cause !== 'object' || cause === null) return String(cause)
  if ('message' in cause && typeof cause.message === 'string' && cause.message !== '') return cause.message
  if ('errno' in cause) return WASI_ERRORS.get(cause.errno) ?? `error ${String(cause.errno)}`
  return 'for a reason that it does not tell'
}
