import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { TenantCache } from './tenant-cache.ts'
import { toRuntime } from './tenant-defaults.ts'
import type { TelephonyDefaults, TenantRuntime } from './tenant-runtime.ts'
import { listNewestTenantsAcrossTenants } from './tenant-store.ts'

/** The provider of voices beside the model's own. */
export type SecondaryAudio = {
  /** Whether this installation has an account there. */
  hasKey: boolean
  /** Whether it answers, and has this voice, as far as calls have found out. */
  isAvailable(voice: { voiceId: string; modelId: string | null }): boolean
}

type AudioProvider = 'primary' | 'secondary'
/** Why calls hear the model's own voice although their tenant asks for another one. */
export type FallbackReason = 'not_configured' | 'unavailable'

/** What a tenant asks for, and what its calls would get now. */
export type AudioState = { configured: AudioProvider; effective: AudioProvider; fallbackReason: FallbackReason | null }

export type TenantAudio = AudioState & { tenantId: TenantId; isCached: boolean }

/** What of the secondary provider a tenant's calls could use. */
export function audioStateOf(
  { audio_output }: Pick<TenantRuntime, 'audio_output'>,
  secondary: SecondaryAudio,
): AudioState {
  const configured = audio_output.provider
  if (configured === 'primary') return { configured, effective: 'primary', fallbackReason: null }
  const fallbackReason = whyFallBack({ audio_output }, secondary)
  return { configured, effective: fallbackReason === null ? 'secondary' : 'primary', fallbackReason }
}

function whyFallBack(
  { audio_output: { voice_id: voiceId, model_id: modelId } }: Pick<TenantRuntime, 'audio_output'>,
  { hasKey, isAvailable }: SecondaryAudio,
): FallbackReason | null {
  if (!hasKey || voiceId === null) return 'not_configured'
  return isAvailable({ voiceId, modelId }) ? null : 'unavailable'
}

/** Whether the tenant's calls could be spoken by the secondary provider now, whether they ask for it or not. */
export function isReady({ audio_output }: Pick<TenantRuntime, 'audio_output'>, secondary: SecondaryAudio): boolean {
  return whyFallBack({ audio_output }, secondary) === null
}

/** Whether there is all that the secondary provider needs: an account, and a voice for this tenant. */
export function isConfigured(
  { audio_output }: Pick<TenantRuntime, 'audio_output'>,
  { hasKey }: Pick<SecondaryAudio, 'hasKey'>,
): boolean {
  return hasKey && audio_output.voice_id !== null
}

type Deps = {
  db: Db
  cache: Pick<TenantCache, 'entries'>
  telephony: TelephonyDefaults
  secondary: SecondaryAudio
}

/**
 * What the calls of tenants are spoken with: of the cached ones, those used last first, and behind them, if asked for, of the
 * stored ones, the newest first; `limit` of them at most.
 */
export async function listTenantAudio(
  { db, cache, telephony, secondary }: Deps,
  { limit, includeUncached }: { limit: number; includeUncached: boolean },
): Promise<TenantAudio[]> {
  const cached = cache.entries().toReversed()
  const known = new Set(cached.map(({ runtime }) => runtime.tenant_id))
  const found = cached.slice(0, limit).map(({ runtime }) => ({ runtime, isCached: true }))
  const missing = limit - found.length
  if (includeUncached && missing > 0) {
    // Among so many of the newest there are `missing` that are not cached, or there are no more.
    const newest = await listNewestTenantsAcrossTenants(db, missing + known.size)
    const runtimes = newest
      .filter(({ tenant_id }) => !known.has(tenant_id))
      .slice(0, missing)
      .map(({ document }) => toRuntime(document, telephony))
    found.push(...runtimes.map((runtime) => ({ runtime, isCached: false })))
  }
  return found.map(({ runtime, isCached }) => {
    return { tenantId: runtime.tenant_id, isCached, ...audioStateOf(runtime, secondary) }
  })
}
