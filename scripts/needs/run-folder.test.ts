import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { identityOf } from '../launch/process-identity.mjs'
import { makeRunFolder, sweepAbandonedRuns } from './run-folder.ts'

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

const MEMORY = '/dev/shm'

describe.runIf(existsSync(MEMORY))('a database in memory', () => {
  it('lies apart from the folder of its run, and goes with it', () => {
    const run = makeRunFolder({ databaseInMemory: true })
    if (hasRoom()) expect(dirname(run.databasePath)).toBe(MEMORY)
    else expect(run.databasePath).toBe(run.path)
    expect([dirname(run.scratchPath), existsSync(run.scratchPath)]).toEqual([run.databasePath, true])
    run.remove()
    expect([existsSync(run.path), existsSync(run.databasePath)]).toEqual([false, false])
  })

  it('is for those who ask for it: what is measured has its disk', () => {
    const run = makeRunFolder()
    expect(run.databasePath).toBe(run.path)
    run.remove()
  })

  it('is swept when its run was killed, and left while that goes on', async () => {
    const gone = spawn('true')
    await once(gone, 'exit')
    const make = () => mkdtempSync(join(MEMORY, 'parley-run-'))
    const [abandoned, used] = [make(), make()]
    try {
      writeFileSync(join(abandoned, 'pids'), `${gone.pid} 1\n`)
      writeFileSync(join(used, 'pids'), `${identityOf(process.pid)}\n`)
      sweepAbandonedRuns()
      expect([existsSync(abandoned), existsSync(used)]).toEqual([false, true])
    } finally {
      rmSync(used, { recursive: true })
    }
  })
})

function hasRoom(): boolean {
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize >= 1024 ** 3
}
