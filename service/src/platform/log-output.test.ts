import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, existsSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { scratchFolder } from '../../test/harness/scratch.ts'
import { until } from '../../test/harness/wait.ts'
import { LogOutput } from './log-output.ts'

/** More than a pipe holds. Who has written it waits for a word on what to do. */
const PROGRAM = `
  import { makeLog, standardOutput } from '${new URL('log.ts', import.meta.url)}'
  void process.stdout
  process.on('exit', () => standardOutput().flushSync())
  const log = makeLog({ level: 'info', secrets: [] })
  for (let line = 0; line < 2000; line += 1) log.info({ line, filling: 'x'.repeat(200) }, 'a line')
  process.stderr.write('written')
  process.stdin.once('data', (word) => {
    if (String(word) === 'crash') log.fatal({}, 'the end')
    process.exit(3)
  })`
const LINES = 2_000
/** In a terminal, which it tells nothing of its end: the file that it makes then does. */
const PROGRAM_OF_TERMINAL = `
  import { writeFileSync } from 'node:fs'
  import { makeLog, standardOutput } from '${new URL('log.ts', import.meta.url)}'
  void process.stdout
  process.on('exit', () => {
    standardOutput().flushSync()
    writeFileSync(process.env.ENDED, '')
  })
  const log = makeLog({ level: 'info', secrets: [] })
  for (let line = 0; line < 2000; line += 1) log.info({ line, filling: 'x'.repeat(200) }, 'a line')
  setTimeout(() => process.exit(), 50)`
/** A second for the last lines, and what a busy machine takes. One that is held up does not end. */
const ENDS_WITHIN_MS = 20_000

describe('the output of a process', () => {
  let root: string
  let open: number[] = []
  let child: ChildProcess | null = null

  beforeEach(async () => {
    root = await mkdtemp(join(await scratchFolder(), 'output-'))
  })
  afterEach(async () => {
    child?.kill('SIGKILL')
    for (const fd of open) closeSync(fd)
    open = []
    await rm(root, { recursive: true })
  })

  /** Starts the program with its output to `stdout`, and waits until it has written all. */
  async function started(stdout: number | 'pipe'): Promise<ChildProcess> {
    const made = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
      stdio: ['pipe', stdout, 'pipe'],
    })
    child = made
    if (made.stderr) await once(made.stderr, 'data')
    return made
  }

  async function ended(program: ChildProcess, word: string): Promise<{ code: number | null; afterMs: number }> {
    const startMs = performance.now()
    program.stdin?.end(word)
    await once(program, 'exit')
    return { code: program.exitCode, afterMs: performance.now() - startMs }
  }

  /** A pipe whose reader holds it open and does not read. */
  function pipe(flags = 0): { reader: number; writer: number } {
    const path = join(root, 'pipe')
    execFileSync('mkfifo', [path])
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const writer = openSync(path, constants.O_WRONLY | flags)
    open.push(reader, writer)
    return { reader, writer }
  }

  it.each(['stop', 'crash'])('does not hold up its end where its reader does not read any more (%s)', async (word) => {
    const { code, afterMs } = await ended(await started(pipe().writer), word)
    expect(code).toBe(3)
    expect(afterMs).toBeLessThan(ENDS_WITHIN_MS)
  })

  it.each(['stop', 'crash'])('does not hold up its end where its reader went away (%s)', async (word) => {
    const { reader, writer } = pipe()
    const program = await started(writer)
    closeSync(reader)
    open = [writer]
    const { code, afterMs } = await ended(program, word)
    expect(code).toBe(3)
    expect(afterMs).toBeLessThan(ENDS_WITHIN_MS)
  })

  it('does not hold up its end where nobody reads a socket', async () => {
    const program = await started('pipe')
    program.stdout?.pause()
    const { code, afterMs } = await ended(program, 'stop')
    expect(code).toBe(3)
    expect(afterMs).toBeLessThan(ENDS_WITHIN_MS)
  })

  it('does not hold up its end where nobody reads its terminal', async () => {
    const [program, ended] = [join(root, 'program.mjs'), join(root, 'ended')]
    writeFileSync(program, PROGRAM_OF_TERMINAL)
    // Whoever keeps the terminal is held up itself by a pipe that nobody reads.
    child = spawn('script', ['--quiet', '--command', `"${process.execPath}" "${program}"`, '/dev/null'], {
      stdio: ['pipe', pipe().writer, 'ignore'],
      env: { ...process.env, ENDED: ended },
    })
    await until(() => existsSync(ended), { what: 'the end' })
  })

  it('says how many lines nobody took, and begins a new one behind a part of one', async () => {
    const { reader, writer } = pipe(constants.O_NONBLOCK)
    const output = new LogOutput(writer)
    output.write(`${'x'.repeat(200_000)}\n`)
    await until(() => readSome(reader) !== '', { what: 'a part of the line' })
    closeSync(reader)
    output.flushSync()
    for (let number = 0; number < 3; number += 1) {
      output.write('a line\n')
      output.flushSync()
    }
    const again = openSync(join(root, 'pipe'), constants.O_RDONLY | constants.O_NONBLOCK)
    open = [again, writer]
    output.write('the next one\n')
    output.flushSync()
    const [part, told, ...next] = readSome(again).split('\n')
    expect(part).toMatch(/^x*$/)
    expect(JSON.parse(told ?? '')).toMatchObject({ level: 'warn', lines: 4 })
    expect(next).toEqual(['the next one', ''])
  })

  it('says how many lines it dropped, once its reader reads again', async () => {
    const { reader, writer } = pipe(constants.O_NONBLOCK)
    const output = new LogOutput(writer)
    const line = `${'x'.repeat(1024 * 1024 - 1)}\n`
    for (let number = 0; number < 20; number += 1) output.write(line)
    let text = ''
    const read = () => {
      text += readSome(reader)
      return text
    }
    await until(() => read().length === 16 * line.length, { what: 'what had room', everyMs: 1 })
    output.write('the next one\n')
    await until(() => read().endsWith('the next one\n'), { what: 'the next line' })
    const told = text.slice(16 * line.length).split('\n')
    expect(JSON.parse(told[0] ?? '')).toMatchObject({ level: 'warn', lines: 4 })
    expect(told.slice(1)).toEqual(['the next one', ''])
  })

  it('gets every line in a file', async () => {
    const path = join(root, 'log')
    const file = openSync(path, 'a')
    open.push(file)
    await ended(await started(file), 'stop')
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    // What the disk was given before the end may come behind what was written at it.
    const numbers = lines.map((line) => JSON.parse(line).line).sort((one, other) => one - other)
    expect(numbers).toEqual(Array.from({ length: LINES }, (_, line) => line))
  })
})

/** What a pipe holds now; nothing where it is empty. */
function readSome(reader: number): string {
  const buffer = Buffer.alloc(1024 * 1024)
  try {
    return buffer.toString('utf8', 0, readSync(reader, buffer))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return ''
    throw error
  }
}
