import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { ScriptedModel } from '../../../test/harness/scripted-model.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { mediaStreamsCodec } from '../../platform/telephony/twilio/codec.ts'
import type { SessionId } from '../../records/call-values.ts'
import { agentConfigDefaults } from '../../tenancy/agent-config-defaults.ts'
import { NO_ACCOUNT } from '../../tenancy/no-account.fixture.ts'
import { toRuntime } from '../../tenancy/tenant-defaults.ts'
import type { TenantDocument } from '../../tenancy/tenant-document.ts'
import type { CallSession } from '../call-session.ts'
import { sessionBuilderWith } from '../session-builder.fixture.ts'
import type { StreamedCall } from '../streamed-call.ts'
import type { CallRecorder } from './recorder.ts'
import { RecordedCall, sound } from './recording.fixture.ts'

const [CALLER, AGENT] = [0x10, 0x20]

const CALL: StreamedCall = {
  ...{ tenant: toRuntime({ tenant_id: 'acme' as TenantId }, NO_ACCOUNT), callSid: 'CA1', streamSid: 'MZ1', epoch: 1 },
  ...{ direction: 'inbound', from: '+12025550123', to: '+12025550140', orgId: null, codec: mediaStreamsCodec },
  sessionId: '018f0000-0000-7000-8000-000000000001' as SessionId,
  agent: {
    ...{ agentId: null, agentKey: null, versionId: null, versionNumber: null, agentName: 'Robin' },
    config: agentConfigDefaults({}),
  },
  carrier: { send: () => {}, sendAll: () => {}, bufferedBytes: () => 0, close: () => {} },
}

/** A session with a model that is ready, whose carrier plays at once and echoes nothing. */
async function session(recorder: CallRecorder | null, clock: TestClock, compliance: TenantDocument['compliance'] = {}) {
  const model = new ScriptedModel()
  const builder = sessionBuilderWith({ clock, model, recorders: { of: () => recorder } })
  const ends: string[] = []
  const tenant = toRuntime({ tenant_id: 'acme' as TenantId, compliance }, NO_ACCOUNT)
  const built = builder.build({ ...CALL, tenant }, ({ reason }) => ends.push(reason))
  built.session.dispatch({ type: 'opened' })
  await clock.advance(0)
  return { ...built, model: model.last, ends }
}

/** So many frames of the caller, of 20 ms. */
async function speak(clock: TestClock, live: CallSession, frames: number): Promise<void> {
  for (let n = 0; n < frames; n++) {
    await clock.advance(20)
    live.fromCaller(sound(CALLER))
  }
}

describe('a session that is recorded', () => {
  it('has in its recording what it was given and what it sent, but for what was interrupted', async () => {
    const clock = new TestClock()
    const call = new RecordedCall(clock)
    const { session: live, model, ends } = await session(call.recorder, clock)
    model.tell({ type: 'response_started', responseId: 'r' })
    model.speak('r', 'i', sound(AGENT, 4_000).toString())
    await speak(clock, live, 100)
    // Spoken long enough to be meant.
    model.tell({ type: 'speech_started', itemId: 't', audioStartMs: 1_000 })
    await speak(clock, live, 50)
    model.tell({ type: 'speech_stopped', itemId: 't', audioEndMs: 3_000 })
    model.speak('r', 'i', sound(AGENT, 1_000).toString())
    await speak(clock, live, 50)
    live.dispatch({ type: 'hung_up' })
    await clock.advance(5_000)
    expect(ends).toEqual(['caller_hangup'])
    expect(call.left).toEqual([[CALLER, 0, 4_000]])
    const [[byte, from, until] = [0, 0, 0], ...more] = call.right
    expect([byte, from, more]).toEqual([AGENT, 0, []])
    expect(until).toBeGreaterThan(2_000)
    expect(until).toBeLessThan(3_010)
    expect(call.ended?.frames).toBe(32_000)
  })

  it('is paused and gone on with by a command, which it knows', async () => {
    const clock = new TestClock()
    const call = new RecordedCall(clock)
    const { session: fast, live } = await session(call.recorder, clock)
    expect(live.recording).toBe('on')
    await speak(clock, fast, 25)
    live.command({ type: 'pause_recording', isPaused: true })
    await speak(clock, fast, 25)
    live.command({ type: 'pause_recording', isPaused: true })
    expect(live.recording).toBe('paused')
    await speak(clock, fast, 25)
    live.command({ type: 'pause_recording', isPaused: false })
    await speak(clock, fast, 25)
    fast.dispatch({ type: 'hung_up' })
    await clock.advance(5_000)
    expect(call.left).toEqual([
      [CALLER, 0, 500],
      [CALLER, 1_500, 2_000],
    ])
  })

  it('begins with a beep where the tenant wants the caller told, of which the model hears nothing', async () => {
    const clock = new TestClock()
    const call = new RecordedCall(clock)
    const { session: live, model } = await session(call.recorder, clock, { record_calls: true, record_beep: true })
    await speak(clock, live, 5)
    expect(live.state.playback.sentMs).toBe(200)
    model.tell({ type: 'response_started', responseId: 'r' })
    model.speak('r', 'i', sound(AGENT, 400).toString())
    await speak(clock, live, 50)
    live.dispatch({ type: 'hung_up' })
    await clock.advance(5_000)
    const [first, last] = [call.right[0], call.right.at(-1)]
    expect(first?.[1]).toBeLessThan(2)
    expect(call.right.filter(([byte]) => byte !== AGENT).at(-1)?.[2]).toBeCloseTo(200, -1)
    expect(last).toEqual([AGENT, 200, 600])
    expect(JSON.stringify(model.commands)).not.toContain('recording-beep')
  })

  it('cuts the beep short like anything else that is said, and tells the model nothing of that', async () => {
    const clock = new TestClock()
    const call = new RecordedCall(clock)
    const compliance = { record_calls: true, record_beep: true }
    const { session: live, model } = await session(call.recorder, clock, compliance)
    live.dispatch({ type: 'end', reason: 'supervisor' })
    await clock.advance(5_000)
    expect(call.ended?.frames).toBeLessThan(1_600)
    expect(JSON.stringify(model.commands)).not.toContain('recording-beep')
  })

  it('knows when it is not recorded', async () => {
    const { live } = await session(null, new TestClock())
    live.command({ type: 'pause_recording', isPaused: true })
    expect(live.recording).toBe('off')
  })
})
