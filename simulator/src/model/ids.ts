import { randomBytes } from 'node:crypto'

/** What an id names; it is the id's prefix. */
export type IdKind = 'event' | 'sess' | 'conv' | 'item' | 'resp' | 'call' | 'chatcmpl' | 'req'

/** An id as the server makes them: its kind and 21 unguessable letters and digits. */
export function newId(kind: IdKind): string {
  const letters = randomBytes(24).toString('base64').replaceAll(/[+/=]/g, 'x').slice(0, 21)
  return `${kind}_${letters}`
}
