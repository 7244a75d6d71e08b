import { describe, expect, it } from 'vitest'
import type { Clip } from '../agents/clips.ts'
import type { TenantId } from '../kernel/ids.ts'
import { mediaStreamsCodec } from '../platform/telephony/twilio/codec.ts'
import type { SessionId } from '../records/call-values.ts'
import type { AgentVersionConfig } from '../tenancy/agent-config.ts'
import { agentConfigDefaults } from '../tenancy/agent-config-defaults.ts'
import { toRuntime } from '../tenancy/tenant-defaults.ts'
import { Speaker } from './session-speaker.ts'
import type { StreamedCall } from './streamed-call.ts'

const CAPABILITIES = { truncation: true, callerTranscripts: true, textOutput: true, nativeMulaw: true }
const DISCLOSURE = 'You are talking to a machine.'
const [FIRST_HOLD, OTHER_HOLD] = ['https://acme.example/first.wav', 'https://acme.example/other.wav']

function agent(config: AgentVersionConfig) {
  const none = { agentId: null, agentKey: null, versionId: null, versionNumber: null, agentName: 'Robin' }
  return { ...none, config: agentConfigDefaults(config) }
}

const clip = (kind: Clip['kind'], words: string, ms: number): Clip => ({ kind, words, text: words, ms, pieces: [] })

const FIRST = [
  clip('disclosure', DISCLOSURE, 1_000),
  clip('greeting', 'Hello.', 900),
  clip('apology', 'Sorry.', 800),
  clip('filler', 'One moment.', 700),
  clip('hold', FIRST_HOLD, 5_000),
]
const OTHER = [
  clip('disclosure', DISCLOSURE, 1_100),
  clip('greeting', 'Good day.', 1_200),
  clip('filler', 'Let me see.', 600),
  clip('hold', OTHER_HOLD, 3_000),
]

function speaker(): Speaker {
  const document = { tenant_id: 'acme' as TenantId, compliance: { ai_disclosure: DISCLOSURE } }
  const call: StreamedCall = {
    ...{ direction: 'inbound', from: '+12025550123', to: '+12025550140', orgId: null, epoch: 1 },
    ...{ callSid: 'CA1', streamSid: 'MZ1', codec: mediaStreamsCodec },
    tenant: toRuntime(document, { account_sid: null, auth_token: null, from_number: null }),
    sessionId: '018f0000-0000-7000-8000-000000000001' as SessionId,
    agent: agent({ greeting: 'Hello.', hold_audio: FIRST_HOLD }),
    clips: FIRST,
    carrier: { send: () => {}, sendAll: () => {}, bufferedBytes: () => 0, close: () => {} },
  }
  const facts = { capabilities: CAPABILITIES, isResumable: true, modelSessionMs: 3_000_000 }
  return new Speaker({ call, tools: [], facts, driver: {}, now: new Date('2030-01-01T12:00:00Z') })
}

const toldOf = ({ clips, plan, holdAudio }: Speaker) => ({
  clips: clips.map(({ words }) => words),
  planned: plan.clips.map(({ text }) => text),
  hold: [holdAudio?.words ?? null, plan.holdMs, plan.holdsForTools],
})

describe('who speaks in a call', () => {
  it('has its own clips, in their order, and its own music', () => {
    const words = [DISCLOSURE, 'Hello.', 'Sorry.', 'One moment.']
    expect(toldOf(speaker())).toEqual({ clips: words, planned: words, hold: [FIRST_HOLD, 5_000, true] })
  })

  it('has those of the agent to whom it is handed, behind the first words, which stay where they were', () => {
    const handed = speaker()
    handed.become(agent({ greeting: 'Good day.', hold_audio: OTHER_HOLD }), { own: [], clips: OTHER })
    const words = [DISCLOSURE, 'Hello.', 'Let me see.']
    expect(toldOf(handed)).toEqual({ clips: words, planned: words, hold: [OTHER_HOLD, 3_000, true] })
    expect(handed.setup.instructions).not.toContain('Begin the call with')
  })

  it('has none but the first words where those of that agent are not there', () => {
    const handed = speaker()
    handed.become(agent({ greeting: '' }), { own: [], clips: [] })
    const words = [DISCLOSURE, 'Hello.']
    expect(toldOf(handed)).toEqual({ clips: words, planned: words, hold: [null, 3_000, false] })
  })
})
