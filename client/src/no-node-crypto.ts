import type { NodeCrypto } from './node-crypto.ts'

type Surroundings = { process?: { getBuiltinModule?: (name: string) => NodeCrypto | undefined } }

/**
 * In the place of `node-crypto.ts` where the client is not run by Node, as in the runtime of an edge or in a page: some have it
 * nevertheless. WebCrypto is no help, for it only answers later.
 *
 * @throws Error where there is none.
 */
export function nodeCrypto(): NodeCrypto {
  const found = (globalThis as Surroundings).process?.getBuiltinModule?.('node:crypto')
  if (!found) throw new Error('Webhooks can only be verified where there is node:crypto, and there is none here.')
  return found
}
