import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Outbound } from '../platform/outbound/outbound.ts'
import type { TenantRuntime, TenantWebhook } from '../tenancy/tenant-runtime.ts'
import type { AttemptResult, Send } from './attempt.ts'
import { post, type Target } from './post.ts'

type Deps = {
  clock: Clock
  log: Pick<Log, 'warn'>
  outbound: Outbound
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  /** Sets `webhook.disabled` while the tenant's webhook still has this address. */
  disableWebhook(tenantId: TenantId, url: string): Promise<void>
}

/** The answer of a target that wants nothing more, ever. */
const GONE = 410

/** Sends an event to the webhook that its tenant has now. One that answers 410 is sent nothing more. */
export function makeSendWebhook(deps: Deps): Send {
  return async (row, signal) => {
    const tenantId = row.tenantId as TenantId
    const webhook = (await deps.tenants.get(tenantId))?.webhook ?? null
    if (!webhook) return nowhere('The tenant has no webhook.')
    if (webhook.disabled) return nowhere('The webhook is disabled: its address answered 410. Give it another one.')
    const result = await post(deps, row, { target: targetOf(webhook), signal })
    if (result === 'stopped' || result.statusCode !== GONE) return result
    deps.log.warn({ tenant_id: tenantId }, 'a webhook was disabled: its target answered 410')
    await deps.disableWebhook(tenantId, webhook.url)
    return { ...result, isFinal: true }
  }
}

function targetOf({ url, secret, secret_previous }: TenantWebhook): Target {
  return { url, secrets: [secret, secret_previous].filter((each) => each !== null) }
}

function nowhere(error: string): AttemptResult {
  return { url: null, statusCode: null, error, retryAfterMs: null, isFinal: true }
}
