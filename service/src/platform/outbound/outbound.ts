import type { Clock } from '../../kernel/clock.ts'
import { destinationOf } from './destination.ts'
import { askFor, type OutboundAnswer, type OutboundRequest, readAnswer } from './exchange.ts'
import { OutboundFault } from './fault.ts'
import { makeResolve, type Resolve } from './resolve.ts'

/** Asks addresses that tenants have named, and nothing of the network that this service stands in. */
export type Outbound = {
  /**
   * Makes one request. Redirects are answers like any other and are not followed.
   *
   * @throws OutboundFault when there is no answer, within `timeoutMs` at the latest.
   */
  request(request: OutboundRequest): Promise<OutboundAnswer>
}

type Options = {
  clock: Clock
  /** OUTBOUND_ALLOW_PRIVATE_NETWORKS. Metadata services and what leads nowhere stay out of reach. */
  allowPrivate: boolean
  /** Default: the name servers of this machine. */
  resolve?: Resolve
  /** Who signs certificates; default: those that Node trusts. */
  ca?: string
}

export function makeOutbound({ clock, allowPrivate, resolve = makeResolve(), ca }: Options): Outbound {
  return {
    async request(request) {
      const ending = new AbortController()
      const { promise: over, reject } = Promise.withResolvers<never>()
      // It may be over before anybody waits for it.
      over.catch(() => undefined)
      const give = (fault: OutboundFault) => {
        reject(fault)
        ending.abort()
      }
      const stop = () => give(new OutboundFault('stopped', 'The request was given up.'))
      const late = () => give(new OutboundFault('timeout', `There was no answer within ${request.timeoutMs} ms.`))
      const cancel = clock.after(request.timeoutMs, late)
      request.signal?.addEventListener('abort', stop)
      try {
        if (request.signal?.aborted) stop()
        const signal = ending.signal
        const head = destinationOf(request.url, { resolve, allowPrivate }).then((destination) => {
          signal.throwIfAborted()
          return askFor(destination, { request, ca, signal })
        })
        // Once the head has come, the end of the time cuts the body short and is no failure.
        return await readAnswer(await Promise.race([head, over]), request)
      } finally {
        cancel()
        request.signal?.removeEventListener('abort', stop)
      }
    },
  }
}
