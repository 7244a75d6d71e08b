import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')

it.each(['kill/kill', 'virtual/cuts', 'virtual/mixed-calls', 'mutants/mutants'])(
  '%s says how it is used where an option makes no sense, and where it is asked',
  (path) => {
    const run = (option: string) =>
      spawnSync(process.execPath, [join('service/test', `${path}.ts`), option], { cwd: ROOT, encoding: 'utf8' })
    const misused = run('--nonsense')
    expect([misused.status, misused.stdout]).toEqual([2, ''])
    expect(misused.stderr).toMatch(/--nonsense.*\n\nnpm run /)
    expect(misused.stderr).not.toMatch(/^ {4}at /m)
    const help = run('--help')
    expect([help.status, help.stderr]).toEqual([0, ''])
    expect(help.stdout).toMatch(/^npm run /)
  },
  120_000,
)
