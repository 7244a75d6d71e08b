import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../kernel/errors.ts'
import { secretBytes, secretText } from '../kernel/ids.ts'
import { makeFolder } from './make-folder.ts'

/** The size of a sealing key. */
export const KEY_BYTES = 32

/**
 * The sealing key of an embedded database that was given none: made once (mode 0600) and kept beside the data, so that
 * what was sealed yesterday opens today.
 *
 * @param expectNew asked before one is made: rejects where another one was in use, whose file is lost. Its AppError is passed on.
 * @throws AppError `unavailable` when the folder cannot be used, or the file holds something else: a new key would make
 * every sealed secret unreadable.
 */
export async function loadOrCreateKey(folder: string, expectNew: () => Promise<void>): Promise<Buffer> {
  try {
    await makeFolder(folder)
    const path = join(folder, 'encryption.key')
    const key = await readKey(path)
    if (key) return key
    await expectNew()
    return await createKey(path)
  } catch (error) {
    throw error instanceof AppError ? error : unusable(folder, error)
  }
}

function unusable(folder: string, cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new AppError(
    'unavailable',
    `The folder ${folder} cannot hold a key (${reason}). Set DATA_DIR to another one.`,
    {
      cause,
    },
  )
}

async function readKey(path: string): Promise<Buffer | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length === KEY_BYTES) return key
  throw new AppError(
    'unavailable',
    `${path} does not hold a key of 32 bytes in base64. Restore it, or set ENCRYPTION_KEY.`,
  )
}

/** Written whole under another name, then linked: a start that is killed half way leaves no half key behind. */
async function createKey(path: string): Promise<Buffer> {
  const draft = `${path}.${secretText(6)}`
  await writeFile(draft, `${secretBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flush: true })
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(draft)
  const key = await readKey(path)
  if (!key) throw new AppError('unavailable', `${path} disappeared while it was made.`)
  return key
}
