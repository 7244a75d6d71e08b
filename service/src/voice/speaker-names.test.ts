import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { openaiDriver } from '../platform/realtime/openai/driver.ts'
import { speakerNames } from './session-speaker.ts'

describe('who speaks in a session', () => {
  const defaults = { model: 'gpt-realtime', voice: 'marin', transcriptionModel: 'gpt-4o-mini-transcribe' }
  const driver = openaiDriver({ url: 'ws://127.0.0.1:2', apiKey: 'key', clock: new TestClock(), defaults })

  it('is known by name, also where nobody has asked for it', () => {
    expect(speakerNames(driver, { model: null, voice: null })).toEqual({ model: 'gpt-realtime', voice: 'marin' })
    expect(speakerNames(driver, { model: 'other', voice: 'cedar' })).toEqual({ model: 'other', voice: 'cedar' })
  })

  it('is who was asked for where the driver does not tell', () => {
    expect(speakerNames({}, { model: null, voice: 'cedar' })).toEqual({ model: null, voice: 'cedar' })
  })
})
