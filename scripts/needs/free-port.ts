import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below all that a system gives away by itself: Linux from 32768, others from 49152. A port that was given away and is free again could go
 * to any connection before it is used; one from here is only ever taken by somebody who asks for it by its number.
 */
const [FIRST, LAST] = [16_384, 32_767]
const TRIES = 20

/** A port of 127.0.0.1 at which nobody listens, for a program that has to be told one; a port 0 is better wherever it can be asked for what it got. */
export async function freePort(): Promise<number> {
  let cause: unknown
  for (let tried = 0; tried < TRIES; tried++) {
    const port = randomInt(FIRST, LAST + 1)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
      server.close()
      await once(server, 'close')
      return port
    } catch (error) {
      cause = error
    }
  }
  throw new Error(`No free port of 127.0.0.1 between ${FIRST} and ${LAST} in ${TRIES} tries.`, { cause })
}
