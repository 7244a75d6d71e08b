import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'

/** What belongs to this checkout alone: its secrets, its data, what it has built. */
const LEFT_OUT = new Set(['.git', '.env', 'node_modules', 'data', 'dist', 'tmp'])

/** A copy of a checkout as somebody has it who has just cloned it, with what is installed here. */
export type ScratchCopy = { root: string; remove: () => void }

/** Makes one in the system's temporary folder; its owner calls `remove`. */
export function scratchCopy(checkout: string): ScratchCopy {
  const root = mkdtempSync(join(tmpdir(), 'parley-first-minutes-'))
  cpSync(checkout, root, { recursive: true, filter: (path) => path === checkout || !LEFT_OUT.has(basename(path)) })
  const { workspaces } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { workspaces: string[] }
  for (const folder of ['.', ...workspaces]) {
    const modules = resolve(checkout, folder, 'node_modules')
    if (existsSync(modules)) symlinkSync(modules, join(root, folder, 'node_modules'))
  }
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) }
}
