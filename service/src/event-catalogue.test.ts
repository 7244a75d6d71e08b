import { describe, expect, it } from 'vitest'
import { EVENT_CATALOGUE, exampleOf } from './event-catalogue.ts'
import { eventFaults } from './event-checks.fixture.ts'
import { EVENT_NAMES } from './tenancy/tenant-events.ts'

describe('the catalogue of events', () => {
  it.each(EVENT_CATALOGUE)('has an example of $event as it is sent', (entry) => {
    expect(eventFaults(exampleOf(entry))).toEqual([])
  })

  it('names each event once, and none to webhooks that they could not ask for', () => {
    const names = EVENT_CATALOGUE.map(({ event }) => event as string)
    expect(new Set(names).size).toBe(names.length)
    const askable: readonly string[] = [...EVENT_NAMES, 'billing.outcome']
    expect(names.filter((name) => !askable.includes(name))).toEqual([])
  })

  it('finds what an event has too much or too little', () => {
    const [first] = EVENT_CATALOGUE
    if (!first) throw new Error('there are events')
    const example = exampleOf(first)
    expect(eventFaults({ ...example, more: 1 })).toHaveLength(1)
    expect(eventFaults({ ...example, payload: {} })).toHaveLength(1)
    expect(eventFaults({ ...example, event: 'unheard.of' })).toHaveLength(1)
  })
})
