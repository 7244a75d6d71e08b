import { describe, expect, it } from 'vitest'
import { LiveEvents } from './live-events.ts'

function publish(events: LiveEvents, count: number): void {
  for (let i = 0; i < count; i++) events.publish('turn_delta', { text: String(i) })
}

function idsFrom(events: LiveEvents, afterId: number): number[] {
  const ids: number[] = []
  events.watch(afterId, ({ id }) => ids.push(id))()
  return ids
}

describe('LiveEvents', () => {
  it('tell a watcher what is kept, then what happens, until it stops to watch', () => {
    const events = new LiveEvents()
    events.publish('state', { state: 'waiting' })
    const seen: string[] = []
    const stop = events.watch(0, ({ id, event }) => seen.push(`${id} ${event}`))
    events.publish('latency', { response_ms: 400 })
    stop()
    events.publish('ended', {})
    expect(seen).toEqual(['1 state', '2 latency'])
  })

  it('remember what was said last, and how long it was waited for', () => {
    const events = new LiveEvents()
    expect([events.lastWords, events.lastResponseMs]).toEqual([null, null])
    events.publish('latency', { response_ms: 400 })
    events.publish('turn', { role: 'agent', text: 'a'.repeat(1_000) })
    events.publish('turn', { role: 'system', text: 'The line was lost.' })
    events.publish('turn', { role: 'caller', text: '' })
    expect([events.lastWords, events.lastResponseMs]).toEqual([{ role: 'agent', text: 'a'.repeat(200) }, 400])
    events.publish('turn', { role: 'caller', text: `${'a'.repeat(199)}🙂` })
    expect(events.lastWords?.text.isWellFormed()).toBe(true)
  })

  it('go on where a watcher was cut off', () => {
    const events = new LiveEvents()
    publish(events, 10)
    expect(idsFrom(events, 7)).toEqual([8, 9, 10])
    expect(idsFrom(events, 99)).toEqual([])
  })

  it('keep of a finished turn only the turn itself, in its newest form', () => {
    const events = new LiveEvents()
    const delta = (itemId: string) => events.publish('turn_delta', { item_id: itemId, text: 'Hel' })
    for (const itemId of ['a', 'b', 'a']) delta(itemId)
    events.publish('turn', { item_id: 'a', text: 'Hello' })
    events.publish('turn', { item_id: 'a', text: 'Hello there' })
    const kept: unknown[] = []
    events.watch(0, ({ id, event, data }) => kept.push([id, event, data['item_id'], data['text']]))()
    expect(kept).toEqual([
      [2, 'turn_delta', 'b', 'Hel'],
      [5, 'turn', 'a', 'Hello there'],
    ])
  })

  it('are kept 256 at a time', () => {
    const events = new LiveEvents()
    publish(events, 10_000)
    const ids = idsFrom(events, 0)
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([256, 9_745, 10_000])
  })

  it('are kept as far as they are not too long together, the last one in any case', () => {
    const events = new LiveEvents()
    const publishLong = (id: number, chars: number) =>
      events.publish('turn', { item_id: `${id}`, text: 'x'.repeat(chars) })
    for (let id = 1; id <= 100; id++) publishLong(id, 4_000)
    expect(idsFrom(events, 0)).toEqual(Array.from({ length: 11 }, (_, n) => 90 + n))
    publishLong(101, 1_000_000)
    expect(idsFrom(events, 0)).toEqual([101])
    publish(events, 2)
    expect(idsFrom(events, 0)).toEqual([102, 103])
  })
})
