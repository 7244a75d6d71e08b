import { appendFile, mkdir, mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { until } from '../../test/harness/wait.ts'
import { lockFile } from '../platform/file-lock.ts'
import { makeLog } from '../platform/log.ts'
import { JournalFiles, type Kept, type Waiting } from './journal-file.ts'
import { frame } from './journal-frame.ts'
import { findLeftBehind } from './journal-left.ts'
import type { OpenFile } from './journal-segments.ts'

const SECOND_MS = 1_000
let folder: string
let clock: TestClock
let lines: Record<string, unknown>[]
let opened: JournalFiles[]
const log = makeLog({ level: 'info', secrets: [], destination: { write: (line) => lines.push(JSON.parse(line)) } })

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'journal-')), 'journal')
  clock = new TestClock()
  lines = []
  opened = []
})
afterEach(async () => {
  for (const files of opened) await files.close()
  if (clock.pendingTimers > 0) throw new Error('the files left a timer')
})

type Options = { node?: string; openFile?: OpenFile; maxBytes?: number; segmentBytes?: number }

async function start(options: Options = {}): Promise<JournalFiles> {
  const files = new JournalFiles({ folder, clock, log, node: 'n1', ...options })
  await files.start()
  opened.push(files)
  return files
}

function said(...texts: string[]): Waiting[] {
  return texts.map((text) => ({ kind: 'entry', body: { text } }))
}

/** Moves time until what was handed over is written, or known not to be. */
async function written({ isSafe }: Kept): Promise<boolean> {
  let result: boolean | null = null
  void isSafe.then((safe) => {
    result = safe
  })
  await until(
    async () => {
      await clock.advance(SECOND_MS / 4)
      return result !== null
    },
    { what: 'the file to be written', everyMs: 5 },
  )
  return isSafe
}

/** What the next start finds: the texts of what waits. Only of a process that has closed its files, or died. */
async function found(): Promise<unknown[]> {
  const left = await findLeftBehind({ folder, log })
  for (const each of left) each.leave()
  return left.flatMap(({ waiting }) => waiting.map(({ body }) => (body as { text: string }).text))
}

async function logs(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.log')).sort()
}

