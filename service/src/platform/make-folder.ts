import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a folder, and those that it is in, readable by nobody else, if it is not there. (Node's own way of that goes on for ever where no folder
 * can be made and the file system says that there is none, as `/proc` does.)
 *
 * @throws Error of the file system when it cannot be made.
 */
export async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) await makeFolder(parent)
  try {
    await mkdir(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have been faster.
    if (!(await isFolder(folder))) throw error
  }
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
