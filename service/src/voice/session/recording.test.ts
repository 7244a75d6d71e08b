import { describe, expect, it } from 'vitest'
import { BEEP_ID } from '../recording/beep.ts'
import { Call, INTERRUPTION } from './call.fixture.ts'

describe('a recording', () => {
  it('is told with a beep before anything else is heard, where that is wanted', () => {
    expect(new Call({ recordBeep: true }).all('beep')).toHaveLength(1)
    expect(new Call().all('beep')).toEqual([])
  })

  it('is paused and gone on with, once each', () => {
    const call = Call.greeted()
    for (const isPaused of [false, true, true, false]) call.do({ type: 'pause_recording', isPaused })
    expect(call.all('pause_recording')).toEqual([
      { type: 'pause_recording', isPaused: true },
      { type: 'pause_recording', isPaused: false },
    ])
    expect(call.state.isRecordingPaused).toBe(false)
  })

  it('has a beep that no model is told of, also when the caller speaks over it', () => {
    const call = new Call({ recordBeep: true, interruption: { ...INTERRUPTION, minSpeechMs: 0, greetingGuardMs: 0 } })
    call.model({ type: 'ready' })
    call.do({ type: 'sent', responseId: BEEP_ID, itemId: BEEP_ID, ms: 200, mark: 'm1' })
    call.wait(20)
    call.model({ type: 'speech_started', itemId: 't', audioStartMs: 0 })
    call.wait(500)
    const told = call.effects.filter((effect) => effect.type === 'command')
    expect(JSON.stringify(told)).not.toContain(BEEP_ID)
  })
})
