import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { makeFolder } from '../make-folder.ts'
import { fileLimit } from '../open-files.ts'
import { FolderError, unusable } from './folder-lock.ts'

/** The major version of PostgreSQL inside PGlite. Data of one major version cannot be read by another. */
const POSTGRES_MAJOR = '18'

/** Makes the folder, readable by nobody else, if it is not there. @throws FolderError when it cannot be made. */
export async function makeDataFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder)
  } catch (error) {
    throw unusable(folder, error)
  }
}

/**
 * Opens PostgreSQL's data in `<folder>/postgres`, making it first if needed. The folder must be locked.
 *
 * @throws FolderError when the data is of another major version, or does not open.
 */
export async function openData(folder: string): Promise<PGlite> {
  const data = join(folder, 'postgres')
  let lastWords: Error | null = null
  const onStderr = (line: string) => {
    const [, words] = LAST_WORDS.exec(line) ?? []
    if (words !== undefined) lastWords = new Error(words)
    return false
  }
  try {
    if (!existsSync(data)) await initialise(data)
    checkVersion(folder, data)
    return await PGlite.create(data, { startParams: startParams(), onStderr })
  } catch (error) {
    throw error instanceof FolderError ? error : unusable(folder, lastWords ?? error)
  }
}

/** What PostgreSQL says as it gives up, as for want of room or on damaged files: it then ends in a way that tells nothing. */
const LAST_WORDS = /\b(?:FATAL|PANIC): +(.+)$/

/** PostgreSQL keeps open what it has opened. */
const MOST_FILES = 1_000
/** It takes no smaller number. */
const LEAST_FILES = 64

/** A quarter of the files is the database's: the others are for connections, recordings and the journal. */
function startParams(): string[] {
  const quarter = Math.floor((fileLimit() ?? Number.POSITIVE_INFINITY) / 4)
  const files = Math.max(LEAST_FILES, Math.min(quarter, MOST_FILES))
  return [...PGlite.defaultStartParams, '-c', `max_files_per_process=${files}`]
}

/** Opens PostgreSQL with nothing in it, in memory: what is written is gone with the thread. */
export function openNothing(): Promise<PGlite> {
  return PGlite.create()
}

/** Made beside its place and then moved, so that a process killed meanwhile leaves no half of a database behind. */
async function initialise(data: string): Promise<void> {
  const unfinished = `${data}.new`
  rmSync(unfinished, { recursive: true, force: true })
  const pglite = await PGlite.create(unfinished)
  await pglite.close()
  renameSync(unfinished, data)
}

function checkVersion(folder: string, data: string): void {
  const version = readVersion(data)
  if (version === POSTGRES_MAJOR) return
  throw new FolderError(
    `The database in ${folder} was made by PostgreSQL ${version}, and this program has ${POSTGRES_MAJOR}. ` +
      'Move its contents with the release that made it, or set DATA_DIR to another folder.',
  )
}

function readVersion(data: string): string {
  try {
    return readFileSync(join(data, 'PG_VERSION'), 'utf8').trim()
  } catch {
    return 'of unknown version'
  }
}
