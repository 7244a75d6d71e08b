import { withoutQuery } from '../kernel/masks.ts'
import type { TenantDocument } from './tenant-document.ts'
import { hideSecrets } from './tenant-secrets.ts'

/** The document as the audit log keeps it: without its secrets, and without what stands behind the `?` of its addresses. */
export function auditedDocument(document: TenantDocument): TenantDocument {
  const hidden = hideSecrets(document)
  const { webhook, inbound_decision, ticketing, tools = [] } = hidden
  for (const holder of [webhook, inbound_decision, ...(tools ?? [])])
    if (holder && 'url' in holder) holder.url = withoutQuery(holder.url)
  if (ticketing) ticketing.base_url = withoutQuery(ticketing.base_url)
  return hidden
}
