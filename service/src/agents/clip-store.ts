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
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    clips: ClipRow
  }
}

/** Those of these keys that there are. */
export async function findClips(
  db: Db,
  tenantId: TenantId,
  keys: readonly string[],
): Promise<{ key: string; audio: Buffer }[]> {
  const rows = await db
    .selectFrom('clips')
    .select(['clip_key', 'audio'])
    .where('tenant_id', '=', tenantId)
    .where('clip_key', 'in', keys)
    .execute()
  return rows.map(({ clip_key: key, audio }) => ({ key, audio: Buffer.from(audio) }))
}

/** Keeps a clip; one that is there already stays as it is. A tenant that is gone meanwhile gets none. */
export async function insertClip(
  db: Db,
  tenantId: TenantId,
  { key, audio, at }: { key: string; audio: Buffer; at: Date },
): Promise<void> {
  await sql`
    insert into clips (tenant_id, clip_key, audio, created_at)
    select tenant_id, ${key}, ${audio}, ${at} from tenants where tenant_id = ${tenantId}
    on conflict do nothing`.execute(db)
}

/** Deletes all of the tenant's clips but the newest `kept`: what a call still needs is made again. */
export async function deleteOldClips(db: Db, tenantId: TenantId, kept: number): Promise<void> {
  await sql`
    delete from clips where tenant_id = ${tenantId} and clip_key in (
      select clip_key from clips where tenant_id = ${tenantId}
       order by created_at desc, clip_key desc offset ${kept})`.execute(db)
}
