import type { Wire } from './port.ts'

/** A wire inside this process, for a node that is alone. Order is kept; nothing is delivered before `send` has returned. */
export function memoryWire(): Wire {
  const channels = new Map<string, Set<(text: string) => void>>()
  return {
    reachesOthers: false,
    async send(channel, text) {
      const listeners = [...(channels.get(channel) ?? [])]
      queueMicrotask(() => {
        for (const listener of listeners) listener(text)
      })
      return listeners.length
    },
    listen(channel, listener) {
      const listeners = channels.get(channel) ?? new Set()
      channels.set(channel, listeners.add(listener))
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) channels.delete(channel)
      }
    },
  }
}
