import type { TenantId } from '../kernel/ids.ts'
import type { Bus } from '../platform/bus/port.ts'
import type { Credentials } from './credentials.ts'
import type { TenantCache } from './tenant-cache.ts'

const TOPIC = 'tenant-changed'

type Deps = { bus: Bus; cache: Pick<TenantCache, 'invalidate'>; credentials: Pick<Credentials, 'forget'> }

/** Who is told that a tenant, or a credential of it, was changed. */
export type TenantChanges = {
  /** To be called when the change is committed: at once for this node, by a message for the others. */
  changed(tenantId: TenantId): void
  close(): void
}

/**
 * Makes all nodes forget what they remember of a tenant when it was changed on one. Who misses the message finds out by the age
 * of what it remembers, within a second.
 */
export function makeTenantChanges({ bus, cache, credentials }: Deps): TenantChanges {
  function forget(tenantId: TenantId): void {
    cache.invalidate(tenantId)
    credentials.forget(tenantId)
  }
  const close = bus.subscribe(TOPIC, (tenantId) => {
    if (typeof tenantId === 'string') forget(tenantId as TenantId)
  })
  return {
    changed(tenantId) {
      forget(tenantId)
      bus.publish(TOPIC, tenantId)
    },
    close,
  }
}
