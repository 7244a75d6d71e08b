/**
 * Why an address of a tenant's was not asked, or gave no answer. `forbidden`: we do not go there. `unresolved`: its name leads
 * nowhere. `timeout`, `connection`, `tls`: as far as it came. `stopped`: we gave up.
 */
export type OutboundFaultKind = 'forbidden' | 'unresolved' | 'timeout' | 'connection' | 'tls' | 'stopped'

/** A request to an address of a tenant's that got no answer; the message is a sentence for the tenant. */
export class OutboundFault extends Error {
  override readonly name = 'OutboundFault'
  readonly kind: OutboundFaultKind

  constructor(kind: OutboundFaultKind, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.kind = kind
  }
}
