import type { FaultDetail } from '../kernel/errors.ts'
import { agentConfigFaults } from './agent-config.ts'
import type { TenantDocument } from './tenant-document.ts'
import {
  bearerFault,
  callingHoursFault,
  countryFault,
  credentialFault,
  fallbackFault,
  tenantIdFault,
  timeZoneFault,
  urlFault,
  webhookSecretFault,
} from './tenant-rules.ts'
import { toolFaults } from './tenant-tool-faults.ts'
import { HIDDEN } from './tenant-values.ts'

/** A member of the document and what is wrong with it; null when nothing is. */
type Finding = [pointer: string, message: string | null]

/**
 * What is wrong with a document that its schema cannot tell. A secret that reads `***` is taken as sound.
 *
 * @param path stands before the pointer of each fault, such as `/body`.
 * @param stored the document as it is, if there is one: JSON Schemas that it has, too, were taken before.
 */
export async function documentFaults(
  document: TenantDocument,
  path: string,
  stored: TenantDocument | null = null,
): Promise<FaultDetail[]> {
  const findings: Finding[] = [
    ['/tenant_id', stored ? null : tenantIdFault(document.tenant_id)],
    ...ownFindings(document),
    ...complianceFindings(document),
    ...(document.tools ? under('/tools', await toolFaults(document.tools, stored?.tools ?? [])) : []),
  ]
  const faults = findings.flatMap(([pointer, message]) => (message === null ? [] : [{ path: path + pointer, message }]))
  if (document.agent) faults.push(...agentConfigFaults(document.agent, `${path}/agent`, stored?.agent))
  return faults
}

function ownFindings({ auth_token, telephony, webhook, inbound_decision, ticketing }: TenantDocument): Finding[] {
  return [
    ['/auth_token', checkSecret(auth_token, bearerFault)],
    ['/telephony/auth_token', checkSecret(telephony?.auth_token, credentialFault)],
    ['/telephony/auth_token_secondary', checkSecret(telephony?.auth_token_secondary, credentialFault)],
    ['/telephony/fallback_number', check(telephony?.fallback_number, fallbackFault)],
    ['/webhook/url', check(webhook?.url, urlFault)],
    ['/webhook/secret', checkSecret(webhook?.secret, webhookSecretFault)],
    ['/webhook/secret_previous', checkSecret(webhook?.secret_previous, webhookSecretFault)],
    ['/inbound_decision/url', check(inbound_decision?.url, urlFault)],
    ['/ticketing/base_url', check(ticketing?.base_url, urlFault)],
    ['/ticketing/token', checkSecret(ticketing?.token, credentialFault)],
  ]
}

function complianceFindings({ compliance }: TenantDocument): Finding[] {
  const countries = compliance?.allowed_countries ?? []
  return [
    ['/compliance/timezone', check(compliance?.timezone, timeZoneFault)],
    ['/compliance/calling_hours', check(compliance?.calling_hours, callingHoursFault)],
    ...countries.map((code, index): Finding => [`/compliance/allowed_countries/${index}`, countryFault(code)]),
  ]
}

function under(parent: string, findings: Finding[]): Finding[] {
  return findings.map(([pointer, message]) => [parent + pointer, message])
}

/** What reads as a secret that is not shown stands for the one that is stored. */
function checkSecret(secret: string | null | undefined, rule: (secret: string) => string | null): string | null {
  return secret === HIDDEN ? null : check(secret, rule)
}

function check<Value>(value: Value | null | undefined, rule: (value: Value) => string | null): string | null {
  return value === null || value === undefined ? null : rule(value)
}
