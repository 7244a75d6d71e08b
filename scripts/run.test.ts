import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isRunning } from './launch/process-identity.mjs'
import { AS_NODE_20, asNode, type Ending, type Program, run, start } from './testing/program.ts'
import { type TemporaryProject, temporaryProject } from './testing/temporary-project.ts'

/** Programs start slowly while other tests keep both cores busy. */
const WAIT_MS = 30_000
vi.setConfig({ testTimeout: 2 * WAIT_MS })

const PACKAGED = join('node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')

let project: TemporaryProject
beforeEach(() => {
  project = temporaryProject()
})
afterEach(() => project.remove())

function launcherArgs(nodeArgs: string[], args: string[]): string[] {
  return [...nodeArgs, join(project.root, 'scripts', 'run.mjs'), ...args]
}

function packageRunningNode(): void {
  mkdirSync(join(project.root, PACKAGED, '..'), { recursive: true })
  symlinkSync(process.execPath, join(project.root, PACKAGED))
}

describe.each([
  { way: 'in the same process', nodeArgs: [] },
  { way: 'on the packaged Node', nodeArgs: AS_NODE_20 },
])('the launcher, $way', ({ nodeArgs }) => {
  beforeEach(packageRunningNode)

  const launch = (program: string, env: NodeJS.ProcessEnv = {}): Program => {
    project.write('program.ts', program)
    project.write('.env', 'COLOUR=from the file\nSIZE="from the file"\n')
    const args = launcherArgs(nodeArgs, ['--settings', '.env', 'program.ts', 'one', '--two'])
    // Where it keeps what it compiles is its own business here.
    const { NODE_COMPILE_CACHE: _others, ...usual } = process.env
    return start(process.execPath, args, { cwd: project.root, env: { ...usual, ...env } })
  }

  it("hands on the program's arguments and exit code", async () => {
    const program = launch('console.log(process.argv.slice(2).join()); process.exitCode = 7')
    expect(await program.ended).toMatchObject({ code: 7, stdout: 'one,--two\n', stderr: '' })
  })

  it('gives it the sizes of the heap', async () => {
    project.write(
      'sizes.ts',
      "console.log(process.execArgv.filter((option) => !option.startsWith('--import')).join(' '))",
    )
    const sizes = ['--min-semi-space-size=8', '--max-semi-space-size=16']
    const program = start(process.execPath, launcherArgs([...nodeArgs, ...sizes], ['sizes.ts']), {
      cwd: project.root,
    })
    expect((await program.ended).stdout).toContain(sizes.join(' '))
  })

  it('keeps what was compiled for the next start', async () => {
    expect(await launch('const size: number = 1\nconsole.log(size)').ended).toMatchObject({ stdout: '1\n', stderr: '' })
    expect(readdirSync(join(project.root, 'node_modules', '.cache', 'compiled'))).not.toEqual([])
  })

  it('lets the environment win over the file', async () => {
    const program = launch('console.log(process.env.COLOUR, process.env.SIZE)', { COLOUR: 'from outside' })
    expect((await program.ended).stdout).toBe('from outside from the file\n')
  })

  it('reads the first line of a file that an editor has begun with a byte order mark', async () => {
    project.write('marked.env', '\uFEFFCOLOUR=blue\r\nSIZE=5\r\n')
    project.write('program.ts', 'console.log(process.env.COLOUR, process.env.SIZE)')
    const args = launcherArgs(nodeArgs, ['--settings', 'marked.env', 'program.ts'])
    expect(await run(process.execPath, args, { cwd: project.root })).toMatchObject({ stdout: 'blue 5\n', stderr: '' })
  })

  it('passes SIGTERM to the program, which ends with its own code', async () => {
    const program = launch(`
      process.on('SIGTERM', () => { clearInterval(alive); process.exitCode = 9 })
      const alive = setInterval(() => {}, 60_000)
      console.log('ready')`)
    await vi.waitFor(() => expect(program.printed()).toBe('ready\n'), WAIT_MS)
    program.child.kill('SIGTERM')
    expect(await program.ended).toMatchObject({ code: 9, signal: null })
  })

  it('dies of the signal that the program died of', async () => {
    const program = launch("process.kill(process.pid, 'SIGKILL')")
    expect(await program.ended).toMatchObject({ code: null, signal: 'SIGKILL' })
  })

  it('leaves no program behind when it is killed itself', async () => {
    const program = launch('setInterval(() => {}, 60_000); console.log(process.pid)')
    await vi.waitFor(() => expect(program.printed()).toMatch(/^\d+\n$/), WAIT_MS)
    program.child.kill('SIGKILL')
    await program.ended
    await vi.waitFor(() => expect(isRunning(program.printed().trim())).toBe(false), WAIT_MS)
  })

  it('says in one line that the settings file is missing', async () => {
    const args = launcherArgs(nodeArgs, ['--settings', 'none.env', 'program.ts'])
    const ending = await run(process.execPath, args, { cwd: project.root })
    expect(ending).toMatchObject({
      code: 1,
      stderr:
        'none.env could not be read (ENOENT). `npm start` writes one; where the settings are in the environment, run `node scripts/run.mjs program.ts`.\n',
    })
  })

  it('says of a settings file that cannot be read why, and not that there is none', async () => {
    project.write('folder.env/file', '')
    const args = launcherArgs(nodeArgs, ['--settings', 'folder.env', 'program.ts'])
    expect(await run(process.execPath, args, { cwd: project.root })).toMatchObject({
      code: 1,
      stderr:
        'folder.env could not be read (EISDIR). Mend that; where the settings are in the environment, run `node scripts/run.mjs program.ts`.\n',
    })
  })
})

describe('the launcher, where nothing is installed', () => {
  it('says so in one line instead of telling which package it missed first', async () => {
    project.write('program.ts', "import 'a-package'")
    const ending = await run(process.execPath, launcherArgs([], ['program.ts']), { cwd: project.root })
    expect(ending).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^Nothing is installed .*\n$/) })
  })
})

describe('the launcher, without a Node that is new enough', () => {
  const launch = (): Promise<Ending> => {
    project.write('program.ts', 'console.log(1)')
    return run(process.execPath, launcherArgs(AS_NODE_20, ['program.ts']), { cwd: project.root })
  }
  const request = /^Parley needs Node 24\.9 or newer; this is Node 20\.0\.0\. .*\n$/

  it('asks for one in one line when none is packaged', async () => {
    expect(await launch()).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(request) })
  })

  it.each(['24.0.2', '24.8.0'])(
    'asks for one in place of %s, in which not all is there that it needs',
    async (version) => {
      project.write('program.ts', 'console.log(1)')
      const ending = await run(process.execPath, launcherArgs(asNode(version), ['program.ts']), { cwd: project.root })
      expect(ending).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`this is Node ${version}.`) })
    },
  )

  it.each(['24.9.0', '24.10.0', '26.0.0'])('runs the program on %s', async (version) => {
    project.write('program.ts', 'console.log(1)')
    const ending = await run(process.execPath, launcherArgs(asNode(version), ['program.ts']), { cwd: project.root })
    expect(ending).toMatchObject({ code: 0, stdout: '1\n' })
  })

  it('asks for one when the packaged one does not run here', async () => {
    project.writeProgram(PACKAGED, '#!/bin/sh\nexit 127\n')
    expect(await launch()).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(request) })
  })
})
