import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Waiting } from '../records/journal-file.ts'
import { type LateDeps, type LateWrites, makeLateWrites } from '../records/late-writes.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { dated, undated } from './kept-ends.ts'
import { type NotedRefusal, writeRefusal } from './write-refusal.ts'

/** Calls that were not taken while the database was away. */
export type LateRefusals = LateWrites<NotedRefusal> & {
  /** Those of this id that were taken and are not written: what is changed of them is written with them. */
  find(callSid: string): NotedRefusal[]
}

type Deps = LateDeps & { db: Db; tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> } }

export function makeLateRefusals({ db, clock, log, files, tenants }: Deps): LateRefusals {
  const unwritten = new Set<NotedRefusal>()
  const writes = makeLateWrites<NotedRefusal>({
    ...{ clock, files, keptAs: keptRefusal },
    async write(noted) {
      const tenant = await tenants.get(noted.tenantId)
      if (tenant) await writeRefusal(db, tenant, noted, new Date(clock.now()))
      unwritten.delete(noted)
    },
    refused(noted, err) {
      unwritten.delete(noted)
      const fields = { err, tenant_id: noted.tenantId, call_sid: noted.call.callSid }
      log.error(fields, 'the database refused a call that was not taken')
    },
  })
  return {
    ...writes,
    async take(noted) {
      unwritten.add(noted)
      const isTaken = await writes.take(noted)
      if (!isTaken) unwritten.delete(noted)
      return isTaken
    },
    find: (callSid) => [...unwritten].filter(({ call }) => call.callSid === callSid),
  }
}

function keptRefusal(noted: NotedRefusal): Waiting {
  return { kind: 'refusal', body: dated(noted) }
}

/** Reads the calls that were not taken among what was kept. */
export function readRefusals(waiting: Waiting[]): NotedRefusal[] {
  // Sound: what stands behind a checksum was written by `keptRefusal`.
  type KeptRefusal = Omit<NotedRefusal, 'at'> & { at: string }
  return waiting.flatMap(({ kind, body }) => (kind === 'refusal' ? [undated(body as KeptRefusal)] : []))
}
