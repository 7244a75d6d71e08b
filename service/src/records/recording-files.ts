import type { Stats } from 'node:fs'
import { type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TenantId } from '../kernel/ids.ts'
import type { SessionId } from './call-values.ts'
import { STORED_FRAME_BYTES, STORED_HEADER_BYTES } from './recording-wav.ts'

/** The audio of recordings, a folder for each tenant and in it one for each session. Only this user can read them. */
export type RecordingFiles = {
  /** Makes the file of a part. @throws the system's error, also when it is there already. */
  create(path: string): Promise<FileHandle>
  /** @throws the system's error when it is not there. */
  open(path: string): Promise<FileHandle>
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
  return {
    async create(path) {
      const file = join(folder, path)
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      return open(file, 'wx', 0o600)
    },
    open: (path) => open(join(folder, path), 'r'),
    async stateOf(path) {
      const file = await statOf(join(folder, path))
      if (!file) return null
      const frames = Math.max(0, Math.floor((file.size - STORED_HEADER_BYTES) / STORED_FRAME_BYTES))
      return { frames, writtenMs: file.mtimeMs }
    },
    remove: (tenantId, sessionId) => rm(join(folder, tenantId, sessionId), { recursive: true, force: true }),
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
