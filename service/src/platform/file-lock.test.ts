import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lockFile } from './file-lock.ts'

const WAIT_MS = 20_000
/** Holds the lock, says so, and gives it back a moment after it was told to. */
const HOLDER = `
  const { DatabaseSync } = require('node:sqlite')
  const { parentPort, workerData } = require('node:worker_threads')
  const file = new DatabaseSync(workerData)
  file.exec('pragma locking_mode = exclusive; begin exclusive')
  parentPort.once('message', () => setTimeout(() => file.close(), 50))
  parentPort.postMessage('held')
`

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-lock-'))
  path = join(folder, 'n1.lock')
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('a file that a process takes for itself', () => {
  it('is refused to a second holder at once, until it is given back', () => {
    const unlock = lockFile(path)
    expect(lockFile(path)).toBeNull()
    unlock?.()
    const again = lockFile(path)
    expect(again).not.toBeNull()
    again?.()
  })

  it('is waited for by who says for how long, where another one has it for a moment', async () => {
    const holder = new Worker(HOLDER, { eval: true, workerData: path })
    await new Promise((resolve) => holder.once('message', resolve))
    expect(lockFile(path)).toBeNull()
    holder.postMessage('give it back')
    const unlock = lockFile(path, WAIT_MS)
    expect(unlock).not.toBeNull()
    unlock?.()
    await holder.terminate()
  })
})
