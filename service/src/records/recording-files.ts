import type { Stats } from 'node:fs'
import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TenantId } from '../kernel/ids.ts'
import { makeLanes } from '../platform/lanes.ts'
import { makeFolder } from '../platform/make-folder.ts'
import type { SessionId } from './call-values.ts'
import { STORED_FRAME_BYTES, STORED_HEADER_BYTES } from './recording-wav.ts'

/** A file that is written, or read, piece by piece. */
type WrittenFile = Pick<FileHandle, 'write' | 'close'>
type ReadFile = Pick<FileHandle, 'read' | 'close'>

/**
 * Node does what is asked of files, and looks up the names of addresses, on four threads. The folder may be another machine's, and hang: it
 * is left two of them, so that the log is written, carriers and models are reached and webhooks go out all the same.
 */
const LANES = 2

/**
 * The audio of recordings, a folder for each tenant and in it one for each session. Only this user can read them. Whoever asks for something of
 * a folder that hangs waits for as long as it does: a recorder with one block, a reader with one.
 */
export type RecordingFiles = {
  /** Makes the file of a part. @throws the system's error, also when it is there already. */
  create(path: string): Promise<WrittenFile>
  /** @throws the system's error when it is not there. */
  open(path: string): Promise<ReadFile>
  /**
   * How many frames a part has by its file's size (what its head says may be a second old when its process was killed), and
   * when the file was last written to. Null when it is not in this folder.
   */
  stateOf(path: string): Promise<{ frames: number; writtenMs: number } | null>
  /** Deletes all audio of a session. Again, it changes nothing. */
  remove(tenantId: TenantId, sessionId: SessionId): Promise<void>
}

/** Where a part lies below the folder of the recordings. */
export function pathOfPart(tenantId: TenantId, sessionId: SessionId, part: number): string {
  return join(tenantId, sessionId, `${part}.wav`)
}

/** @param folder made when the first recording is. */
export function makeRecordingFiles(folder: string): RecordingFiles {
  const lanes = makeLanes(LANES)

  async function make(file: string): Promise<FileHandle> {
    await makeFolder(dirname(file))
    return open(file, 'wx', 0o600)
  }

  return {
    async create(path) {
      const file = await lanes(() => make(join(folder, path)))
      const write = (...block: Parameters<FileHandle['write']>) => lanes(() => file.write(...block))
      return { write: write as FileHandle['write'], close: () => lanes(() => file.close()) }
    },
    async open(path) {
      const file = await lanes(() => open(join(folder, path), 'r'))
      const read = (...block: Parameters<FileHandle['read']>) => lanes(() => file.read(...block))
      return { read, close: () => lanes(() => file.close()) }
    },
    async stateOf(path) {
      const file = await lanes(() => statOf(join(folder, path)))
      if (!file) return null
      const frames = Math.max(0, Math.floor((file.size - STORED_HEADER_BYTES) / STORED_FRAME_BYTES))
      return { frames, writtenMs: file.mtimeMs }
    },
    remove: (tenantId, sessionId) =>
      lanes(() => rm(join(folder, tenantId, sessionId), { recursive: true, force: true })),
  }
}

async function statOf(file: string): Promise<Stats | null> {
  try {
    return await stat(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