describe('the files of the journal', () => {
  it('keep what waits until a later start finds it, in its order, readable by nobody else', async () => {
    const files = await start()
    expect(await written(files.keep(said('one', 'two')))).toBe(true)
    expect(await written(files.keep(said('three')))).toBe(true)
    expect(await logs()).toEqual(['n1-1.log'])
    expect((await stat(join(folder, 'n1-1.log'))).mode & 0o777).toBe(0o600)
    await files.close()
    expect(await found()).toEqual(['one', 'two', 'three'])
  })

  it('are there as soon as their folder can be used, though it could not be at the start', async () => {
    await writeFile(folder, 'in its place')
    const files = new JournalFiles({ folder, clock, log, node: 'n1' })
    opened.push(files)
    let late = 0
    await files.start(() => {
      late += 1
    })
    expect(await files.keep(said('lost')).isSafe).toBe(false)
    await clock.advance(10 * SECOND_MS)
    await rm(folder)
    const isReady = async () => {
      await clock.advance(10 * SECOND_MS)
      return files.isReady
    }
    await until(isReady, { what: 'the folder to be tried again', everyMs: 5 })
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      ['error', 'the journal has no files: while the database is away it waits in memory alone'],
      ['info', 'the journal has files now'],
    ])
    expect(late).toBe(1)
    expect(await written(files.keep(said('kept')))).toBe(true)
    await files.close()
    expect(await found()).toEqual(['kept'])
  })

  it('have their folder again where somebody has removed it, or what is in it, and are ours in it', async () => {
    const files = await start()
    expect(await written(files.keep(said('removed')))).toBe(true)
    await rm(folder, { recursive: true })
    expect(await written(files.keep(said('after the folder')))).toBe(true)
    for (const name of await readdir(folder)) await rm(join(folder, name))
    expect(await written(files.keep(said('after all in it')))).toBe(true)
    expect(await found()).toEqual([])
    await files.close()
    expect(await found()).toEqual(['after all in it'])
    expect(lines).toEqual([])
  })

  it('are there soon where another process that starts looks after them in the moment in which they are begun', async () => {
    await mkdir(folder)
    const looked = lockFile(join(folder, 'n1.lock'))
    const files = await start()
    expect(files.isReady).toBe(false)
    expect(lines.map(({ level }) => level)).toEqual(['error'])
    looked?.()
    const isReady = async () => {
      await clock.advance(10 * SECOND_MS)
      return files.isReady
    }
    await until(isReady, { what: 'the lock to be tried again', everyMs: 5 })
  })

  it('are there only while something waits', async () => {
    const files = await start()
    expect(await logs()).toEqual([])
    const kept = files.keep(said('one', 'two'))
    await written(kept)
    await files.settle(kept.ids)
    expect(await logs()).toEqual([])
    await files.close()
    expect(await readdir(folder)).toEqual([])
  })

  it('are written once a second at most, all that came meanwhile with one fsync', async () => {
    let syncs = 0
    const files = await start({
      async openFile(path) {
        const file = await open(path, 'ax')
        return {
          appendFile: (data) => file.appendFile(data),
          datasync() {
            syncs += 1
            return file.datasync()
          },
          truncate: (length) => file.truncate(length),
          close: () => file.close(),
        }
      },
    })
    await written(files.keep(said('first')))
    const second = files.keep(said('second'))
    const third = files.keep(said('third'))
    await clock.advance(SECOND_MS / 4)
    await Promise.all([written(second), written(third)])
    expect(syncs).toBe(2)
  })

  it('forget what is settled, though others wait in the same file', async () => {
    const files = await start()
    const kept = files.keep(said('one', 'two', 'three'))
    await written(kept)
    await files.settle(kept.ids.slice(1, 2))
    await files.close()
    expect(await found()).toEqual(['one', 'three'])
  })

  it('are removed one by one, from the oldest on', async () => {
    const files = await start({ segmentBytes: 1 })
    const kept = [files.keep(said('one'))]
    await written(kept[0] as Kept)
    for (const text of ['two', 'three']) {
      kept.push(files.keep(said(text)))
      await written(kept.at(-1) as Kept)
    }
    expect(await logs()).toEqual(['n1-1.log', 'n1-2.log', 'n1-3.log'])
    await files.settle(kept[1]?.ids ?? [])
    // The note of that is in the last file: none may go before the first one.
    expect(await logs()).toContain('n1-2.log')
    await files.settle(kept[0]?.ids ?? [])
    expect(await logs()).not.toContain('n1-2.log')
    await files.close()
    expect(await found()).toEqual(['three'])
  })

  it('take no more than their limit, tell that once, and take again when there is room', async () => {
    const files = await start({ maxBytes: 400 })
    const first = files.keep(said('a'.repeat(300)))
    expect(await written(first)).toBe(true)
    expect(await written(files.keep(said('b'.repeat(300))))).toBe(false)
    expect(files.isReady).toBe(false)
    expect(await written(files.keep(said('c'.repeat(300))))).toBe(false)
    expect(lines).toMatchObject([
      { level: 'error', msg: 'the files of the journal are full: it waits in memory alone' },
    ])
    await files.settle(first.ids)
    expect(files.isReady).toBe(true)
    expect(await written(files.keep(said('d')))).toBe(true)
    await files.close()
    expect(await found()).toEqual(['d'])
  })

  it('F59: a full disk is told once and tried again, and half a line on it spoils nothing that comes later', async () => {
    let isFull = true
    const files = await start({
      async openFile(path) {
        const file = await open(path, 'ax')
        return {
          async appendFile(data) {
            if (!isFull) return file.appendFile(data)
            await file.appendFile((data as Buffer).subarray(0, 20))
            throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
          },
          datasync: () => file.datasync(),
          truncate: (length) => file.truncate(length),
          close: () => file.close(),
        }
      },
    })
    expect(await written(files.keep(said('one')))).toBe(false)
    expect(files.isReady).toBe(false)
    await clock.advance(10 * SECOND_MS)
    expect(await written(files.keep(said('two')))).toBe(false)
    isFull = false
    await clock.advance(10 * SECOND_MS)
    expect(await written(files.keep(said('three')))).toBe(true)
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      ['error', 'the journal cannot be kept in its files: it waits in memory alone'],
      ['info', 'the journal is kept in its files again'],
    ])
    await files.close()
    expect(await found()).toEqual(['three'])
  })

  /** Files of a disk that is `full`, or takes what it is given and then says that it did not. */
  async function onDisk(disk: { is: 'sound' | 'full' | 'doubtful' }): Promise<JournalFiles> {
    return start({
      async openFile(path) {
        const file = await open(path, 'ax')
        return {
          async appendFile(data) {
            if (disk.is === 'full') throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
            await file.appendFile(data)
          },
          async datasync() {
            await file.datasync()
            if (disk.is === 'doubtful') throw Object.assign(new Error('input/output error'), { code: 'EIO' })
          },
          truncate: (length) => file.truncate(length),
          close: () => file.close(),
        }
      },
    })
  }

  it('do not have what they were not sure of: whoever was told so may have written something newer elsewhere', async () => {
    const disk: Parameters<typeof onDisk>[0] = { is: 'sound' }
    const files = await onDisk(disk)
    await written(files.keep(said('one')))
    disk.is = 'doubtful'
    expect(await written(files.keep(said('two')))).toBe(false)
    await files.close()
    expect(await found()).toEqual(['one'])
  })

  it('note with the next what a disk did not take of what is settled', async () => {
    const disk: Parameters<typeof onDisk>[0] = { is: 'sound' }
    const files = await onDisk(disk)
    const [one, two] = [files.keep(said('one')), files.keep(said('two'))]
    await written(files.keep(said('three')))
    disk.is = 'full'
    await files.settle(one.ids)
    disk.is = 'sound'
    await files.settle(two.ids)
    await files.close()
    expect(await found()).toEqual(['three'])
  })

  it('note at their end what a disk did not take of what is settled, when nothing was settled after it', async () => {
    const disk: Parameters<typeof onDisk>[0] = { is: 'sound' }
    const files = await onDisk(disk)
    const one = files.keep(said('one'))
    await written(files.keep(said('two')))
    disk.is = 'full'
    await files.settle(one.ids)
    disk.is = 'sound'
    await files.close()
    expect(await found()).toEqual(['two'])
  })

  it('are not to be had in a folder that is none: that is told, and nothing is kept', async () => {
    await writeFile(join(folder, '..', 'taken'), '')
    folder = join(folder, '..', 'taken')
    const files = await start()
    expect(await files.keep(said('one')).isSafe).toBe(false)
    expect(lines).toMatchObject([{ level: 'error' }])
    expect(await findLeftBehind({ folder, log })).toEqual([])
  })
})

