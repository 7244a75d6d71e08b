import { appendFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TenantId } from '../kernel/ids.ts'
import { makeFolder } from '../platform/make-folder.ts'
import type { SessionId } from './call-values.ts'

/** The event log of a session of a call: another stream that goes on with the call elsewhere has one of its own. */
export type EventLogKey = { tenantId: TenantId; sessionId: SessionId; epoch: number }

/** The event logs of sessions, a folder for each tenant and in it one for each session. Only this user can read them. */
export type EventLogFiles = {
  /** Adds to a log, which is made where it is not there. @throws the system's error. */
  append(key: EventLogKey, bytes: Buffer): Promise<void>
  /** Deletes all logs of a session. Again, it changes nothing. */
  remove(tenantId: TenantId, sessionId: SessionId): Promise<void>
}

/** @param folder made when the first log is. */
export function makeEventLogFiles(folder: string): EventLogFiles {
  return {
    async append({ tenantId, sessionId, epoch }, bytes) {
      const file = join(folder, tenantId, sessionId, `${epoch}.events`)
      const add = () => appendFile(file, bytes, { mode: 0o600 })
      await add().catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
        await makeFolder(dirname(file))
        await add()
      })
    },
    remove: (tenantId, sessionId) => rm(join(folder, tenantId, sessionId), { recursive: true, force: true }),
  }
}
