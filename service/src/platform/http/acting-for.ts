import type { preHandlerAsyncHookHandler } from 'fastify'
import type { Actor } from '../../kernel/actor.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { knownActorOf, tenantOf } from './guards.ts'
import { isSafe } from './people.ts'

/** Something that an administrator of the installation is about to change for a tenant. */
export type ActFor = { by: Actor; tenantId: TenantId; method: string; path: string }

/**
 * Makes the hook, behind `tenantGuard`, that tells what administrators change in a tenant's place, before it is done: what
 * cannot be told is not done. A person of the tenant acts for nobody else.
 */
export function tellActs(tell: (act: ActFor) => Promise<void>): preHandlerAsyncHookHandler {
  return async (request) => {
    const by = knownActorOf(request)
    if (by === null || by.kind === 'person' || isSafe(request.method)) return
    const path = request.url.replace(/[?#].*$/s, '')
    await tell({ by, tenantId: tenantOf(request), method: request.method, path })
  }
}
