import { createHmac, timingSafeEqual } from 'node:crypto'

export type NodeCrypto = { createHmac: typeof createHmac; timingSafeEqual: typeof timingSafeEqual }

/** What signatures are verified with. */
export const nodeCrypto = (): NodeCrypto => ({ createHmac, timingSafeEqual })
