import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isRunning } from './launch/process-identity.mjs'
import { type Ending, type Program, start } from './testing/program.ts'

const SCRIPT = join(import.meta.dirname, 'test.ts')
const RUN_MS = 60_000
/** A server that is said to be there already: the runs that need none start none. */
const NO_SERVER = { PARLEY_TEST_DATABASE_URL: 'postgres://127.0.0.1:9/none' }

/** Asks the server of the run for what the test wants to know, and prints it. */
const ASK = `import { it } from 'vitest'
import pg from 'pg'
it('asks', async () => {
  const client = new pg.Client(process.env.PARLEY_TEST_DATABASE_URL)
  await client.connect()
  const { rows } = await client.query("select current_setting('fsync') fsync, current_setting('TimeZone') zone")
  const { rows: [{ data_directory }] } = await client.query('show data_directory')
  console.log('answer', JSON.stringify({ ...rows[0], port: client.port, data: data_directory }))
  await client.end()`
const ASK_ONCE = `${ASK}\n})`
const ASK_AND_HANG = `${ASK}\n  console.log('hanging')\n  await new Promise(() => {})\n}, 600_000)`

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-sample-'))
  chmodSync(folder, 0o755) // The database server runs as another user.
  symlinkSync(join(import.meta.dirname, '..', 'node_modules'), join(folder, 'node_modules'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the script over the files written to `folder`, apart from the run that this test belongs to. */
function startTests(env: NodeJS.ProcessEnv, ...args: string[]): Program {
  const kept = Object.entries(process.env).filter(([name]) => !/^(VITEST|PARLEY_TEST|NODE_ENV)/.test(name))
  const own = { ...Object.fromEntries(kept), TMPDIR: folder, NO_COLOR: '1', ...env }
  return start(process.execPath, [SCRIPT, '--root', folder, ...args], { env: own })
}

const runTests = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ending> => startTests(env, ...args).ended
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
const lastLine = (text: string): string | undefined => text.split('\n').at(-2)

type Answer = { fsync: string; zone: string; port: number; data: string }
const answerIn = (printed: string): Answer => JSON.parse(/^answer (.*)$/m.exec(printed)?.[1] ?? '{}')

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => socket.end(() => resolve(true)))
    socket.on('error', () => resolve(false))
  })
}

const runFolders = (): string[] => readdirSync(folder).filter((name) => name.startsWith('parley-test-'))

describe('npm test, and what it reports', { timeout: RUN_MS }, () => {
  it('ends with the counts and code 0 when everything passed', async () => {
    write(
      'a.test.ts',
      "import { it } from 'vitest'; it('one', () => {}); it('two', () => {}); it.skip('three', () => {})",
    )
    const { code, stdout } = await runTests(NO_SERVER)
    expect({ code, last: lastLine(stdout) }).toEqual({ code: 0, last: '2 passed, 0 failed' })
  })

  it('counts failed tests, and files that did not load', async () => {
    write('a.test.ts', "import { it } from 'vitest'; it('one', () => {}); it('two', () => { throw new Error() })")
    write('b.test.ts', "import './none.ts'")
    const { code, stdout } = await runTests(NO_SERVER)
    expect({ code, last: lastLine(stdout) }).toEqual({ code: 1, last: '1 passed, 2 failed' })
  })

  it('fails when an error happened outside every test', async () => {
    write('a.test.ts', "import { it } from 'vitest'; it('one', () => { void Promise.reject(new Error('lost')) })")
    const { code, stdout } = await runTests(NO_SERVER)
    expect({ code, last: lastLine(stdout) }).toEqual({ code: 1, last: '1 passed, 1 failed' })
  })

  it('fails when no test ran', async () => {
    const { code, stdout } = await runTests(NO_SERVER, '--passWithNoTests')
    expect({ code, last: lastLine(stdout) }).toEqual({ code: 1, last: '0 passed, 1 failed' })
  })

  it('hands other arguments to vitest, and tells the tests of --full', async () => {
    write(
      'a.test.ts',
      "import { expect, it } from 'vitest'; it('a', () => expect(process.env.PARLEY_TEST_FULL).toBe('1'))",
    )
    write('b.test.ts', "throw new Error('not asked for')")
    const { code, stdout } = await runTests(NO_SERVER, '--full', 'a.test.ts')
    expect({ code, last: lastLine(stdout) }).toEqual({ code: 0, last: '1 passed, 0 failed' })
  })

  it('has the processes of tests stand still now and then with --shaken', async () => {
    write(
      'a.test.ts',
      `import { expect, it, vi } from 'vitest'
it('a', async () => {
  const wait = vi.spyOn(Atomics, 'wait')
  await vi.waitFor(() => expect(wait.mock.calls.length).toBeGreaterThan(2), { timeout: 30_000 })
}, 40_000)`,
    )
    const { code, stdout } = await runTests(NO_SERVER, '--shaken')
    expect({ code, last: lastLine(stdout) }).toEqual({ code: 0, last: '1 passed, 0 failed' })
  })
})

describe('npm test, and its PostgreSQL server', { timeout: RUN_MS }, () => {
  it('gives the tests a server that keeps its word, and leaves nothing behind', async () => {
    write('a.test.ts', ASK_ONCE)
    const { code, stdout, stderr } = await runTests({})
    expect(code, stdout + stderr).toBe(0)
    const answer = answerIn(stdout)
    expect(answer).toMatchObject({ fsync: 'on', zone: 'UTC' })
    expect(await accepts(answer.port)).toBe(false)
    expect(runFolders()).toEqual([])
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('stops everything on %s', async (signal) => {
    write('a.test.ts', ASK_AND_HANG)
    const program = startTests({})
    await vi.waitFor(() => expect(program.printed()).toContain('hanging'), 30_000)
    expect(await accepts(answerIn(program.printed()).port)).toBe(true)
    program.child.kill(signal)
    expect((await program.ended).code).toBe(signal === 'SIGTERM' ? 143 : 130)
    expect(await accepts(answerIn(program.printed()).port)).toBe(false)
    expect(runFolders()).toEqual([])
  })

  it('ends what an earlier run left that was killed', async () => {
    write('a.test.ts', ASK_AND_HANG)
    const killed = startTests({})
    await vi.waitFor(() => expect(killed.printed()).toContain('hanging'), 30_000)
    killed.child.kill('SIGKILL')
    await vi.waitFor(() => expect(isRunning(String(killed.child.pid))).toBe(false), 10_000)
    write('a.test.ts', "import { it } from 'vitest'; it('one', () => {})")
    expect((await runTests(NO_SERVER)).code).toBe(0)
    const { port, data } = answerIn(killed.printed())
    await vi.waitFor(async () => expect(await accepts(port)).toBe(false), 10_000)
    expect(existsSync(data)).toBe(false)
  })
})
