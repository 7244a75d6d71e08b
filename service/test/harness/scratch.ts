import { mkdtemp, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'

/** In memory a database of 40 MB and 1,000 files is copied in a quarter of the time; when it gets short there, on the disk. */
const ENOUGH_BYTES = 1024 ** 3

/**
 * Makes a folder for a test, empty and its own. Whoever asked for it removes it; what is left, by a process that was killed or that
 * keeps a database for the next file, goes with the folder of the run. Outside of one it has no name of a run: the next run would take
 * it for one whose owner is gone, and remove it under whoever uses it.
 */
export async function scratchFolder(): Promise<string> {
  const { PARLEY_TEST_SCRATCH: ofRun } = env
  return mkdtemp(join(ofRun !== undefined && (await hasRoom(ofRun)) ? ofRun : tmpdir(), 'parley-scratch-'))
}

async function hasRoom(folder: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize >= ENOUGH_BYTES
  } catch {
    return false
  }
}
