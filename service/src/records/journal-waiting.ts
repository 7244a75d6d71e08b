import type { TenantId } from '../kernel/ids.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { JournalEntry } from './journal-entry.ts'
import type { Waiting } from './journal-file.ts'

/** What is kept of an entry. Of its tenant only the name: the document has secrets, and may have changed when this is read. */
type KeptEntry = Omit<JournalEntry, 'call'> & {
  tenantId: TenantId
  call: Pick<JournalEntry['call'], 'callSid' | 'sessionId' | 'epoch'>
}

/** Writes an entry down for as long as the database is away. */
export function keptEntry({ call, ...entry }: JournalEntry): Waiting {
  const { tenant, callSid, sessionId, epoch } = call
  const body: KeptEntry = { ...entry, tenantId: tenant.tenant_id, call: { callSid, sessionId, epoch } }
  return { kind: 'entry', body }
}

type FindTenant = (tenantId: TenantId) => Promise<TenantRuntime | null>

/** Reads entries of `keptEntry`; those of tenants that are gone are left out. @throws what `find` throws. */
export async function readEntries(waiting: Waiting[], find: FindTenant): Promise<JournalEntry[]> {
  const kept = waiting.flatMap(({ kind, body }) => (kind === 'entry' ? [body as KeptEntry] : []))
  const entries: JournalEntry[] = []
  for (const { tenantId, call, ...entry } of kept) {
    const tenant = await find(tenantId)
    // Sound: what stands behind a checksum was written by `keptEntry`.
    if (tenant) entries.push({ ...entry, call: { ...call, tenant } } as JournalEntry)
  }
  return entries
}
