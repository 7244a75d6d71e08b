import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Log } from '../platform/log.ts'
import { audioStateOf, isConfigured, isReady, type SecondaryAudio } from './audio-providers.ts'
import type { CachedTenant, TenantCache } from './tenant-cache.ts'

/** What is known on this node of the things around its tenants. */
export type TenantSurroundings = {
  secondary: SecondaryAudio
  /** REDIS_URL is set. */
  hasStreamBroker: boolean
  /** The live calls of the tenant whose stream is on this node. */
  activeSessions(tenantId: TenantId): number
  /** The open sockets that follow the tenant's log on this node. */
  logSubscribers(tenantId: TenantId): number
}

/** A cached tenant as diagnostics show it, in the API's own words. */
export function diagnosticsOf({ runtime }: CachedTenant, around: TenantSurroundings) {
  const { tenant_id, org_id, telephony } = runtime
  return {
    tenant_id,
    org_id,
    active_sessions: around.activeSessions(tenant_id),
    audio_output_provider: audioStateOf(runtime, around.secondary).configured,
    secondary_audio_configured: isConfigured(runtime, around.secondary),
    secondary_audio_ready: isReady(runtime, around.secondary),
    stream_broker_configured: around.hasStreamBroker,
    log_subscribers: around.logSubscribers(tenant_id),
    telephony_configured: telephony.account_sid !== null && telephony.auth_token !== null,
  }
}

export type ReloadFailure = { tenantId: TenantId; error: string }
export type Reloaded = { attempted: number; reloaded: number; failures: ReloadFailure[] }

/** So many at a time, so that calls find the database free. */
const AT_ONCE = 4

/** Reads every cached tenant again. One that cannot be read stays as it was, and is told. */
export async function reloadCached(cache: TenantCache, log: Pick<Log, 'error'>): Promise<Reloaded> {
  const tenantIds = cache.entries().map(({ runtime }) => runtime.tenant_id)
  const waiting = [...tenantIds]
  const failures: ReloadFailure[] = []
  const work = async () => {
    for (let tenantId = waiting.shift(); tenantId !== undefined; tenantId = waiting.shift()) {
      const error = await reloadOne(cache, log, tenantId)
      if (error !== null) failures.push({ tenantId, error })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { attempted: tenantIds.length, reloaded: tenantIds.length - failures.length, failures }
}

/** Null when it was read; else what may be told of why not. */
async function reloadOne(cache: TenantCache, log: Pick<Log, 'error'>, tenantId: TenantId): Promise<string | null> {
  try {
    return (await cache.reload(tenantId)) ? null : 'There is no such tenant any more.'
  } catch (err) {
    log.error({ err, tenant_id: tenantId }, 'a cached tenant could not be read again')
    return err instanceof AppError ? err.message : 'The stored document cannot be read: see the log.'
  }
}