describe('what a dead process left', () => {
  it('is not touched while its process lives', async () => {
    const files = await start()
    await written(files.keep(said('one')))
    expect(await found()).toEqual([])
    expect(await logs()).toEqual(['n1-1.log'])
  })

  it('is found once: whoever has it keeps the others off until it is removed', async () => {
    const files = await start()
    await written(files.keep(said('one')))
    await files.close()
    const [left] = await findLeftBehind({ folder, log })
    expect(await findLeftBehind({ folder, log })).toEqual([])
    await left?.remove()
    expect(await readdir(folder)).toEqual([])
  })

  it('is read up to the torn end of its last line', async () => {
    const files = await start()
    await written(files.keep(said('one', 'two')))
    await files.close()
    const path = join(folder, 'n1-1.log')
    await truncate(path, (await stat(path)).size - 3)
    expect(await found()).toEqual(['one'])
    expect(lines).toEqual([])
  })

  it('is read but for a damaged line, which is told', async () => {
    const files = await start()
    await written(files.keep(said('one', 'two', 'three')))
    await files.close()
    const path = join(folder, 'n1-1.log')
    await writeFile(path, (await readFile(path, 'utf8')).replace('two', 'tow'))
    expect(await found()).toEqual(['one', 'three'])
    expect(lines).toMatchObject([{ level: 'error', lines: 1 }])
  })

  it('has nothing but a lock when it stored everything, which goes', async () => {
    const dead = join(folder, 'n2.lock')
    await start()
    await writeFile(dead, '')
    expect(await found()).toEqual([])
    expect((await readdir(folder)).filter((name) => name.startsWith('n2'))).toEqual([])
  })

  it('is told apart by its process, and files of others in the folder stay', async () => {
    for (const node of ['n1', 'n2-3']) {
      const files = await start({ node })
      await written(files.keep(said(node)))
      await files.close()
    }
    await appendFile(join(folder, 'notes.txt'), frame({ kind: 'entry', id: 1, body: { text: 'no' } }))
    expect((await found()).sort()).toEqual(['n1', 'n2-3'])
  })
})
