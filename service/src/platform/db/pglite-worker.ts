import { parentPort, workerData } from 'node:worker_threads'
import type { PGlite } from '@electric-sql/pglite'
import { makeDataFolder, openData, openNothing } from './data-folder.ts'
import { FolderError, lockFolder } from './folder-lock.ts'
import type { Response, WorkerStart } from './pglite-protocol.ts'
import { ERROR_FIELDS, type QueryRequest, type RawError, type Request } from './pglite-protocol.ts'
import { PgliteStatements } from './pglite-statements.ts'

/**
 * PostgreSQL in a thread of its own: each statement blocks the thread that it runs on, and the main thread moves audio.
 * What is not an error of SQL ends the thread, because nothing is known of PostgreSQL's state after it.
 */
async function serve({ folder, pid }: WorkerStart): Promise<void> {
  const { pglite, unlock } = folder === null ? await inMemory() : await inFolder(folder, pid)
  const statements = new PgliteStatements(pglite)
  send({ type: 'ready' })

  let last: Promise<void> = Promise.resolve()
  parentPort?.on('message', (request: Request) => {
    last = last.then(() => (request === 'close' ? close(pglite, unlock) : answer(statements, request)))
  })
}

type Opened = { pglite: PGlite; unlock: () => void }

async function inFolder(folder: string, pid: number): Promise<Opened> {
  await makeDataFolder(folder)
  const unlock = lockFolder(folder, pid)
  return { pglite: await openData(folder), unlock }
}

async function inMemory(): Promise<Opened> {
  return { pglite: await openNothing(), unlock: () => {} }
}

/** Texts cross to the main thread cheaply and are parsed there by the parsers of `pg`, alike for both databases. */
async function answer(statements: PgliteStatements, { id, sql, parameters }: QueryRequest): Promise<void> {
  try {
    send({ type: 'result', id, result: await statements.run(sql, parameters) })
  } catch (error) {
    if (!isSqlError(error)) throw error
    send({ type: 'error', id, error: toRawError(error) })
  }
}

function isSqlError(error: unknown): error is Error & Record<string, unknown> {
  return error instanceof Error && 'severity' in error && 'code' in error
}

function toRawError(error: Error & Record<string, unknown>): RawError {
  const raw: RawError = { message: error.message }
  for (const field of ERROR_FIELDS) {
    const value = error[field]
    if (typeof value === 'string') raw[field] = value
  }
  return raw
}

async function close(pglite: PGlite, unlock: () => void): Promise<void> {
  await pglite.close()
  unlock()
  parentPort?.close()
}

function send(response: Response): void {
  parentPort?.postMessage(response)
}

const start: WorkerStart = workerData
try {
  await serve(start)
} catch (error) {
  if (!(error instanceof FolderError)) throw error
  send({ type: 'refused', message: error.message })
}
