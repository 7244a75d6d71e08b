import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The commit that the program in this folder was made of: an image has it in the file `commit`, a checkout in its `.git`. Null where
 * neither tells. What was changed in a checkout since then is not told.
 */
export async function commitOf(root: URL): Promise<string | null> {
  const written = (await textOf(root, 'commit')).trim()
  if (written !== '') return written
  const head = (await textOf(root, '.git/HEAD')).trim()
  const [, ref] = /^ref: (refs\/\S+)$/.exec(head) ?? []
  if (ref === undefined) return head || null
  const loose = (await textOf(root, `.git/${ref}`)).trim()
  return loose || packed(await textOf(root, '.git/packed-refs'), ref)
}

/** Git gathers references in one file, a commit and a name a line. */
function packed(text: string, ref: string): string | null {
  const lines = text.split('\n').map((line) => line.split(' '))
  return lines.find(([, name]) => name === ref)?.[0] ?? null
}

/** Whatever keeps it from being read: nothing depends on it. */
function textOf(root: URL, path: string): Promise<string> {
  return readFile(join(fileURLToPath(root), path), 'utf8').catch(() => '')
}
