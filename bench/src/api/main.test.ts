import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { API_USAGE } from './options.ts'

const folder = mkdtempSync(join(tmpdir(), 'bench-api-'))
afterAll(() => rmSync(folder, { recursive: true }))

const MINUTE_MS = 60_000

async function bench(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url))
  const child = spawn(process.execPath, [main, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  child.stdout.on('data', (text) => {
    out += text
  })
  child.stderr.on('data', (text) => {
    err += text
  })
  const [code] = await once(child, 'close')
  return { code, out, err }
}

describe.runIf(process.platform === 'linux')('npm run bench:api', () => {
  it('says what it can be asked for, and what is wrong with an option', async () => {
    expect(await bench('--help')).toEqual({ code: 0, out: `${API_USAGE}\n`, err: '' })
    expect(await bench('--only=calls')).toMatchObject({
      code: 1,
      err: '--only calls: there are lists, filters, rings, outbox, analytics\n',
    })
  })

  it.runIf(process.env['PARLEY_TEST_FULL'])(
    'measures everything in small, and its exit code says what came of it',
    async () => {
      const { code, out } = await bench('--quick', '--check', '--rows=20000', '--json=out.json')
      const { voidBecause, findings } = JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8'))
      const isMissed = findings.some(({ isMet }: { isMet: boolean }) => !isMet)
      expect(code).toBe(voidBecause.length > 0 ? 2 : isMissed ? 1 : 0)
      expect(findings.map(({ measured }: { measured: string }) => measured)).not.toContain('not measured')
      for (const what of ['requests per CPU-second', 'behind row', 'the worst of', 'incoming-call', 'deliveries']) {
        expect(out).toContain(what)
      }
    },
    5 * MINUTE_MS,
  )
})
