import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lockFile } from '../platform/file-lock.ts'
import type { Log } from '../platform/log.ts'
import type { Line, Waiting } from './journal-file.ts'
import { frame, unframe } from './journal-frame.ts'

/** What a process that is dead had not stored, in the order in which it came. Ours until one of the two is called. */
export type LeftBehind = {
  node: string
  waiting: Waiting[]
  /** All of it is stored. */
  remove(): Promise<void>
  /** All but these is stored, which are left to a later start. */
  keepOnly(rest: Waiting[]): Promise<void>
  /** Leaves it to a later start. */
  leave(): void
}

type Where = { folder: string; log: Pick<Log, 'error'> }

const NAME = /^(?<node>.+?)(?:-(?<number>\d+)\.log|\.lock)$/

/** Finds what dead processes left in the folder; files of those that live are not touched. Empty when nothing can be read. */
export async function findLeftBehind(where: Where): Promise<LeftBehind[]> {
  const left: LeftBehind[] = []
  for (const node of await nodesIn(where.folder)) {
    try {
      const found = await take(where, node)
      if (found) left.push(found)
    } catch (err) {
      where.log.error({ err, node }, 'the files of the journal could not be read')
    }
  }
  return left
}

async function nodesIn(folder: string): Promise<Set<string>> {
  const names = await readdir(folder).catch(() => [])
  return new Set(names.flatMap((name) => NAME.exec(name)?.groups?.['node'] ?? []))
}

/** Null for a process that lives, or one that left nothing. */
async function take({ folder, log }: Where, node: string): Promise<LeftBehind | null> {
  const lock = join(folder, `${node}.lock`)
  const unlock = lockFile(lock)
  if (!unlock) return null
  const read = async () => {
    const files = await logsOf(folder, node)
    return { files, waiting: await readAll(files, log) }
  }
  const { files, waiting } = await read().catch((error: unknown) => {
    unlock()
    throw error
  })
  const remove = async () => {
    try {
      for (const path of [...files.flatMap((file) => [file, `${file}.new`]), lock]) await rm(path, { force: true })
    } finally {
      unlock()
    }
    // What the database of the lock leaves behind of a process that was killed.
    await rm(`${lock}-journal`, { force: true })
  }
  const keepOnly = (rest: Waiting[]) => rewrite(files, rest).finally(unlock)
  if (waiting.length > 0) return { node, waiting, remove, keepOnly, leave: unlock }
  await remove()
  return null
}

/** Has the first of the files hold these alone, and removes the others. Whoever dies in between leaves some of it as it was. */
async function rewrite([first, ...others]: string[], waiting: Waiting[]): Promise<void> {
  if (first === undefined) return
  const text = waiting.map((each) => frame(each)).join('')
  try {
    await writeFile(`${first}.new`, text, { mode: 0o600, flush: true })
    await rename(`${first}.new`, first)
  } catch (error) {
    await rm(`${first}.new`, { force: true }).catch(() => undefined)
    throw error
  }
  for (const path of others) await rm(path, { force: true })
}

async function logsOf(folder: string, node: string): Promise<string[]> {
  const found = (await readdir(folder)).map((name) => NAME.exec(name)?.groups)
  const numbers = found.flatMap((of) => (of?.['node'] === node && of['number'] ? [Number(of['number'])] : []))
  return numbers.sort((a, b) => a - b).map((number) => join(folder, `${node}-${number}.log`))
}

async function readAll(paths: string[], log: Pick<Log, 'error'>): Promise<Waiting[]> {
  const waiting = new Map<number, Waiting>()
  for (const path of paths) {
    const { values, damaged } = unframe(await readFile(path, 'utf8'))
    if (damaged > 0) log.error({ path, lines: damaged }, 'lines of a journal file are damaged and lost')
    for (const line of values as Line[]) {
      if ('done' in line) for (const id of line.done) waiting.delete(id)
      else waiting.set(line.id, line)
    }
  }
  return [...waiting.values()]
}
