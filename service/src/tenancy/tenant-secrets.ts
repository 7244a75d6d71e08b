import type { FaultDetail } from '../kernel/errors.ts'
import type { Sealer } from '../kernel/seal.ts'
import type { TenantDocument } from './tenant-document.ts'
import { HIDDEN } from './tenant-values.ts'

/** Where a document may hold a secret; the values of tool headers come on top of these. The list is the whole truth. */
const SECRET_MEMBERS = [
  'auth_token',
  'telephony/auth_token',
  'telephony/auth_token_secondary',
  'webhook/secret',
  'webhook/secret_previous',
  'ticketing/token',
]

/** One secret of a document. */
type Secret = {
  /** Names it by meaning: a tool's header keeps its name when the tools change places. */
  name: string
  /** JSON pointer into the document. */
  pointer: string
  value: string
  /** The origin of the address in the document that it is sent to; null for one that is sent to none. */
  sentTo: string | null
}

/** The document as it may be shown: every secret that is set reads `***`. */
export function hideSecrets(document: TenantDocument): TenantDocument {
  return mapSecrets(document, () => HIDDEN)
}

/**
 * The document as it may be stored: every secret sealed for its place in this tenant's document, so that it opens
 * nowhere else.
 */
export function sealSecrets(document: TenantDocument, sealer: Sealer): TenantDocument {
  return mapSecrets(document, ({ name, value }) => sealer.seal(value, `${document.tenant_id}/${name}`))
}

/**
 * Undoes `sealSecrets`.
 *
 * @throws Error when a secret was sealed with another key, or for another place.
 */
export function openSecrets(document: TenantDocument, sealer: Sealer): TenantDocument {
  return mapSecrets(document, ({ name, value }) => sealer.open(value, `${document.tenant_id}/${name}`))
}

/** The sealed document with its secrets sealed by the present key: as it is when they all are. @throws Error as `openSecrets`. */
export function renewSecrets(document: TenantDocument, sealer: Pick<Sealer, 'renew'>): TenantDocument {
  return mapSecrets(document, ({ name, value }) => sealer.renew(value, `${document.tenant_id}/${name}`))
}

/**
 * Puts the stored secrets where `next` says `***`. Headers are found again by the names of tool and header. A secret is kept for
 * whom it was given: who may change an address, and not read secrets, must not have them sent to another host.
 *
 * @param stored the document with its secrets open; null when the tenant is new.
 * @returns a fault, with `path` before its pointer, for each `***` that has no stored secret behind it.
 */
export function keepStored(
  next: TenantDocument,
  stored: TenantDocument | null,
  path: string,
): { document: TenantDocument; faults: FaultDetail[] } {
  const known = stored ? secretsByName(stored) : new Map<string, Secret>()
  const faults: FaultDetail[] = []
  const document = mapSecrets(next, (secret) => {
    if (secret.value !== HIDDEN) return secret.value
    const kept = known.get(secret.name)
    const message = whyNotKept(secret, kept)
    if (message !== null) faults.push({ path: path + secret.pointer, message })
    return kept?.value ?? secret.value
  })
  return { document, faults }
}

function whyNotKept({ sentTo }: Secret, kept: Secret | undefined): string | null {
  if (!kept) return 'has no stored secret to keep: send the secret'
  return kept.sentTo === sentTo ? null : 'was given for another host: send the secret again'
}

function secretsByName(document: TenantDocument): Map<string, Secret> {
  const secrets = new Map<string, Secret>()
  mapSecrets(document, (secret) => {
    secrets.set(secret.name, secret)
    return secret.value
  })
  return secrets
}

function mapSecrets(document: TenantDocument, change: (secret: Secret) => string): TenantDocument {
  const copy = structuredClone(document)
  const ticketsAt = copy.ticketing ? originOf(copy.ticketing.base_url) : null
  for (const name of SECRET_MEMBERS) {
    const sentTo = name === 'ticketing/token' ? ticketsAt : null
    changeMember(copy, name, (secret) => change({ ...secret, sentTo }))
  }
  copy.tools?.forEach(({ name, url, headers = {} }, index) => {
    const sentTo = originOf(url)
    for (const [header, value] of Object.entries(headers)) {
      const pointer = `/tools/${index}/headers/${header.replaceAll('~', '~0')}`
      headers[header] = change({ name: `tools/${name}/headers/${header.toLowerCase()}`, pointer, value, sentTo })
    }
  })
  return copy
}

/** Of what is no address, itself. */
function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url
}

type NamedSecret = Omit<Secret, 'sentTo'>

function changeMember(document: TenantDocument, name: string, change: (secret: NamedSecret) => string): void {
  const members = name.split('/')
  const last = members.pop() ?? ''
  const holder = members.reduce<unknown>((at, member) => (isRecord(at) ? at[member] : null), document)
  if (!isRecord(holder)) return
  const value = holder[last]
  if (typeof value === 'string') holder[last] = change({ name, pointer: `/${name}`, value })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
