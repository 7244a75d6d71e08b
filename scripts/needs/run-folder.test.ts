import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { identityOf } from '../launch/process-identity.mjs'
import { sweepAbandonedRuns } from './run-folder.ts'

const NOBODY = 65_534

let temporary: string
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'parley-sweep-'))
  vi.stubEnv('TMPDIR', temporary)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(temporary, { recursive: true })
})

/** The folder of a run whose own process is gone, and which names another one. */
function abandonedBy(owner: string, named: string): string {
  const folder = join(temporary, 'parley-test-abc')
  mkdirSync(folder)
  writeFileSync(join(folder, 'pids'), `${owner}\n${named}\n`)
  return folder
}

/** Sweeps a folder of this user that names a process, and tells whether that is left. */
async function sweepFolderOf(uid: number): Promise<{ folderIsLeft: boolean; processIsLeft: boolean }> {
  const gone = spawn('true')
  const left = spawn('sleep', ['60'])
  await once(gone, 'exit')
  const folder = abandonedBy(`${gone.pid} 1`, identityOf(left.pid ?? 0))
  chownSync(folder, uid, uid)
  sweepAbandonedRuns()
  const folderIsLeft = existsSync(folder)
  // The first signal that reaches it tells: the sweep's kill, or ours after it.
  left.kill('SIGTERM')
  const [, signal] = await once(left, 'exit')
  return { folderIsLeft, processIsLeft: signal === 'SIGTERM' }
}

describe('the sweep of abandoned runs', () => {
  it('ends what our own folder names, and removes it', async () => {
    const uid = process.getuid?.() ?? 0
    expect(await sweepFolderOf(uid)).toEqual({ folderIsLeft: false, processIsLeft: false })
  })

  it.runIf(process.getuid?.() === 0)("leaves another user's folder and what it names alone", async () => {
    expect(await sweepFolderOf(NOBODY)).toEqual({ folderIsLeft: true, processIsLeft: true })
  })
})
