import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readCommand } from '../harness/command-line.ts'
import { MUTANTS, type Mutant } from './list.ts'

const USAGE = `npm run test:mutants

Takes one mechanism after another out of a copy of the service, and looks whether a test notices.`

/** What the tests need of the project: copied, so that the mechanisms are taken out of nobody's own files. */
const COPIED = ['service', 'scripts', 'package.json', 'tsconfig.json', 'vitest.config.ts']
const LINKED = ['node_modules', 'simulator', 'docs']
const ROOT = join(import.meta.dirname, '../../..')

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function copyOfProject(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-mutants-'))
  for (const name of COPIED) await cp(join(ROOT, name), join(folder, name), { recursive: true })
  for (const name of LINKED) await symlink(join(ROOT, name), join(folder, name))
  return folder
}

/** Whether these tests pass there. */
async function pass(folder: string, tests: readonly string[]): Promise<boolean> {
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs')
  const child = spawn(process.execPath, [vitest, 'run', '--project', 'unit', ...tests], {
    cwd: folder,
    stdio: 'ignore',
  })
  const [code] = await once(child, 'exit')
  return code === 0
}

/** noticed: a test fails without it · survived: none does · stale: the place is not there, or there twice. */
async function tried(folder: string, { file, find, put, tests }: Mutant): Promise<'noticed' | 'survived' | 'stale'> {
  const path = join(folder, file)
  const source = await readFile(path, 'utf8')
  if (source.split(find).length !== 2) return 'stale'
  await writeFile(
    path,
    source.replace(find, () => put),
  )
  const isSurvivor = await pass(folder, tests)
  await writeFile(path, source)
  return isSurvivor ? 'survived' : 'noticed'
}

async function main(): Promise<void> {
  const folder = await copyOfProject()
  try {
    const tests = [...new Set(MUTANTS.flatMap((mutant) => mutant.tests))]
    if (!(await pass(folder, tests))) throw new Error('the tests fail with everything in place: mend that first')
    let noticed = 0
    for (const mutant of MUTANTS) {
      const result = await tried(folder, mutant)
      if (result === 'noticed') noticed += 1
      print(`${result.padEnd(9)} without ${mutant.name}`)
    }
    print(`mutants ${MUTANTS.length}, noticed ${noticed}`)
    if (noticed < MUTANTS.length) process.exitCode = 1
  } finally {
    await rm(folder, { recursive: true })
  }
}

const HELP = { help: { type: 'boolean', default: false } } as const
if (readCommand(USAGE, (args) => parseArgs({ args, options: HELP }).values)) await main()
