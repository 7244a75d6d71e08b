import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

const PROGRAM = join(import.meta.dirname, 'pack.ts')

/** What it says, and what is in the folder in which it was asked. */
function pack(...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-packed-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { cwd: folder, encoding: 'utf8' })
  return { status, stdout, stderr, made: readdirSync(folder) }
}

describe('npm run pack', () => {
  it('says what it does to who asks, and makes nothing', () => {
    const said = expect.stringContaining('npm run pack -- [folder]')
    expect(pack('--help')).toEqual({ status: 0, stdout: said, stderr: '', made: [] })
  })

  it.each([[['--out', 'here']], [['one', 'two']]])('takes no %j for a folder', (args) => {
    expect(pack(...args)).toMatchObject({ status: 2, stdout: '', made: [] })
  })
})
