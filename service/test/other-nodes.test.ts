import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { childEnvironment } from './harness/child-environment.ts'
import { IS_FULL } from './harness/looks.ts'
import { scratchFolder } from './harness/scratch.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const ROOT = join(import.meta.dirname, '..', '..')
const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
/** Where what is only Node's own is used, past its documented ways, or the order in which it tells of things. */
const SOCKETS = ['websocket', 'http/web-sockets.test.ts', 'http/client-errors.test.ts'].map(
  (path) => `service/src/platform/${path}`,
)

const run = promisify(execFile)

/** What `node` has printed, and how it has ended. */
async function outcome(node: string, args: string[], environment = childEnvironment()) {
  const options = { cwd: ROOT, env: environment, maxBuffer: 64 * 1024 * 1024 }
  const { stdout, stderr, code } = await run(node, args, options).then(
    (printed) => ({ ...printed, code: 0 }),
    (error: { stdout: string; stderr: string; code: number }) => error,
  )
  return { printed: stdout + stderr, code }
}

/**
 * Of the versions that hosts have and the launcher takes: the last one that makes a request for each write to a socket, which the packaged
 * one leaves to the system, and the newest line.
 */
describe.runIf(IS_FULL && process.platform === 'linux').each(['24.21.0', '26.12.1'])('on Node %s', (version) => {
  let folder: string
  let node: string
  beforeAll(async () => {
    folder = await scratchFolder()
    const name = `node-${process.platform}-${process.arch}`
    const install = ['install', '--ignore-scripts', '--no-save', '--prefix', folder, `${name}@${version}`]
    await run('npm', install, { env: { ...process.env, npm_config_update_notifier: 'false' } })
    node = join(folder, 'node_modules', name, 'bin', 'node')
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('messages are written and read', async () => {
    const { printed, code } = await outcome(node, [VITEST, 'run', '--project', 'unit', ...SOCKETS])
    expect(code, printed).toBe(0)
    expect(printed).toContain('passed')
  })

  it('a whole call is heard, told, recorded and stored', async () => {
    const script = join(ROOT, 'scripts', 'demo.ts')
    const args = [script, '--wav', join(folder, 'call.wav'), '--check']
    const { printed, code } = await outcome(node, args, { ...childEnvironment(), TMPDIR: folder })
    expect(code, printed).toBe(0)
    expect(printed).not.toContain('FAIL')
  })
})
