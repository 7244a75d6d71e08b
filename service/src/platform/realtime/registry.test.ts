import { expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { makeLog } from '../log.ts'
import { makeModel } from './registry.ts'

it('The model of whoever names none is one that its maker goes on with, and has a price', () => {
  const log = makeLog({ level: 'silent', secrets: [] })
  const model = makeModel('openai', { url: 'ws://127.0.0.1:2', apiKey: 'key', clock: new TestClock(), log })
  expect(model.modelFor?.(null)).toBe('gpt-realtime-2.1')
  expect(model.priceOf?.(null)).not.toBeNull()
})
