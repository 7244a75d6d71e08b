import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const SCRIPTS = dirname(import.meta.dirname)

/** A folder of its own with a copy of the launcher, so that a test installs and writes nothing in this checkout. */
export type TemporaryProject = {
  root: string
  write: (path: string, text: string) => string
  writeProgram: (path: string, text: string) => string
  remove: () => void
}

/** Makes one in the system's temporary folder; its owner calls `remove`. */
export function temporaryProject(): TemporaryProject {
  const root = mkdtempSync(join(tmpdir(), 'parley-project-'))
  for (const part of ['bootstrap.mjs', 'run.mjs', 'launch']) {
    cpSync(join(SCRIPTS, part), join(root, 'scripts', part), { recursive: true })
  }
  const write = (path: string, text: string): string => {
    const target = join(root, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text)
    return target
  }
  const writeProgram = (path: string, text: string): string => {
    const target = write(path, text)
    chmodSync(target, 0o755)
    return target
  }
  return { root, write, writeProgram, remove: () => rmSync(root, { recursive: true, force: true }) }
}
