import type { Clock } from '../kernel/clock.ts'
import { type NodeId, newId, type TenantId } from '../kernel/ids.ts'
import type { Bus } from '../platform/bus/port.ts'
import type { LiveEvent, WatchedEvents } from './live-events.ts'
import { askNode, type WatchedEvent, watchTopic } from './remote-calls.ts'

type Deps = { bus: Bus; clock: Clock; nodeId: NodeId }
type Wanted = { tenantId: TenantId; streamSid: string; afterId: number }

/** Well within the time after which the other node takes a watcher to be gone. */
const RENEW_INTERVAL_MS = 5_000
/** Events that came before they are watched; more of them, and the watch begins anew. */
const MAX_WAITING = 1_000

/** The calls of other nodes that are watched on this one. */
export type RemoteWatches = {
  /** @throws AppError `not_found`, or `unavailable` when the node does not answer. */
  begin(node: NodeId, wanted: Wanted): Promise<WatchedEvents>
  close(): void
}

export function makeRemoteWatches({ bus, clock, nodeId }: Deps): RemoteWatches {
  const watches = new Map<string, RemoteWatch>()
  const stop = bus.subscribe(watchTopic(nodeId), (message) => {
    const { watchId, event } = message as WatchedEvent
    watches.get(watchId)?.told(event)
  })
  const stopRenewals = clock.every(RENEW_INTERVAL_MS, () => {
    for (const watch of watches.values()) void watch.renew()
  })

  return {
    async begin(node, wanted) {
      const watchId = newId<string>(clock.now())
      const end = () => {
        if (watches.delete(watchId)) askNode(bus, node, { type: 'unwatch', watchId }).catch(() => {})
      }
      const renew = () => askNode(bus, node, { type: 'renew', watchId })
      const watch = new RemoteWatch({ renew, end })
      watches.set(watchId, watch)
      try {
        const { kept, lastId } = await askNode(bus, node, { type: 'watch', ...wanted, watchId, watcher: nodeId })
        watch.begin(kept, lastId)
        return watch
      } catch (error) {
        end()
        throw error
      }
    },
    close() {
      stop()
      stopRenewals()
      for (const watch of watches.values()) watch.break()
    },
  }
}

/** A call of another node that is watched. What does not come in order has lost something: then the watch breaks. */
class RemoteWatch implements WatchedEvents {
  readonly #node: { renew(): Promise<boolean>; end(): void }
  /** What came and was not told yet: before there is a watcher, and before it is known what was kept. */
  #waiting: LiveEvent[] = []
  #nextId: number | null = null
  #tell: ((event: LiveEvent) => void) | null = null
  #broken: (() => void) | null = null
  #isOver = false

  constructor(node: { renew(): Promise<boolean>; end(): void }) {
    this.#node = node
  }

  begin(kept: LiveEvent[], lastId: number): void {
    const early = this.#waiting
    this.#waiting = kept
    this.#nextId = lastId + 1
    for (const event of early) this.told(event)
  }

  told(event: LiveEvent): void {
    if (this.#nextId !== null) {
      if (event.id !== this.#nextId) return this.break()
      this.#nextId += 1
    }
    if (this.#tell) this.#tell(event)
    else if (this.#waiting.push(event) > MAX_WAITING) this.break()
  }

  watch(_afterId: number, watcher: (event: LiveEvent) => void, broken: () => void): () => void {
    this.#broken = broken
    if (this.#isOver) broken()
    for (const event of this.#waiting) watcher(event)
    this.#waiting = []
    this.#tell = watcher
    return () => this.#end()
  }

  async renew(): Promise<void> {
    // Until it has begun the other node may not know it yet.
    if (this.#nextId === null) return
    const isKnown = await this.#node.renew().catch(() => false)
    if (!isKnown) this.break()
  }

  break(): void {
    if (this.#isOver) return
    this.#end()
    this.#broken?.()
  }

  #end(): void {
    this.#isOver = true
    this.#node.end()
  }
}
