import { sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'

/** Words that were spoken ahead of the calls in which they are heard. */
type ClipRow = {
  tenant_id: TenantId
  /** Of the words, the voice, its speed and the model: see `clipKey`. */
  clip_key: string
  /** G.711 µ-law, 8 kHz, mono. */
  audio: Uint8Array
  created_at: Date
  /** When a call last had it, to the day; null until it was a day old. */
  used_at: Date | null
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    clips: ClipRow
  }
}

/** A clip as it is stored. `usedAt`: when a call last had it, or it was made, to the day. */
export type StoredClip = { key: string; audio: Buffer; usedAt: Date }

/** Those of these keys that there are. */
export async function findClips(db: Db, tenantId: TenantId, keys: readonly string[]): Promise<StoredClip[]> {
  const rows = await db
    .selectFrom('clips')
    .select(['clip_key', 'audio', 'created_at', 'used_at'])
    .where('tenant_id', '=', tenantId)
    .where('clip_key', 'in', keys)
    .execute()
  return rows.map(({ clip_key: key, audio, created_at, used_at }) => ({
    ...{ key, audio: Buffer.from(audio), usedAt: used_at ?? created_at },
  }))
}

/** Writes down that calls have these clips `at` now, of those for which that was written before `since` only. */
export async function touchClips(
  db: Db,
  tenantId: TenantId,
  { keys, at, since }: { keys: readonly string[]; at: Date; since: Date },
): Promise<void> {
  await db
    .updateTable('clips')
    .set({ used_at: at })
    .where('tenant_id', '=', tenantId)
    .where('clip_key', 'in', keys)
    .where((eb) => eb(eb.fn.coalesce('used_at', 'created_at'), '<', since))
    .execute()
}

/** Keeps a clip; one that is there already stays as it is. A tenant that is gone meanwhile gets none. */
export async function insertClip(
  db: Db,
  tenantId: TenantId,
  { key, audio, at }: { key: string; audio: Buffer; at: Date },
): Promise<void> {
  await sql`
    insert into clips (tenant_id, clip_key, audio, created_at)
    select tenant_id, ${key}, ${audio}, ${at} from tenants
     where tenant_id = ${tenantId} and deleted_at is null
    on conflict do nothing`.execute(db)
}

/** Deletes all of the tenant's clips but the `kept` that were used last: what a call still needs is made again. */
export async function deleteOldClips(db: Db, tenantId: TenantId, kept: number): Promise<void> {
  await sql`
    delete from clips where tenant_id = ${tenantId} and clip_key in (
      select clip_key from clips where tenant_id = ${tenantId}
       order by coalesce(used_at, created_at) desc, clip_key desc offset ${kept})`.execute(db)
}
