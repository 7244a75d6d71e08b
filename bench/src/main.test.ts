import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'bench-'))
afterAll(() => rmSync(folder, { recursive: true }))

function bench(...args: string[]): ChildProcess {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url))
  return spawn(process.execPath, [main, ...args], {
    cwd: folder,
    env: { TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** The processes below `pid`, found in /proc. */
function descendants(pid: number): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const children = all.filter((name) => parentOf(name) === pid).map(Number)
  return children.flatMap((child) => [child, ...descendants(child)])
}

function parentOf(pid: string): number {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1])
  } catch {
    return Number.NaN
  }
}

describe.runIf(process.platform === 'linux').concurrent('npm run bench', () => {
  it('prints the table, writes JSON where the user stands, and its exit code says whether the run is void', async () => {
    const child = bench('--relay-only', '--calls=2', '--seconds=0.5', '--warmup=0', '--repeats=1', '--json=out.json')
    let out = ''
    child.stdout?.on('data', (text) => {
      out += text
    })
    const [code] = await once(child, 'close')
    const { isVoid, results } = JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8'))
    expect(code).toBe(isVoid ? 2 : 0)
    expect(results[0].rows.map((row: { system: string }) => row.system)).toEqual(['raw-net', 'raw-ws'])
    expect(out).toMatch(/\| 2 +\| raw-net +\|/)
    expect(out).toMatch(/\| 2 +\| raw-ws +\|/)
    expect(out.includes('VOID')).toBe(isVoid)
    // On a busy machine each round is void, and run three times.
  }, 120_000)

  it.for<[NodeJS.Signals, number | null]>([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGKILL', null],
  ])('leaves nothing running after %s', async ([signal, code], { expect }) => {
    const child = bench('--relay-only', '--calls=2', '--seconds=60')
    const pid = child.pid ?? 0
    await expect.poll(() => descendants(pid).length, { timeout: 20_000 }).toBe(2)
    const children = descendants(pid)
    child.kill(signal)
    const [exitCode] = await once(child, 'close')
    expect(exitCode).toBe(code)
    const left = () => children.filter((one) => existsSync(`/proc/${one}`))
    await expect.poll(left).toEqual([])
  })

  it('says in one sentence what is wrong with an option', async () => {
    const child = bench('--calls=none')
    const [message] = await once(child.stderr ?? child, 'data')
    const [code] = await once(child, 'close')
    expect(String(message)).toBe('--calls none: not a number from 0\n')
    expect(code).toBe(1)
  })
})
