import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { commitOf } from './commit.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-commit-'))
})
afterEach(() => rm(folder, { recursive: true }))

describe('the commit that a program was made of', () => {
  it.each([
    ['a branch', { '.git/HEAD': 'ref: refs/heads/main\n', '.git/refs/heads/main': `${COMMIT}\n` }, COMMIT],
    [
      'a packed branch',
      { '.git/HEAD': 'ref: refs/heads/a\n', '.git/packed-refs': `# x\n${COMMIT} refs/heads/a\n` },
      COMMIT,
    ],
    [
      'a branch whose name would be cut in an address',
      { '.git/HEAD': 'ref: refs/heads/fix#1\n', '.git/refs/heads/fix#1': COMMIT, '.git/refs/heads/fix': 'other' },
      COMMIT,
    ],
    ['no branch', { '.git/HEAD': `${COMMIT}\n` }, COMMIT],
    ['an image', { commit: COMMIT }, COMMIT],
    ['an image that was not told', { commit: '' }, null],
    ['a branch without a commit', { '.git/HEAD': 'ref: refs/heads/main\n' }, null],
    ['a folder without history', {}, null],
  ])('is told of %s', async (_name, files: Record<string, string>, commit) => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
    expect(await commitOf(pathToFileURL(`${folder}/`))).toBe(commit)
  })
})
